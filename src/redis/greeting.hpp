// What is said on every new connection before it is used, and what is learnt from the answers.
#pragma once

#include "link.hpp"

#include <pawl/redis.hpp>

#include <boost/system/error_code.hpp>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::redis {

// The questions, and the subscriptions that follow when they are answered well.
struct commands {
    std::string text;
    unsigned replies = 0;
};
[[nodiscard]] std::pair<commands, commands> greeting(const options& where,
                                                     std::span<const std::string_view> channels);

// Throws pawl::error when the server refuses, with one sentence. `about` names the server.
[[nodiscard]] session read_greeting(const std::string& about, const std::vector<reply>& answers);

// A line for people.
[[nodiscard]] std::string describe_connect_error(const boost::system::error_code& why);
// True for answers that no Redis gives.
[[nodiscard]] bool speaks_another_protocol(const boost::system::error_code& why) noexcept;

}  // namespace pawl::redis
