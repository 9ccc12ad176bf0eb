// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Checks whether all addresses of a host's name lead to one server. Two unrelated servers would
// both grant the same lock.
#pragma once

#include "connection_settings.hpp"
#include "core/util/spi.hpp"

#include "../../net/address.hpp"

#include <pawl/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

namespace pawl::redis {

// The host's name leads to more than one server, or may do so; the message names the addresses.
class several_servers_error : public error {
public:
    explicit several_servers_error(const std::string& message)
        : error(errc::unreachable, message) {}
};

struct probed_server {
    net::address server_address;
    bool was_reached = false;  // the server accepted the connection
    std::string run_id;        // empty: unknown, and `trouble` says why
    std::string trouble;
};

// Asks all addresses at the same time, over one connection each, at most until `give_up_at`.
// `used`: the user that asks. `tls_name` as in `endpoint`.
[[nodiscard]] boost::asio::awaitable<std::vector<probed_server>> probe_servers(
    const connection_settings& settings, login used, std::string tls_name,
    boost::asio::any_io_executor strand, runtime& time, const net::addresses& candidates,
    time_point give_up_at);

// Throws several_servers_error, unless all reached servers have this run_id. `subject` names the
// URL, and `server_address` is that of the server with this run_id.
void throw_if_several_servers(const std::string& subject, const net::address& server_address,
                              const std::string& run_id, const std::vector<probed_server>& others);
// Throws several_servers_error: `server_address` is another server, and the name still leads to
// `known_address`, too.
void throw_other_server(const std::string& subject, const net::address& known_address,
                        const net::address& server_address);

}  // namespace pawl::redis
