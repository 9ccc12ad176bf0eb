// What is said on every new connection before it is used, and what is learnt from the answers.
#pragma once

#include "link.hpp"

#include <pawl/redis.hpp>

#include <boost/system/error_code.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

struct commands {
    std::string text;
    unsigned replies = 0;
};
// The questions.
[[nodiscard]] commands greeting(const options& where);
// Only those whose last answer, to INFO, tells servers apart.
[[nodiscard]] commands identity_questions(const options& where);
// What follows when they are answered well: the connection's own channel, where it has one, and
// those of locks.
[[nodiscard]] commands subscribing(const std::string& own, std::span<const std::string> channels,
                                   bool sharded);

// Throws pawl::error when the server refuses, with one sentence. `about` names the server.
[[nodiscard]] session read_greeting(const std::string& about, const std::vector<reply>& answers);

// The value of that line of INFO's answer; empty where there is none.
[[nodiscard]] std::string info_field(std::string_view info, std::string_view name);

// A line for people.
[[nodiscard]] std::string describe_connect_error(const boost::system::error_code& why);
// True for answers that no Redis gives, or none that Pawl asked for.
[[nodiscard]] bool speaks_another_protocol(const boost::system::error_code& why) noexcept;

}  // namespace pawl::redis
