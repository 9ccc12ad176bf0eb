// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A server whose clock the test moves.
#pragma once

#include "redis_fixture.hpp"

#include <support/moved_clock.hpp>

#include <algorithm>
#include <array>

namespace chaos {

struct hold_kind {
    const char* name;
    const char* url;  // its options, which end the URL
    pawl::lock_options options;
};

inline const std::array hold_kinds{
    hold_kind{"Exclusive", "", {}},
    hold_kind{"Fair", "", {.fair = true}},
    hold_kind{"Shared", "", {.mode = pawl::lock_mode::shared}},
    hold_kind{"Permits", "", {.mode = pawl::lock_mode::permits, .total_permits = 1}},
    hold_kind{"Redisson", "?layout=redisson", {}},
    hold_kind{"RedissonFair", "?layout=redisson", {.fair = true}},
    hold_kind{"RedissonWrite", "?layout=redisson&object=readwrite", {}},
    hold_kind{
        "RedissonRead", "?layout=redisson&object=readwrite", {.mode = pawl::lock_mode::shared}},
    hold_kind{"RedissonPermits",
              "?layout=redisson",
              {.mode = pawl::lock_mode::permits, .total_permits = 1}}};

inline std::string kind_name(const testing::TestParamInfo<hold_kind>& info) {
    return info.param.name;
}

// Constructed before the server, which starts with this clock.
struct with_server_clock {
    support::moved_clock clock;
    std::optional<support::moved_clock::for_new_programs> starting{clock};
};

class clock_fixture : public testing::Test, protected with_server_clock, protected redis_fixture {
protected:
    clock_fixture() { starting.reset(); }

    static pawl::lock_options options_for(const hold_kind& kind, const pawl::lock_options& times) {
        auto options = kind.options;
        options.ttl = times.ttl;
        options.wait = times.wait;
        return options;
    }
    // For a claim that every hold of this kind excludes.
    static pawl::lock_options exclusive_options(const hold_kind& kind) {
        auto options = options_for(kind, {.ttl = long_ttl, .wait = patience});
        if (options.mode == pawl::lock_mode::shared) options.mode = pawl::lock_mode::exclusive;
        return options;
    }
};

}  // namespace chaos
