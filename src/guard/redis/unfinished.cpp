// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "once_calls.hpp"
#include "refusals.hpp"

#include <guard_redis_scripts.hpp>
#include <pawl/guard/async_redis_once.hpp>

#include <utility>

namespace pawl::guard {
namespace redis {
namespace {

constexpr std::size_t page = 100;

// A listing in parts, without I/O.
class pending_list {
public:
    pending_list(std::string_view scope, duration older_than, std::string_view after,
                 std::uint32_t limit)
        : scope_(scope), keys_(scope, ""), last_read_(after), limit_(limit) {
        const auto age = std::chrono::ceil<std::chrono::microseconds>(older_than).count();
        age_us_ = std::to_string(age);
    }

    [[nodiscard]] bool has_more() const noexcept { return has_more_ && records_.size() < limit_; }
    [[nodiscard]] script_call next_part() const {
        return {scripts::once_list,
                {keys_.pending},
                {last_read_, age_us_, std::to_string(page), keys_.pending + ":"}};
    }
    void on_part(const redis_reply& reply) {
        const auto& items = reply.items;
        if (items.size() % 4 != 1) throw_unexpected(keys_.pending, "once_list");
        for (std::size_t i = 1; i < items.size() && records_.size() < limit_; i += 4) {
            once_record& record = records_.emplace_back();
            record.scope = scope_;
            record.key = items[i].text;
            record.token = fencing_token(static_cast<std::uint64_t>(number(items[i + 1])));
            record.attempts = static_cast<std::uint32_t>(number(items[i + 2]));
            record.overdue = std::chrono::microseconds(number(items[i + 3]));
        }
        has_more_ = items[0].type == redis_reply::kind::bytes;
        if (has_more_) last_read_ = items[0].text;
    }
    [[nodiscard]] std::vector<once_record> take() && { return std::move(records_); }

private:
    [[nodiscard]] std::int64_t number(const redis_reply& item) const {
        return item_number(item, keys_.pending);
    }

    const std::string scope_;
    const once_keys keys_;
    std::string last_read_, age_us_;
    const std::uint32_t limit_;
    bool has_more_ = true;
    std::vector<once_record> records_{};
};

}  // namespace
}  // namespace redis

std::vector<once_record> unfinished(redis_connection& server, std::string_view scope,
                                    duration older_than, std::string_view after,
                                    std::uint32_t limit) {
    redis::pending_list list(scope, older_than, after, limit);
    while (list.has_more())
        list.on_part(redis::run(server, list.next_part()));
    return std::move(list).take();
}

boost::asio::awaitable<std::vector<once_record>> async_unfinished(async_redis_connection& server,
                                                                  std::string scope,
                                                                  duration older_than,
                                                                  std::string after,
                                                                  std::uint32_t limit) {
    redis::pending_list list(scope, older_than, after, limit);
    while (list.has_more()) {
        const auto part = list.next_part();
        const auto reply = co_await redis::run(server, part);
        list.on_part(reply);
    }
    co_return std::move(list).take();
}

}  // namespace pawl::guard
