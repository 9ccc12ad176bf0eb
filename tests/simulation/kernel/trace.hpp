// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// All that happens in one scenario, as lines of text. They are hashed, and printed on request.
#pragma once

#include "scheduler.hpp"

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

namespace pawl::simulation {

class trace {
public:
    using line_sink = std::function<void(const std::string&)>;

    explicit trace(const scheduler& loop, line_sink sink) : loop_(loop), sink_(std::move(sink)) {}

    // A line in parts. Without a sink, they are hashed and never put together.
    class line {
    public:
        explicit line(trace& log) : trace_(log) {
            trace_.mix(static_cast<std::uint64_t>(trace_.loop_.now().count()));
        }
        line(const line&) = delete;
        line& operator=(const line&) = delete;
        ~line() { trace_.end_line(text_); }
        line& operator<<(std::string_view part) {
            trace_.mix(part);
            if (trace_.sink_) text_ += part;
            return *this;
        }
        line& operator<<(std::int64_t number) {
            trace_.mix(static_cast<std::uint64_t>(number));
            if (trace_.sink_) text_ += std::to_string(number);
            return *this;
        }

    private:
        trace& trace_;
        std::string text_;
    };

    void write(std::string_view text) { line(*this) << text; }
    [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
    [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

private:
    // FNV-1a, one word at a time. A word's high bits also come down to the low ones.
    void mix(std::uint64_t word) noexcept {
        hash_ = (hash_ ^ word) * 0x100000001B3u;
        hash_ ^= hash_ >> 32;
    }
    void mix(std::string_view text) noexcept {
        mix(text.size());
        for (; text.size() >= sizeof(std::uint64_t); text.remove_prefix(sizeof(std::uint64_t))) {
            std::uint64_t word = 0;
            std::memcpy(&word, text.data(), sizeof word);
            mix(word);
        }
        for (const auto letter : text)
            mix(static_cast<unsigned char>(letter));
    }
    void end_line(const std::string& text) {
        ++events_;
        if (!sink_) return;
        const auto us = std::to_string(loop_.now().count() / 1000);
        sink_(std::string(us.size() < 10 ? 10 - us.size() : 0, ' ') + us + " µs  " + text);
    }

    const scheduler& loop_;
    line_sink sink_;
    std::uint64_t hash_ = 0xCBF29CE484222325u;
    std::uint64_t events_ = 0;
};

}  // namespace pawl::simulation
