// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The errors of etcd, as users read them.
#pragma once

#include "http2_session.hpp"

#include <pawl/error.hpp>

#include <string>

namespace pawl::etcd {

// A call that failed, with the status that the server gave.
class call_error : public error {
public:
    call_error(const error& sentence, int code) : error(sentence), code_(code) {}
    // As in call_status.
    [[nodiscard]] int code() const noexcept { return code_; }

private:
    int code_;
};

// True: the token is not known or outdated. Another login helps.
[[nodiscard]] bool needs_login(const call_status& status);
// True: the member cannot serve anybody now, and another one may.
[[nodiscard]] bool is_member_failure(const call_status& status);
// True: the call may have been carried out.
[[nodiscard]] bool may_have_effect(const error& failure) noexcept;

// `subject`: "etcd at HOST:PORT". `has_login`: the client has sent a user.
[[nodiscard]] call_error to_error(const call_status& status, const std::string& subject,
                                  bool has_login);

}  // namespace pawl::etcd
