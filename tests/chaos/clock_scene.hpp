// A server whose clock the test moves.
#pragma once

#include "scene.hpp"

#include <support/moved_clock.hpp>

#include <algorithm>
#include <array>

namespace chaos {

struct kind_of_hold {
    const char* name;
    const char* url;
    pawl::lock_options how;
};

inline const std::array kinds_of_hold{
    kind_of_hold{"Exclusive", "", {}},
    kind_of_hold{"Fair", "", {.fair = true}},
    kind_of_hold{"Shared", "", {.mode = pawl::lock_mode::shared}},
    kind_of_hold{"Permits", "", {.mode = pawl::lock_mode::permits, .of = 1}},
    kind_of_hold{"Redisson", "?layout=redisson", {}},
    kind_of_hold{"RedissonFair", "?layout=redisson", {.fair = true}},
    kind_of_hold{"RedissonWrite", "?layout=redisson&object=readwrite", {}},
    kind_of_hold{
        "RedissonRead", "?layout=redisson&object=readwrite", {.mode = pawl::lock_mode::shared}},
    kind_of_hold{
        "RedissonPermits", "?layout=redisson", {.mode = pawl::lock_mode::permits, .of = 1}}};

inline std::string kind_name(const testing::TestParamInfo<kind_of_hold>& of) {
    return of.param.name;
}

// There before the server, whose clock it is.
struct has_a_clock {
    support::moved_clock clock;
    std::optional<support::moved_clock::for_new_programs> starting{clock};
};

class clock_scene : public testing::Test, protected has_a_clock, protected scene {
protected:
    clock_scene() { starting.reset(); }

    static pawl::lock_options with(const kind_of_hold& kind, const pawl::lock_options& times) {
        auto how = kind.how;
        how.ttl = times.ttl;
        how.wait = times.wait;
        return how;
    }
    // For who comes in beside nobody who holds it so.
    static pawl::lock_options alone(const kind_of_hold& kind) {
        auto how = with(kind, {.ttl = long_ttl, .wait = patience});
        if (how.mode == pawl::lock_mode::shared) how.mode = pawl::lock_mode::exclusive;
        return how;
    }
    // The server's time, in ms since 1970.
    std::int64_t server_ms() { return std::stoll(server.ask({"TIME"}).items.at(0).text) * 1000; }
};

}  // namespace chaos
