// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The first requests on every new connection, and the evaluation of their replies.
#pragma once

#include "connection_settings.hpp"
#include "link.hpp"

#include <boost/system/error_code.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

struct commands {
    std::string text;
    unsigned replies = 0;
};
// The commands of the handshake, for `parse_handshake`. For a Sentinel only HELLO and INFO.
[[nodiscard]] commands handshake_commands(const connection_settings& settings, const login& used);
// Only HELLO and INFO: the reply to INFO has the run_id, which identifies a server.
[[nodiscard]] commands identity_commands(const login& used);
// True: the reply to HELLO says that user or password is wrong.
[[nodiscard]] bool refuses_login(const reply& hello) noexcept;
// The commands after a successful handshake: subscribe to the client's own channel (empty: none)
// and to `channels`.
[[nodiscard]] commands subscribe_commands(const std::string& own_channel,
                                          std::span<const std::string> channels, bool sharded);

// Throws pawl::error, with one sentence, when the server refuses. `subject` names the server.
[[nodiscard]] session parse_handshake(const std::string& subject, const std::vector<reply>& replies,
                                      const connection_settings& settings);

// The text of a field in a map, such as the reply to HELLO; empty if the field is missing. A part
// of the reply.
[[nodiscard]] std::string_view field_of(const reply& map, std::string_view name);
// The value of a field in the reply to INFO; empty if the field is missing.
[[nodiscard]] std::string info_field(std::string_view info, std::string_view name);

// A message for users.
[[nodiscard]] std::string describe_connect_error(const boost::system::error_code& reason);
// True: the connection ended because of a reply that no Redis sends to Pawl's requests.
[[nodiscard]] bool speaks_another_protocol(const boost::system::error_code& reason) noexcept;

}  // namespace pawl::redis
