// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A connection of libpq, and the waits for its socket.
#pragma once

#include "server_errors.hpp"

#include "../core/util/close_on_fork.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <string>
#include <utility>
#include <vector>

#include <libpq-fe.h>

namespace pawl::postgres {

using parameters = std::vector<std::pair<std::string, std::string>>;

// Used on one strand. libpq owns the socket; Asio only waits for it. In a fork of the process the
// socket has no peer, so that the child sends nothing in the parent's name.
class libpq_connection {
public:
    explicit libpq_connection(const boost::asio::any_io_executor& strand) : descriptor_(strand) {}
    ~libpq_connection() { close(); }
    libpq_connection(const libpq_connection&) = delete;
    libpq_connection& operator=(const libpq_connection&) = delete;

    // Begins to connect. Throws std::bad_alloc. A failure is a state of libpq's.
    void start(const parameters& all);
    // The next step of connecting, which may use another socket.
    [[nodiscard]] PostgresPollingStatusType poll();
    // Null before `start` and after `close`.
    [[nodiscard]] PGconn* get() const noexcept { return connection_; }
    // The server's last words, if it ended the connection while no call ran.
    [[nodiscard]] const server_error& last_words() const noexcept { return last_words_; }
    // True, once: somebody ended a commit's wait for a standby, or a time limit did. The commit is
    // then on this server only.
    [[nodiscard]] bool forget_cancelled_wait() noexcept {
        return std::exchange(has_cancelled_wait_, false);
    }

    // Calls the handler, void(), when the socket is ready; never after `close`, if the handler
    // lives on. False: the system has no memory for the wait, or there is no socket.
    template <class Handler>
    bool when_readable(Handler handler) {
        return wait(boost::asio::posix::descriptor_base::wait_read, std::move(handler));
    }
    template <class Handler>
    bool when_writable(Handler handler) {
        return wait(boost::asio::posix::descriptor_base::wait_write, std::move(handler));
    }
    // Ends the waits and closes the socket.
    void close() noexcept;

private:
    template <class Handler>
    bool wait(boost::asio::posix::descriptor_base::wait_type kind, Handler handler) {
        if (!watch()) return false;
        descriptor_.async_wait(
            kind, [handler = std::move(handler)](const boost::system::error_code& failure) mutable {
                if (failure != boost::asio::error::operation_aborted) handler();
            });
        return true;
    }
    bool watch();
    void unwatch() noexcept;
    static void on_notice(void* self, const PGresult* notice);

    PGconn* connection_ = nullptr;
    boost::asio::posix::stream_descriptor descriptor_;
    core::close_on_fork forked_copy_;
    server_error last_words_;
    bool has_cancelled_wait_ = false;
};

}  // namespace pawl::postgres
