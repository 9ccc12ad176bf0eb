// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A connection of libmariadb, which speaks to MariaDB and MySQL, with its non-blocking functions.
#pragma once

#include "server_errors.hpp"

#include "../core/util/close_on_fork.hpp"
#include "../core/util/fork_mark.hpp"
#include "../core/util/wakeup.hpp"
#include "../sql/session.hpp"

#include <pawl/tls.hpp>

#include <boost/asio/posix/stream_descriptor.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace pawl::mysql {

// How to connect. The values outlive the attempt.
struct server_login {
    std::string host;     // for the certificate
    std::string address;  // numeric
    std::uint16_t port = 3306;
    std::string user, password;
    tls_options tls;
};

// Used on one strand, by one coroutine at a time; `wake` and `close` may interrupt it. libmariadb
// owns the socket; Asio only waits for it. In a fork of the process the socket has no peer.
class libmariadb_connection : public std::enable_shared_from_this<libmariadb_connection> {
public:
    // The rows of the first result, or the error. A statement without rows answers with one row,
    // the value of LAST_INSERT_ID(…) in it, and with none if that was not evaluated.
    using result = std::variant<std::vector<sql::row>, server_error>;

    libmariadb_connection(boost::asio::any_io_executor strand, runtime& time);
    ~libmariadb_connection() { close(); }
    libmariadb_connection(const libmariadb_connection&) = delete;
    libmariadb_connection& operator=(const libmariadb_connection&) = delete;

    // The number of the error is 0 after success, and CR_SERVER_LOST at `give_up_at`.
    boost::asio::awaitable<server_error> connect(server_login login, time_point give_up_at);
    // Runs one statement. Fails with CR_SERVER_LOST if no byte comes for `silence`; the connection
    // is then closed.
    boost::asio::awaitable<result> query(std::string text, duration silence);
    // Without a statement: ends when the socket is readable, after `wake`, or at `until`. True: the
    // socket is readable.
    boost::asio::awaitable<bool> wait_idle(time_point until);
    // Proves that the connection is alive, and reads what the server said unasked.
    boost::asio::awaitable<server_error> ping(duration silence);
    void wake() { changed_.notify(); }
    // How long the server's system may confirm nothing until the connection ends.
    void set_user_timeout(duration limit) noexcept;
    void close() noexcept;

    [[nodiscard]] bool is_closed() const noexcept { return connection_ == nullptr; }
    [[nodiscard]] MYSQL* get() const noexcept { return connection_; }

private:
    template <class Start, class Continue>
    boost::asio::awaitable<bool> drive(Start start, Continue next, time_point give_up_at,
                                       duration silence);
    boost::asio::awaitable<int> wait(int wanted, time_point until);
    void arm(int event);
    bool watch();
    void unwatch() noexcept;
    void apply_options(const server_login& login);
    [[nodiscard]] server_error failure() const;

    const boost::asio::any_io_executor strand_;
    runtime& time_;
    const core::fork_mark fork_mark_;
    MYSQL* connection_ = nullptr;
    boost::asio::posix::stream_descriptor descriptor_;
    core::close_on_fork forked_copy_;
    bool is_forked_copy_added_ = false;
    core::wakeup changed_;
    unsigned round_ = 0;  // of the waits; the handler of an earlier wait has no effect
    int ready_ = 0;
    bool is_suspended_ = false;  // a function of the library waits for the socket
};

}  // namespace pawl::mysql
