// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The scripts over a record of `once`, and what their replies say. Each is a step of its own: what
// it may change, it decides itself.
#pragma once

#include <guard/once_statements.hpp>
#include "script_call.hpp"

#include <pawl/guard/redis_once.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace pawl::guard::redis {

// A number in a reply: the scripts return them as text. `key` begins the error for another text.
[[nodiscard]] std::int64_t item_number(const redis_reply& item, std::string_view key);

// The keys of an operation.
struct once_keys {
    once_keys(std::string_view scope, std::string_view operation);

    std::string record, pending, member;
};

class once_calls {
public:
    once_calls(const once_key& operation, const once_options& options);

    [[nodiscard]] script_call look(const std::string& claim_id) const;
    [[nodiscard]] script_call claim(const std::string& claim_id) const;
    [[nodiscard]] script_call exhaust(std::int64_t token) const;
    // As the effect's script; `code` must outlive the call.
    [[nodiscard]] script_call effect(const script& code, std::int64_t token,
                                     const effect_call& called) const;

    [[nodiscard]] std::optional<record_view> read_record(const redis_reply& reply) const;
    [[nodiscard]] std::optional<claim_grant> read_grant(const redis_reply& reply) const;

    [[nodiscard]] const std::string& subject() const noexcept { return keys_.record; }

private:
    const once_keys keys_;
    const once_options options_;
    std::string fingerprint_;
};

// Of a claim whose token is known. The result is nothing if it is not kept.
[[nodiscard]] script_call finish_call(const once_keys& keys, std::int64_t token, record_state state,
                                      const std::optional<std::string>& result, duration keep);
[[nodiscard]] script_call give_up_call(const once_keys& keys, std::int64_t token, duration pause);
// Refuses the layers that Redis does not have.
void check_layers(const once_options& options);

// For both calls above: false if another caller has the operation.
[[nodiscard]] bool is_changed(const redis_reply& reply, std::string_view key);

}  // namespace pawl::guard::redis
