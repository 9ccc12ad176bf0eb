// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Resolves the name of a host. The system's function cannot be cancelled, and takes many seconds
// when no name server answers. So it runs in a detached thread.
#pragma once

#include "address.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace pawl::net {

// The largest number of names that a process looks up at the same time. Clients with the same name
// share one look-up.
inline constexpr std::size_t max_look_ups = 8;

// Used on one strand.
class name_look_up {
public:
    // Starts a look-up, or joins the one of the same name in this process. Throws errc::exhausted
    // if no thread or descriptor is available, or if `max_look_ups` are running.
    name_look_up(const boost::asio::any_io_executor& executor, std::string host);
    ~name_look_up() { cancel(); }
    name_look_up(const name_look_up&) = delete;
    name_look_up& operator=(const name_look_up&) = delete;

    // Waits for the result: at least one address, or an error.
    boost::asio::awaitable<boost::system::error_code> wait(std::uint16_t port, addresses& result);
    // Ends the wait. The look-up continues for others that joined it.
    void cancel() noexcept;

private:
    struct state;

    static void run(const std::string& host, const std::shared_ptr<state>& target) noexcept;

    const std::string host_;
    std::shared_ptr<state> state_;
    boost::asio::posix::stream_descriptor answer_event_;
};

}  // namespace pawl::net
