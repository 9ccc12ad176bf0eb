// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The encoding of ZooKeeper's messages: big-endian numbers, and texts with their length.
#pragma once

#include <pawl/error.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::zookeeper {

class jute_writer {
public:
    template <std::integral Number>
    jute_writer& number(Number value) {
        const auto bits = static_cast<std::make_unsigned_t<Number>>(value);
        for (std::size_t i = sizeof bits; i-- > 0;)
            bytes_ += static_cast<char>(static_cast<unsigned char>(bits >> (8 * i)));
        return *this;
    }
    jute_writer& boolean(bool value) {
        bytes_ += static_cast<char>(value);
        return *this;
    }
    jute_writer& text(std::string_view value) {
        number(static_cast<std::int32_t>(value.size()));
        bytes_ += value;
        return *this;
    }
    jute_writer& texts(const std::vector<std::string>& values) {
        number(static_cast<std::int32_t>(values.size()));
        for (const auto& each : values)
            text(each);
        return *this;
    }
    jute_writer& raw(std::string_view bytes) {
        bytes_ += bytes;
        return *this;
    }
    [[nodiscard]] std::string take() noexcept { return std::move(bytes_); }

private:
    std::string bytes_;
};

// Throws errc::protocol for a message that ends too early or has an impossible length.
class jute_reader {
public:
    explicit jute_reader(std::string_view bytes) noexcept : rest_(bytes) {}

    template <std::integral Number>
    Number number() {
        const auto raw = take(sizeof(Number));
        std::make_unsigned_t<Number> bits = 0;
        for (const char each : raw)
            bits = static_cast<decltype(bits)>(static_cast<std::uint64_t>(bits) << 8 |
                                               static_cast<unsigned char>(each));
        return static_cast<Number>(bits);
    }
    bool boolean() { return take(1).front() != 0; }
    // A null text counts as an empty one.
    std::string_view text() {
        const auto size = number<std::int32_t>();
        if (size < -1) fail();
        return size <= 0 ? std::string_view() : take(static_cast<std::size_t>(size));
    }
    std::vector<std::string> texts() {
        const auto count = number<std::int32_t>();
        std::vector<std::string> all;
        for (std::int32_t i = 0; i < count; ++i)
            all.emplace_back(text());
        return all;
    }
    [[nodiscard]] bool is_at_end() const noexcept { return rest_.empty(); }
    [[nodiscard]] std::string_view rest() const noexcept { return rest_; }

private:
    std::string_view take(std::size_t size) {
        if (size > rest_.size()) fail();
        const auto part = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return part;
    }
    [[noreturn]] static void fail() {
        throw error(errc::protocol,
                    "ZooKeeper sent a message that is shorter than it says; see the server's log, "
                    "and check that host and port are those of ZooKeeper.");
    }

    std::string_view rest_;
};

}  // namespace pawl::zookeeper
