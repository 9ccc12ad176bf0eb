// What the public options become.
#pragma once

#include <pawl/redis.hpp>

#include <string>

namespace pawl::redis {

// Throws errc::bad_option with one sentence.
void check(const options& where);
// redis://host:6379/0 with each option that decides which lock a name is, where it is not the usual
// one; without user and password.
[[nodiscard]] std::string describe(const options& where);

}  // namespace pawl::redis
