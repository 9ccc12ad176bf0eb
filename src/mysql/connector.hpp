// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Connects to the first server that accepts writes.
#pragma once

#include "connection.hpp"

#include <pawl/mysql.hpp>

#include <memory>
#include <string>

namespace pawl::mysql {

// Used on the strand.
class connector final : public sql::connector {
public:
    connector(options settings, const backend_context& context);

    boost::asio::awaitable<std::shared_ptr<sql::session>> connect(sql::session_handlers handlers,
                                                                  time_point give_up_at) override;
    [[nodiscard]] std::string describe() const override;
    boost::asio::awaitable<examination> examine(sql::session& connected,
                                                time_point give_up_at) override;
    boost::asio::awaitable<void> check_durability(sql::session& connected, durability wanted,
                                                  time_point give_up_at) override;
    [[nodiscard]] spi::capabilities capabilities() const noexcept override;

private:
    using link_ptr = std::shared_ptr<libmariadb_connection>;

    boost::asio::awaitable<std::shared_ptr<sql::session>> connect_to(server target,
                                                                     std::string address,
                                                                     sql::session_handlers handlers,
                                                                     time_point give_up_at);
    // The connection is ready for statements. Throws.
    static boost::asio::awaitable<link_ptr> open(server_login login, error_place place,
                                                 boost::asio::any_io_executor strand, runtime& time,
                                                 time_point give_up_at);
    boost::asio::awaitable<sql::session_facts> say_hello(link_ptr link, error_place place);
    boost::asio::awaitable<void> make_schema(link_ptr link, error_place place);
    [[nodiscard]] server_login login_for(const server& target, const std::string& address) const;
    [[nodiscard]] time_point limit_of_attempt(std::size_t remaining, time_point give_up_at) const;

    const options options_;
    const backend_context context_;
    std::int64_t last_start_ = 0;  // of the server, in s since 1970
};

// Throws errc::bad_option.
void check_options(const options& settings);
[[nodiscard]] std::string describe(const options& settings);

}  // namespace pawl::mysql
