// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Random commands for command_check.hpp: of clients and of scripts, with right and wrong arguments,
// on keys of all types. Numbers are often close to 2^53 and 2^63.
#pragma once

#include "../kernel/prng.hpp"
#include "command_check.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace pawl::simulation {

class command_generator {
public:
    explicit command_generator(std::uint64_t seed) : random_(seed) {}

    // The keys of all commands.
    [[nodiscard]] static const words& keys();
    // The channels that have a subscriber: ordinary ones, and sharded ones.
    [[nodiscard]] static words channels() { return {"one", "two"}; }
    [[nodiscard]] static words sharded_channels() { return {"sharded"}; }

    checked_command next(std::int64_t now_us);
    std::int64_t next_delay();
    std::size_t next_batch_size() { return 1 + random_.below(8); }
    bool happens(double probability) { return random_.happens(probability); }

private:
    template <std::size_t Size>
    const char* one_of(const std::array<const char*, Size>& choices) {
        return choices[random_.below(Size)];
    }
    std::string key(const char* usual);
    std::string string_key() { return key(random_.happens(0.5) ? "string" : "counter"); }
    std::string small() { return std::to_string(random_.between(-4, 4)); }
    std::string number();
    std::string score();
    std::string bound();
    std::string value();
    std::string ttl();
    std::string end_time();
    std::string channel();
    words with(words command, std::string (command_generator::*more)());
    words with_options(words command, std::span<const char* const> options, double share);

    words next_command();
    words string_command();
    words set_command();
    words hash_command();
    words list_command();
    words list_search();
    words set_change();
    words set_query();
    words ranged(words command);
    words key_command();

    prng random_;
    std::int64_t now_ms_ = 0;
};

}  // namespace pawl::simulation
