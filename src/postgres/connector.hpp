// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Connects to the first server that accepts writes.
#pragma once

#include "connection.hpp"
#include "connection_string.hpp"

#include "../sql/session.hpp"

#include <memory>
#include <string>

namespace pawl::postgres {

// Used on the strand.
class connector final : public sql::connector {
public:
    connector(options settings, backend_context context);

    boost::asio::awaitable<std::shared_ptr<sql::session>> connect(sql::session_handlers handlers,
                                                                  time_point give_up_at) override;
    [[nodiscard]] std::string describe() const override;
    boost::asio::awaitable<examination> examine(sql::session& connected,
                                                time_point give_up_at) override;
    boost::asio::awaitable<void> check_durability(sql::session& connected, durability wanted,
                                                  time_point give_up_at) override;
    [[nodiscard]] spi::capabilities capabilities() const noexcept override;

private:
    // One server; the address is empty for a Unix socket.
    boost::asio::awaitable<std::shared_ptr<sql::session>> connect_to(
        const host_entry& host, const std::string& address, const sql::session_handlers& handlers,
        time_point give_up_at);
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
};

}  // namespace pawl::postgres
