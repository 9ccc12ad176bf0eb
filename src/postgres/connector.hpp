// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Connects to the first server that accepts writes.
#pragma once

#include "connection.hpp"
#include "connection_string.hpp"
#include "doctor.hpp"

#include "../sql/session.hpp"

#include <functional>
#include <memory>
#include <string>

namespace pawl::postgres {

// Used on the strand.
class connector final : public sql::connector {
public:
    connector(options settings, backend_context context);

    boost::asio::awaitable<std::shared_ptr<sql::session>> connect(sql::session_handlers handlers,
                                                                  time_point give_up_at) override;
    // The first statements of a connection. Throws for a server that is not the right one.
    using preparation = std::function<boost::asio::awaitable<void>(std::shared_ptr<connection> made,
                                                                   time_point give_up_at)>;
    // The first server that can be prepared.
    boost::asio::awaitable<std::shared_ptr<connection>> connect_with(preparation prepare,
                                                                     time_point give_up_at);
    [[nodiscard]] std::string describe() const override;
    [[nodiscard]] std::string activity() const override { return activity_; }
    boost::asio::awaitable<examination> examine(sql::session& connected,
                                                time_point give_up_at) override;
    boost::asio::awaitable<void> check_durability(sql::session& connected, durability wanted,
                                                  time_point give_up_at) override;
    [[nodiscard]] spi::capabilities capabilities() const noexcept override;

private:
    // One server; the address is empty for a Unix socket.
    boost::asio::awaitable<std::shared_ptr<connection>> connect_to(const host_entry& host,
                                                                   const std::string& address,
                                                                   const preparation& prepare,
                                                                   time_point give_up_at);
    boost::asio::awaitable<void> greet(std::shared_ptr<connection> made,
                                       sql::session_handlers handlers, time_point give_up_at);
    boost::asio::awaitable<std::unique_ptr<libpq_connection>> open(const host_entry& host,
                                                                   const std::string& address,
                                                                   const error_place& place,
                                                                   time_point give_up_at);
    [[nodiscard]] parameters parameters_for(const host_entry& host,
                                            const std::string& address) const;
    // A share of the time for the first of the remaining attempts.
    [[nodiscard]] time_point limit_of_attempt(std::size_t remaining, time_point give_up_at) const;

    const options options_;
    const connection_string connection_;
    const backend_context context_;
    std::string activity_;
};

// For `doctor`.
[[nodiscard]] boost::asio::awaitable<server_state> ask_for_state(connection& session,
                                                                 std::string schema, runtime& time,
                                                                 time_point give_up_at);
// "db.example:5432"
[[nodiscard]] std::string node_name(const error_place& place);

}  // namespace pawl::postgres
