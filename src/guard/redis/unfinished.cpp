// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "once_calls.hpp"
#include "refusals.hpp"

#include <guard_redis_scripts.hpp>
#include <pawl/error.hpp>

#include <charconv>

namespace pawl::guard {
namespace redis {
namespace {

constexpr std::size_t page = 100;

std::uint64_t read_count(const std::string& digits, const std::string& key) {
    std::uint64_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, value);
    if (parsed.ec != std::errc{} || parsed.ptr != end) throw_unexpected(key, "once_list");
    return value;
}

script_call list_call(const once_keys& keys, const std::string& after, duration older_than) {
    const auto age = std::chrono::ceil<std::chrono::microseconds>(older_than).count();
    return {scripts::once_list,
            {keys.pending},
            {after, std::to_string(age), std::to_string(page), keys.pending + ":"}};
}

}  // namespace
}  // namespace redis

std::vector<once_record> unfinished(redis_connection& server, std::string_view scope,
                                    duration older_than, std::string_view after,
                                    std::uint32_t limit) {
    const redis::once_keys keys(scope, "");
    std::vector<once_record> records;
    std::string last_read(after);
    for (bool has_more = true; has_more && records.size() < limit;) {
        const auto reply = redis::run(server, redis::list_call(keys, last_read, older_than));
        const auto& items = reply.items;
        if (items.size() % 4 != 1) redis::throw_unexpected(keys.pending, "once_list");
        for (std::size_t i = 1; i < items.size() && records.size() < limit; i += 4) {
            once_record& record = records.emplace_back();
            record.scope = scope;
            record.key = items[i].text;
            record.token = fencing_token(redis::read_count(items[i + 1].text, keys.pending));
            record.attempts =
                static_cast<std::uint32_t>(redis::read_count(items[i + 2].text, keys.pending));
            record.overdue = std::chrono::microseconds(
                static_cast<std::int64_t>(redis::read_count(items[i + 3].text, keys.pending)));
        }
        has_more = items[0].type == redis_reply::kind::bytes;
        if (has_more) last_read = items[0].text;
    }
    return records;
}

}  // namespace pawl::guard
