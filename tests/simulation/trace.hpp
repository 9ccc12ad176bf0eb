// All that happened in one world, as lines: hashed, and shown to a person who asks for it.
#pragma once

#include "scheduler.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace pawl::simulation {

class trace {
public:
    using reader = std::function<void(const std::string&)>;

    explicit trace(const scheduler& world, reader shown)
        : world_(world), shown_(std::move(shown)) {}

    void say(std::string_view what) {
        mix(static_cast<std::uint64_t>(world_.now().count()));
        for (const auto c : what)
            mix(static_cast<unsigned char>(c));
        ++events_;
        if (!shown_) return;
        const auto us = std::to_string(world_.now().count() / 1000);
        shown_(std::string(us.size() < 10 ? 10 - us.size() : 0, ' ') + us + " µs  " +
               std::string(what));
    }
    [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
    [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

private:
    // FNV-1a, a word at a time.
    void mix(std::uint64_t word) noexcept { hash_ = (hash_ ^ word) * 0x100000001B3u; }

    const scheduler& world_;
    reader shown_;
    std::uint64_t hash_ = 0xCBF29CE484222325u;
    std::uint64_t events_ = 0;
};

}  // namespace pawl::simulation
