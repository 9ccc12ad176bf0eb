// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The connection of a client to its cluster: to one member at a time, and to the next one when that
// member fails. It repeats no call, except after a login.
#pragma once

#include "connection.hpp"
#include "server_errors.hpp"
#include "unary_call.hpp"

#include "../../core/util/back_off.hpp"
#include "../../core/util/fork_mark.hpp"
#include "../../core/util/spi.hpp"
#include "../../core/util/wakeup_list.hpp"
#include "../../net/credential_source.hpp"

#include <pawl/etcd.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::etcd {

// Used on one strand. Its coroutines keep it. Call `close` before the event loop ends.
class server_link : public std::enable_shared_from_this<server_link> {
public:
    server_link(const options& settings, const backend_context& context);

    // The answer to this call. Throws call_error with what the server says, or errc::unreachable
    // without an answer until `give_up_at`, or until the reply_timeout if that is earlier.
    boost::asio::awaitable<std::string> call(std::string_view method, std::string request,
                                             time_point give_up_at);
    // For streams. Throws errc::unreachable, and what is wrong with the members.
    boost::asio::awaitable<std::shared_ptr<connection>> get(time_point give_up_at);
    // What the calls of a stream begin with. Logs in if that is necessary.
    boost::asio::awaitable<std::vector<std::pair<std::string, std::string>>> fields(
        std::shared_ptr<connection> used, time_point give_up_at);
    // The call of a stream has ended so.
    void on_failure(const std::shared_ptr<connection>& used, const call_status& status);
    // Ends all calls. No connection is made any more.
    void close(const std::string& reason);

    // "etcd at HOST:PORT": of the present member, or of all.
    [[nodiscard]] std::string subject() const;
    // Why there is no connection; empty while there is one, or before the first attempt.
    [[nodiscard]] std::string unreachable_reason() const;
    [[nodiscard]] bool has_login() const noexcept { return has_login_; }
    [[nodiscard]] bool has_tls() const noexcept { return settings_.tls.enabled; }
    [[nodiscard]] const std::vector<net::endpoint>& servers() const noexcept { return servers_; }
    // The answer of one call to a member of its own, for `doctor`.
    boost::asio::awaitable<std::string> call_member(net::endpoint server, std::string_view method,
                                                    std::string request, time_point give_up_at);

private:
    static boost::asio::awaitable<void> connect(std::shared_ptr<server_link> self);
    boost::asio::awaitable<std::shared_ptr<connection>> connect_to(net::endpoint server,
                                                                   time_point give_up_at);
    boost::asio::awaitable<std::shared_ptr<connection>> connect_to_address(
        net::endpoint server, net::address server_address, time_point give_up_at);
    struct opening;
    static boost::asio::awaitable<void> open(std::shared_ptr<server_link> self,
                                             std::shared_ptr<opening> attempt,
                                             net::address server_address);
    static boost::asio::awaitable<void> read(std::shared_ptr<server_link> self,
                                             std::shared_ptr<connection> used);
    boost::asio::awaitable<void> check_member(std::shared_ptr<connection> used,
                                              time_point give_up_at);
    boost::asio::awaitable<void> log_in(std::shared_ptr<connection> used, time_point give_up_at);
    boost::asio::awaitable<void> authenticate(std::shared_ptr<connection> used,
                                              time_point give_up_at);
    void on_result(const std::shared_ptr<connection>& used, const call_result& result,
                   duration waited);
    void leave(const std::shared_ptr<connection>& used, const std::string& reason);
    [[nodiscard]] time_point now() const noexcept { return context_.time->now(); }
    [[nodiscard]] static std::string subject_of(const net::endpoint& server);

    const backend_context context_;
    const core::fork_mark made_in_;  // a fork sends nothing
    connection_settings settings_;
    std::vector<net::endpoint> servers_;
    const duration connect_timeout_, reply_timeout_;
    net::credential_source credentials_;
    const bool has_login_;
    std::shared_ptr<connection> present_;
    std::size_t next_server_ = 0;
    int silent_calls_ = 0;  // without an answer, one after the other
    std::optional<error> failure_;
    time_point retry_at_{};
    core::back_off pauses_;
    core::wakeup_list changed_;
    std::string token_;
    bool is_connecting_ = false;
    bool is_logging_in_ = false;
    bool is_without_logins_ = false;  // the server does not ask for users
    bool is_closed_ = false;
};

}  // namespace pawl::etcd
