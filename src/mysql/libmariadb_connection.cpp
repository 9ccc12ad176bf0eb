// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "libmariadb_connection.hpp"

#include "../sql/user_timeout.hpp"

#include <pawl/mysql_handle.hpp>

#include <errmsg.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <mutex>
#include <new>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::mysql {
namespace {

using no_fork = core::close_on_fork::no_fork;
using descriptor_base = asio::posix::descriptor_base;

struct free_result {
    void operator()(MYSQL_RES* rows) const noexcept { ::mysql_free_result(rows); }
};

// In s. With TLS, the library blocks this thread during the handshake, and until the next answer.
constexpr unsigned blocking_limit = 2;

void limit_blocking(int socket) {
    const timeval limit{blocking_limit, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

void initialize_library() {
    static std::once_flag flag;
    std::call_once(flag, [] { ::mysql_server_init(0, nullptr, nullptr); });
}

// With TLS, the library reads as if the socket were so, but makes it a blocking one.
bool make_non_blocking(int socket) {
    const int flags = ::fcntl(socket, F_GETFL);
    return flags >= 0 && ::fcntl(socket, F_SETFL, flags | O_NONBLOCK) == 0;
}

// A dead peer is noticed in about 5 s.
void keep_alive(int socket) {
    const auto set = [socket](int level, int name, int value) {
        ::setsockopt(socket, level, name, &value, sizeof value);
    };
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, TCP_NODELAY, 1);
    set(IPPROTO_TCP, TCP_KEEPIDLE, 2);
    set(IPPROTO_TCP, TCP_KEEPINTVL, 1);
    set(IPPROTO_TCP, TCP_KEEPCNT, 3);
    set(IPPROTO_TCP, TCP_USER_TIMEOUT, 5000);
}

std::vector<sql::row> rows_of(MYSQL_RES* stored) {
    std::vector<sql::row> rows;
    const auto columns = ::mysql_num_fields(stored);
    while (MYSQL_ROW values = ::mysql_fetch_row(stored)) {
        const unsigned long* lengths = ::mysql_fetch_lengths(stored);
        sql::row row;
        for (unsigned i = 0; i < columns; ++i)
            if (values[i] == nullptr)
                row.emplace_back();
            else
                row.emplace_back(std::in_place, values[i], lengths[i]);
        rows.push_back(std::move(row));
    }
    return rows;
}

// The answer to a statement without rows.
std::vector<sql::row> last_insert_id(MYSQL* connection) {
    const auto id = ::mysql_insert_id(connection);
    if (id == 0) return {};
    return {{std::to_string(id)}};
}

const char* or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

}  // namespace

libmariadb_connection::libmariadb_connection(asio::any_io_executor strand, runtime& time)
    : strand_(std::move(strand)), time_(time), descriptor_(strand_), changed_(time, strand_) {}

void libmariadb_connection::apply_options(const server_login& login) {
    const auto set = [this](mysql_option option, const void* value) {
        ::mysql_optionsv(connection_, option, value);
    };
    set(MYSQL_OPT_NONBLOCK, nullptr);
    set_up_handle(connection_, login.tls);
    if (login.tls.enabled) set(MYSQL_OPT_CONNECT_TIMEOUT, &blocking_limit);
}

asio::awaitable<server_error> libmariadb_connection::connect(server_login login,
                                                             time_point give_up_at) {
    const auto self = shared_from_this();
    initialize_library();
    connection_ = ::mysql_init(nullptr);
    if (connection_ == nullptr) throw std::bad_alloc();
    apply_options(login);
    // The library reads the host twice: to connect, and after the server's greeting for the name in
    // the certificate. It would look a name up with a function that blocks, so it first gets the
    // address. Were it to read the host only once, every certificate for a name would be refused.
    const auto& name = login.tls.name.empty() ? login.host : login.tls.name;
    std::string host = login.address;
    host.resize(std::max(host.size(), name.size()) + 1);
    MYSQL* connected = nullptr;
    const auto start = [&] {
        const int status = ::mysql_real_connect_start(
            &connected, connection_, host.data(), or_null(login.user), login.password.c_str(),
            nullptr, login.port, nullptr, CLIENT_MULTI_RESULTS);
        if (login.tls.enabled) host.replace(0, name.size() + 1, name.c_str(), name.size() + 1);
        limit_blocking(::mysql_get_socket(connection_));
        return status;
    };
    const auto next = [&](int events) {
        return ::mysql_real_connect_cont(&connected, connection_, events);
    };
    const bool is_done = co_await drive(start, next, give_up_at, duration::max());
    server_error reason;
    if (!is_done)
        reason = {CR_SERVER_LOST, "the server did not answer in time"};
    else if (connected == nullptr)
        reason = failure();
    else if (login.tls.enabled && ::mysql_get_ssl_cipher(connection_) == nullptr)
        reason = {CR_SSL_CONNECTION_ERROR, "the server has no TLS"};
    else if (!make_non_blocking(::mysql_get_socket(connection_)))
        reason = {CR_SERVER_LOST, "the socket cannot be made a non-blocking one"};
    else
        keep_alive(::mysql_get_socket(connection_));
    if (reason.number != 0) close();
    co_return reason;
}

asio::awaitable<libmariadb_connection::result> libmariadb_connection::query(std::string text,
                                                                            duration silence) {
    const auto self = shared_from_this();
    std::vector<sql::row> rows;
    bool is_first = true;
    int status = 0;  // of the library's functions: not 0 is an error, -1 the end of the results
    const auto send = [&] {
        return ::mysql_real_query_start(&status, connection_, text.data(), text.size());
    };
    const auto send_on = [&](int events) {
        return ::mysql_real_query_cont(&status, connection_, events);
    };
    const bool is_sent = co_await drive(send, send_on, time_point::max(), silence);
    if (!is_sent) co_return failure();
    while (status == 0) {
        MYSQL_RES* stored = nullptr;
        const auto store = [&] { return ::mysql_store_result_start(&stored, connection_); };
        const auto store_on = [&](int events) {
            return ::mysql_store_result_cont(&stored, connection_, events);
        };
        const bool is_stored = co_await drive(store, store_on, time_point::max(), silence);
        if (!is_stored) co_return failure();
        const std::unique_ptr<MYSQL_RES, free_result> owned(stored);
        if (stored == nullptr && ::mysql_errno(connection_) != 0) co_return failure();
        if (std::exchange(is_first, false))
            rows = stored != nullptr ? rows_of(stored) : last_insert_id(connection_);
        const auto advance = [&] { return ::mysql_next_result_start(&status, connection_); };
        const auto advance_on = [&](int events) {
            return ::mysql_next_result_cont(&status, connection_, events);
        };
        const bool is_advanced = co_await drive(advance, advance_on, time_point::max(), silence);
        if (!is_advanced) co_return failure();
    }
    if (status > 0) co_return failure();
    co_return rows;
}

asio::awaitable<server_error> libmariadb_connection::ping(duration silence) {
    const auto self = shared_from_this();
    int status = 0;
    const auto start = [&] { return ::mysql_ping_start(&status, connection_); };
    const auto next = [&](int events) { return ::mysql_ping_cont(&status, connection_, events); };
    const bool is_answered = co_await drive(start, next, time_point::max(), silence);
    if (!is_answered) co_return failure();
    co_return status == 0 ? server_error{} : failure();
}

asio::awaitable<bool> libmariadb_connection::wait_idle(time_point until) {
    const auto self = shared_from_this();
    const int events = co_await wait(MYSQL_WAIT_READ, until);
    co_return events != 0;
}

// Runs a function of the library to its end. False: the connection was closed, or has been closed
// because nothing came in time.
template <class Start, class Continue>
asio::awaitable<bool> libmariadb_connection::drive(Start start, Continue next,
                                                   time_point give_up_at, duration silence) {
    if (connection_ == nullptr || fork_mark_.is_forked()) co_return false;
    int status = start();
    while (status != 0) {
        is_suspended_ = true;
        const auto limit =
            silence == duration::max() ? give_up_at : std::min(give_up_at, time_.now() + silence);
        int events = 0;
        while (events == 0 && connection_ != nullptr && time_.now() < limit)
            events = co_await wait(status, limit);
        if (connection_ == nullptr) co_return false;
        if (events == 0 || fork_mark_.is_forked()) {
            close();
            co_return false;
        }
        is_suspended_ = false;
        status = next(events);
    }
    co_return true;
}

// The events that have come; 0 after `wake`, or at `until`.
asio::awaitable<int> libmariadb_connection::wait(int wanted, time_point until) {
    if (!watch()) {
        close();
        co_return 0;
    }
    ++round_;
    ready_ = 0;
    descriptor_.cancel();
    if ((wanted & MYSQL_WAIT_READ) != 0) arm(MYSQL_WAIT_READ);
    if ((wanted & MYSQL_WAIT_WRITE) != 0) arm(MYSQL_WAIT_WRITE);
    co_await changed_.wait_until(until);
    co_return ready_;
}

void libmariadb_connection::arm(int event) {
    const auto kind =
        event == MYSQL_WAIT_READ ? descriptor_base::wait_read : descriptor_base::wait_write;
    descriptor_.async_wait(kind, [weak = weak_from_this(), event,
                                  round = round_](const boost::system::error_code& failure) {
        const auto self = weak.lock();
        if (!self || round != self->round_ || failure == asio::error::operation_aborted) return;
        self->ready_ |= event;
        self->changed_.notify();
    });
}

bool libmariadb_connection::watch() {
    if (connection_ == nullptr || fork_mark_.is_forked()) return false;
    if (descriptor_.is_open()) return true;
    const auto socket = ::mysql_get_socket(connection_);
    if (socket == MARIADB_INVALID_SOCKET) return false;
    if (!std::exchange(is_forked_copy_added_, true)) forked_copy_.add(socket, no_fork());
    boost::system::error_code failure;
    descriptor_.assign(socket, failure);
    return !failure;
}

void libmariadb_connection::unwatch() noexcept {
    if (!descriptor_.is_open()) return;
    try {
        descriptor_.release();
    } catch (...) {  // std::terminate is the alternative: the library closes the socket in any case
    }
}

void libmariadb_connection::set_user_timeout(duration limit) noexcept {
    if (connection_ != nullptr) sql::set_user_timeout(::mysql_get_socket(connection_), limit);
}

server_error libmariadb_connection::failure() const {
    if (connection_ == nullptr) return {CR_SERVER_LOST, "the connection was closed"};
    return error_in(connection_);
}

void libmariadb_connection::close() noexcept {
    if (connection_ == nullptr) return;
    const auto socket = ::mysql_get_socket(connection_);
    unwatch();
    ++round_;
    const no_fork guard;
    forked_copy_.forget(guard);
    // The library says farewell, and must not wait for that.
    if (socket != MARIADB_INVALID_SOCKET && (is_suspended_ || fork_mark_.is_forked()))
        ::shutdown(socket, SHUT_RDWR);
    ::mysql_close(connection_);
    connection_ = nullptr;
    try {
        changed_.notify();
    } catch (...) {  // no memory: the wait ends at its limit
    }
}

}  // namespace pawl::mysql
