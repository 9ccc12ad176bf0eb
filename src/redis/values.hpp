// What a lock's key holds: OWNER;CLIENT;PID;HOST;COMMAND;SINCE. Opaque to everybody else.
#pragma once

#include <pawl/backend.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace pawl::redis {

// All but the time: what marks a hold as ours before it is known when it began.
[[nodiscard]] std::string value_prefix(std::string_view owner, std::string_view client,
                                       const identity& who);
[[nodiscard]] std::string value_of(std::string_view prefix, std::int64_t since_ms);
// Who is behind a value; only `owner` is set when it is another library's.
[[nodiscard]] holder read_value(std::string_view value);
// Whether read_value knew it.
[[nodiscard]] bool is_pawls(const holder& who) noexcept;

}  // namespace pawl::redis
