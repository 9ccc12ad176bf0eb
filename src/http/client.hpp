// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A client of one HTTP service with one or several servers. It keeps a few connections open, and
// uses the first server that answers.
#pragma once

#include "connection.hpp"
#include "message.hpp"

#include "../core/util/fork_mark.hpp"
#include "../core/util/wakeup.hpp"

#include <list>
#include <memory>
#include <string>
#include <vector>

namespace pawl::http {

// No response came: the server may have carried out the request, or may do so later. The other
// errors of `send` say that it has not.
class no_response : public error {
public:
    explicit no_response(const std::string& sentence) : error(errc::unreachable, sentence) {}
};

struct client_settings {
    std::string product{};                 // the name of the service, for messages
    std::vector<net::endpoint> servers{};  // in the order of preference
    connection_settings connections{};
    duration connect_timeout = std::chrono::seconds(5);
    std::size_t most_connections = 4;        // further requests wait for one of them
    std::size_t most_long_connections = 32;  // of requests with `is_long`, beside those
};

// Used on one strand, by shared_ptr. `send` may be cancelled; the server may still carry out a
// request that was cancelled.
class client : public std::enable_shared_from_this<client> {
public:
    client(client_settings settings, const backend_context& context);

    // Sends the request to the present server. Throws `no_response`; errc::unreachable if no server
    // accepts a connection, with errc::refused or errc::protocol for reasons that last; and
    // errc::cancelled after `close`. A request without a method that changes data is repeated once
    // if the server had closed an idle connection.
    boost::asio::awaitable<response> send(request sent, time_point give_up_at);
    // False: a request with `is_long` would have to wait for another one.
    [[nodiscard]] bool has_long_connection() const noexcept {
        return long_in_use_ < settings_.most_long_connections;
    }
    // The present server cannot serve. If it is still that one, the next request goes to the next
    // server.
    void leave_server(const std::string& server_name);
    // Ends all requests.
    void close();

    // The present server, as messages name it: the product, "at", host and port.
    [[nodiscard]] std::string subject() const;
    [[nodiscard]] const std::string& server_name() const noexcept { return names_[present_]; }
    [[nodiscard]] const std::vector<std::string>& server_names() const noexcept { return names_; }
    [[nodiscard]] bool has_tls() const noexcept { return settings_.connections.tls.enabled; }
    // How many connections were made. Whoever reads a secret for each new connection compares it.
    [[nodiscard]] std::uint64_t connections_made() const noexcept { return connections_made_; }
    // Why the service cannot be reached; empty after a response.
    [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

private:
    struct slot;

    boost::asio::awaitable<void> wait_for_slot(time_point give_up_at);
    [[nodiscard]] std::shared_ptr<connection> take_idle() noexcept;
    boost::asio::awaitable<std::shared_ptr<connection>> connect(time_point give_up_at);
    boost::asio::awaitable<std::shared_ptr<connection>> connect_to(std::size_t server,
                                                                   time_point give_up_at);
    void keep(std::shared_ptr<connection> used, std::size_t server);
    void move_on(std::size_t failed_server);
    [[nodiscard]] std::string subject_of(std::size_t server) const;
    [[nodiscard]] error connect_error(const connection& failed, boost::system::error_code reason,
                                      std::size_t server, duration limit) const;
    [[nodiscard]] error exchange_error(const connection& failed, boost::system::error_code reason,
                                       std::size_t server, duration limit) const;
    void throw_if_closed() const;

    const client_settings settings_;
    const backend_context context_;
    std::vector<std::string> names_;                 // of the servers
    std::size_t present_ = 0;                        // the server of new requests
    time_point prefers_first_at_{};                  // if the present server is not the first one
    std::vector<std::shared_ptr<connection>> idle_;  // of the present server
    std::list<std::weak_ptr<connection>> busy_;
    std::list<core::wakeup*> waiters_;  // for a connection
    std::size_t in_use_ = 0, long_in_use_ = 0;
    std::uint64_t connections_made_ = 0;
    std::string failure_;
    bool had_response_ = false;
    bool is_closed_ = false;
};

}  // namespace pawl::http
