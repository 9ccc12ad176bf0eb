// One seed, one world: programs, users and a server, from the first moment until nothing is left.
#pragma once

#include "program.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace pawl::simulation {

struct outcome {
    std::uint64_t seed = 0;
    std::string violation;  // empty: none
    std::uint64_t hash = 0;
    std::uint64_t events = 0;  // in the trace
    std::uint64_t steps = 0;   // of the scheduler
    std::uint64_t grants = 0;
    instant lived{};
};

// `shown` gets every line of the trace; may be empty.
[[nodiscard]] outcome run_world(std::uint64_t seed, planted bug = planted::none,
                                const trace::reader& shown = {});

}  // namespace pawl::simulation
