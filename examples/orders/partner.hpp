// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The systems outside of the shop, as its code sees them. Blocking; not thread-safe.
#pragma once

#include <pawl/guard/fencing_header.hpp>
#include <pawl/guard/once_options.hpp>

#include <string>
#include <utility>
#include <vector>

namespace shop {

namespace guard = pawl::guard;

struct answer {
    unsigned status = 0;  // 504: no answer came, so the effect may exist or come later
    std::string body{};
};

using header_list = std::vector<std::pair<std::string, std::string>>;

// A system that is told something: a bank, or a customer database.
class partner {
public:
    virtual ~partner() = default;
    virtual answer post(const std::string& path, const std::string& body,
                        const header_list& headers) = 0;
};

// A system that is asked for the state of a payment: paid, refunded, pending.
class source {
public:
    virtual ~source() = default;
    virtual std::string state(const std::string& order) = 0;
};

// By the key the outside recognises a repetition, and by the token an attempt that was replaced.
inline header_list headers_of(const guard::attempt& attempt) {
    header_list headers{{"Idempotency-Key", attempt.key()}};
    if (attempt.token())
        headers.emplace_back(guard::fencing_token_field,
                             guard::format_fencing_token(attempt.token()));
    return headers;
}

}  // namespace shop
