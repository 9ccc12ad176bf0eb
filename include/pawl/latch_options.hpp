// How a latch is asked for, and how it stands. Standard headers only.
#pragma once

#include <pawl/types.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <type_traits>

namespace pawl {

struct latch_options {
    // The service forgets a latch that nobody has changed for so long: 1 s to 366 days. Who waits
    // for it then, or asks for it later, gets errc::lost. Redisson's layout keeps it for ever.
    duration ttl = std::chrono::hours(24);
};
static_assert(std::is_trivially_copyable_v<latch_options>);

// One turn of a barrier, from `arrive`.
enum class phase : std::uint64_t {};

// For people and tools; never to decide anything.
struct latch_info {
    std::string name;
    bool known = false;            // false: nobody has set it, or the service has forgotten it
    std::uint64_t count = 0;       // how much is missing until those who wait go on
    std::uint64_t generation = 0;  // larger = set later; 0 where the service does not number them
    std::uint32_t parties = 0;     // of a barrier: what each turn begins with; 0 for a latch
    std::uint64_t waiters = 0;     // or the clients that wait, where the service knows only those
    duration remaining{};          // until the service forgets it
};

}  // namespace pawl
