// Replies of a Redis server, made, compared and shown.
#pragma once

#include <redis/link.hpp>

#include <string>
#include <utility>
#include <vector>

namespace pawl::simulation {

[[nodiscard]] inline redis::reply nil_reply() { return {}; }
[[nodiscard]] inline redis::reply integer_reply(std::int64_t number) {
    return {.what = redis::reply::kind::integer, .number = number, .text = {}, .items = {}};
}
[[nodiscard]] inline redis::reply string_reply(std::string text) {
    return {.what = redis::reply::kind::string, .number = 0, .text = std::move(text), .items = {}};
}
[[nodiscard]] inline redis::reply error_reply(std::string text) {
    return {.what = redis::reply::kind::error, .number = 0, .text = std::move(text), .items = {}};
}
[[nodiscard]] inline redis::reply array_reply(std::vector<redis::reply> items) {
    return {.what = redis::reply::kind::array, .number = 0, .text = {}, .items = std::move(items)};
}

// For people, and to compare: of an error only the code, since the rest names a line of the script.
[[nodiscard]] std::string to_string(const redis::reply& what);

}  // namespace pawl::simulation
