// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An implementation detail: a script of the caller's, and the reading of its reply.
#pragma once

#include <pawl/guard/redis.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace pawl::detail {

// The text with its digest; checks the number of keys.
class script_base {
public:
    script_base(std::string text, std::size_t key_count);

    [[nodiscard]] guard::redis_reply run(guard::redis_connection& server,
                                         std::vector<std::string> keys,
                                         std::vector<std::string> arguments) const;

    std::string text;
    std::string sha1;
    std::size_t key_count;
};

// The item of a reply, and its place for an error message: "the reply", "item 2 of the reply".
class reply_item {
public:
    reply_item(const guard::redis_reply& reply, std::string_view key,
               std::string place = "the reply")
        : reply_(reply), key_(key), place_(std::move(place)) {}

    [[nodiscard]] const guard::redis_reply& reply() const noexcept { return reply_; }
    [[nodiscard]] bool is_nil() const noexcept {
        return reply_.type == guard::redis_reply::kind::nil;
    }
    // These throw errc::protocol for another type.
    [[nodiscard]] std::int64_t integer() const;
    [[nodiscard]] bool flag() const;
    [[nodiscard]] const std::string& bytes() const;
    [[nodiscard]] std::size_t size() const;
    void expect_size(std::size_t expected) const;
    [[nodiscard]] reply_item at(std::size_t index) const;

private:
    [[noreturn]] void fail(const std::string& expected) const;

    const guard::redis_reply& reply_;
    std::string_view key_;
    std::string place_;
};

// One `read` for each type of result; there is none for other types.
template <class Result>
struct reply_reading;

template <class Result>
[[nodiscard]] Result read_reply(const reply_item& item) {
    return reply_reading<Result>::read(item);
}

template <>
struct reply_reading<void> {
    static void read(const reply_item&) {}
};
template <>
struct reply_reading<guard::redis_reply> {
    static guard::redis_reply read(const reply_item& item) { return item.reply(); }
};
template <>
struct reply_reading<std::int64_t> {
    static std::int64_t read(const reply_item& item) { return item.integer(); }
};
template <>
struct reply_reading<bool> {
    static bool read(const reply_item& item) { return item.flag(); }
};
template <>
struct reply_reading<std::string> {
    static std::string read(const reply_item& item) { return item.bytes(); }
};
template <class Result>
struct reply_reading<std::optional<Result>> {
    static std::optional<Result> read(const reply_item& item) {
        if (item.is_nil()) return std::nullopt;
        return read_reply<Result>(item);
    }
};
template <class Result>
struct reply_reading<std::vector<Result>> {
    static std::vector<Result> read(const reply_item& item) {
        std::vector<Result> results;
        for (std::size_t i = 0; i < item.size(); ++i)
            results.push_back(read_reply<Result>(item.at(i)));
        return results;
    }
};
template <class... Results>
struct reply_reading<std::tuple<Results...>> {
    static std::tuple<Results...> read(const reply_item& item) {
        item.expect_size(sizeof...(Results));
        return read_all(item, std::index_sequence_for<Results...>());
    }

private:
    template <std::size_t... Index>
    static std::tuple<Results...> read_all(const reply_item& item, std::index_sequence<Index...>) {
        return {read_reply<Results>(item.at(Index))...};
    }
};

}  // namespace pawl::detail
