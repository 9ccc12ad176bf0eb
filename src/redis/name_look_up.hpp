// The addresses of a host's name. The system's look-up cannot be ended and takes many seconds where
// no name server answers, so that it has a thread of its own, for which nobody waits.
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

namespace pawl::redis {

// So many names may be looked up at once in a process; clients with the same name share one
// look-up.
inline constexpr std::size_t most_look_ups = 8;

// Used on one strand.
class name_look_up {
public:
    // Begins it, or joins that of the same name in this process. Throws errc::exhausted where there
    // is no thread or descriptor for it, and where `most_look_ups` have no answer yet.
    name_look_up(const boost::asio::any_io_executor& on, std::string host);
    ~name_look_up() { cancel(); }
    name_look_up(const name_look_up&) = delete;
    name_look_up& operator=(const name_look_up&) = delete;

    // Waits for the answer: one address or more, or an error.
    boost::asio::awaitable<boost::system::error_code> answer(std::uint16_t port, addresses& to);
    // Ends the wait. The look-up goes on for those who joined it.
    void cancel() noexcept;

private:
    struct state;

    static void run(const std::string& host, const std::shared_ptr<state>& to) noexcept;

    const std::string host_;
    std::shared_ptr<state> state_;
    boost::asio::posix::stream_descriptor answered_;
};

}  // namespace pawl::redis
