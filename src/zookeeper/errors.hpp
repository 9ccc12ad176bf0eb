// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The errors of servers and connections, in sentences.
#pragma once

#include "settings.hpp"

#include <pawl/error.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace pawl::zookeeper {

// Of several servers, the failure that explains best why none accepted the client: one that lasts.
class worst_failure {
public:
    void add(const error& failure) {
        if (!worst_ || (worst_->is_transient() && !failure.is_transient())) worst_ = failure;
    }
    [[nodiscard]] const std::optional<error>& worst() const noexcept { return worst_; }

private:
    std::optional<error> worst_;
};

// Why a connection was not made, or has ended. `is_late`: it was closed at a time limit.
[[nodiscard]] error connection_error(const connection& ended,
                                     const boost::system::error_code& reason, bool is_late,
                                     const std::string& subject);
// The server refused the login itself, not a right at a node.
[[nodiscard]] error login_error(const std::string& subject);
// Throws unless the server gave the session the timeout that was requested.
void check_timeout(duration requested, duration given, const client_settings& settings,
                   const std::string& subject);

// For a reply with an error that no caller expects. `path` is the node.
[[nodiscard]] error reply_error(reply_code code, const client_settings& settings,
                                std::string_view path);
// Throws it unless the reply is `ok`.
void throw_if_failed(const reply& answer, const client_settings& settings, std::string_view path);

// The parent's sequence numbers come to their end.
[[nodiscard]] error numbers_error(const std::string& path);
// The name of a lock that cannot be a node.
[[nodiscard]] error root_error(const client_settings& settings);

}  // namespace pawl::zookeeper
