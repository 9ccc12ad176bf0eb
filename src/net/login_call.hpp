// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One call of the program's function for user and password. The function may wait for another
// service, so it runs in a detached thread.
#pragma once

#include <pawl/credentials.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <functional>
#include <memory>

namespace pawl::net {

// Used on one strand. After the destructor, the function may still run, and its result is dropped.
class login_call {
public:
    // Starts the call. Throws errc::exhausted if no thread or descriptor is available.
    explicit login_call(std::function<login()> function);

    [[nodiscard]] bool has_ended() const noexcept;
    // Can be read when the function has returned or thrown, and from then on. Throws
    // errc::exhausted.
    [[nodiscard]] boost::asio::posix::stream_descriptor make_end_event(
        const boost::asio::any_io_executor& executor) const;
    // After the end: the result. Throws errc::refused if the function has thrown.
    [[nodiscard]] login result() const;

private:
    struct state;

    std::shared_ptr<state> state_;
};

}  // namespace pawl::net
