// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One attempt of a link to connect, and how its end is explained to users.
#pragma once

#include "connection.hpp"
#include "connection_settings.hpp"
#include "locator.hpp"

#include "../../core/util/wakeup.hpp"
#include "../../net/address.hpp"

#include <boost/system/error_code.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <string>

namespace pawl::redis {

// Why a connection attempt or a connection ended. `failure` is null if `text` says it all.
struct connection_end {
    std::exception_ptr failure;
    std::string text;
    bool has_advice = false;  // the text ends with an advice
    bool was_silent = false;  // the server accepted the connection and did not answer
};

// An attempt, and the connection that it makes. Used on one strand.
struct connection_attempt {
    time_point ends_at{};
    net::addresses addresses;  // of the host's name; may be empty
    // Null before the first address is tried.
    std::shared_ptr<redis::connection> connection;
    std::shared_ptr<core::wakeup> handshake_ended;
    time_point ready_since{};
    std::optional<duration> timed_out_after;  // the limit at which Pawl closed the connection
    bool must_locate_again = false;           // the locator knows another server
    connection_end end;                       // if Pawl itself ended the attempt or connection

    // True: `other` is the connection of this attempt, and is open.
    [[nodiscard]] bool uses(const std::shared_ptr<redis::connection>& other) const noexcept {
        return connection == other && !other->is_closed();
    }
    [[nodiscard]] bool is_open() const noexcept { return connection && !connection->is_closed(); }
    [[nodiscard]] bool was_silent() const noexcept {
        return connection && connection->was_silent();
    }
    // True: no request waits for a reply.
    [[nodiscard]] bool is_idle() const {
        return !connection || connection->waiting_requests().empty();
    }
    void close() noexcept {
        if (connection) connection->close();
    }
    void notify_handshake() {
        if (handshake_ended) handshake_ended->notify();
    }
};

// The server of a link's present attempt or connection, as messages name it.
struct link_target {
    std::string subject;     // the service
    bool is_sought = false;  // a locator looks for the server
    redis::location location{};

    [[nodiscard]] std::string server_name() const { return text_of(location.server); }
    // Whether a locator has found the server, so that the subject does not name it.
    [[nodiscard]] bool is_located() const { return is_sought && !subject.ends_with(server_name()); }
    // The subject of messages about the server.
    [[nodiscard]] std::string server_subject() const {
        return is_located() ? subject + ": the master " + server_name() : subject;
    }
};

// For a text that the subject precedes.
[[nodiscard]] std::string without_subject(std::string text, const std::string& subject);
// Follows a message about a TLS handshake.
[[nodiscard]] std::string tls_hint(const connection_settings& settings);

// Explains to users why a connection ended, and the usual cause. Sets `failure` of the attempt's
// own end if the error will be the same in each further attempt. `was_ready`: the handshake had
// succeeded. `is_first`: that of no connection had.
[[nodiscard]] connection_end explain_end(connection_attempt& attempt,
                                         const boost::system::error_code& reason, bool was_ready,
                                         bool is_first, const link_target& target,
                                         const connection_settings& settings);

}  // namespace pawl::redis
