// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Connects to the first server that accepts writes.
#pragma once

#include "connection.hpp"
#include "server_variables.hpp"

#include <pawl/mysql.hpp>

#include <functional>
#include <memory>
#include <string>

namespace pawl::mysql {

// Used on the strand.
class connector final : public sql::connector {
public:
    connector(options settings, const backend_context& context);

    boost::asio::awaitable<std::shared_ptr<sql::session>> connect(sql::session_handlers handlers,
                                                                  time_point give_up_at) override;
    using link_ptr = std::shared_ptr<libmariadb_connection>;
    // A new connection, and how to make another one to the same server.
    struct opened_link {
        link_ptr link;
        error_place place;
        server_login login;
    };
    // Makes a session of a new connection. Throws for a server that is not the right one.
    using session_maker =
        std::function<boost::asio::awaitable<std::shared_ptr<connection>>(opened_link opened)>;
    // The first server of which a session can be made.
    boost::asio::awaitable<std::shared_ptr<connection>> connect_with(session_maker make,
                                                                     time_point give_up_at);
    [[nodiscard]] std::string describe() const override;
    [[nodiscard]] std::string activity() const override { return activity_; }
    boost::asio::awaitable<examination> examine(sql::session& connected,
                                                time_point give_up_at) override;
    boost::asio::awaitable<void> check_durability(sql::session& connected, durability wanted,
                                                  time_point give_up_at) override;
    [[nodiscard]] spi::capabilities capabilities() const noexcept override;

private:
    boost::asio::awaitable<std::shared_ptr<connection>> connect_to(server target,
                                                                   std::string address,
                                                                   const session_maker& make,
                                                                   time_point give_up_at);
    boost::asio::awaitable<std::shared_ptr<connection>> greet(opened_link opened,
                                                              sql::session_handlers handlers);
    // The connection is ready for statements. Throws.
    static boost::asio::awaitable<link_ptr> open(server_login login, error_place place,
                                                 boost::asio::any_io_executor strand, runtime& time,
                                                 time_point give_up_at);
    boost::asio::awaitable<sql::session_facts> say_hello(link_ptr link, error_place place);
    // In place of hello, for ShedLock's table.
    // Throws errc::unavailable for a node of a cluster that has lost the others.
    static boost::asio::awaitable<void> check_membership(link_ptr link,
                                                         const server_variables& variables,
                                                         error_place place);
    boost::asio::awaitable<sql::session_facts> check_table(link_ptr link, error_place place);
    boost::asio::awaitable<void> make_schema(link_ptr link, error_place place);
    // What an attempt that was cut short has left to do. Throws errc::refused if the database has
    // other tables with the names of Pawl's.
    boost::asio::awaitable<std::vector<std::string>> missing_statements(link_ptr link,
                                                                        error_place place);
    [[nodiscard]] server_login login_for(const server& target, const std::string& address) const;
    [[nodiscard]] time_point limit_of_attempt(std::size_t remaining, time_point give_up_at) const;

    const options options_;
    const backend_context context_;
    std::int64_t last_start_ = 0;  // of the server, in s since 1970
    std::string activity_;
};

// The rows of an answer. Throws what the server says instead.
std::vector<sql::row> rows_in(const libmariadb_connection::result& answer,
                              const error_place& place);

// The server of the place, such as "db1:3306".
[[nodiscard]] std::string node_name(const error_place& place);

// Throws errc::bad_option.
void check_options(const options& settings);
[[nodiscard]] std::string describe(const options& settings);

}  // namespace pawl::mysql
