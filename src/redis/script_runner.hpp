// Runs a script by its digest, and by its text where the server does not know it.
#pragma once

#include "link.hpp"
#include "script.hpp"

#include <initializer_list>

namespace pawl::redis {

class script_runner {
public:
    explicit script_runner(link& over) noexcept : link_(&over) {}

    // The server's reply; errors, but for NOSCRIPT, are in it. Throws what `link::exec` throws. The
    // words must outlive the coroutine. `tracked` as in `link::exec_tracked`.
    boost::asio::awaitable<reply> run(const script& what, std::span<const std::string_view> keys,
                                      std::span<const std::string_view> arguments,
                                      time_point give_up_at, bool tracked = false) const;

private:
    link* link_;
};

}  // namespace pawl::redis
