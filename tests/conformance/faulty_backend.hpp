// The memory backend with one fault, to see whether the suite finds it.
#pragma once

#include <pawl/backend.hpp>
#include <pawl/conformance.hpp>

#include <cstdint>

namespace tested {

enum class fault : std::uint8_t {
    none,
    gives_it_to_everybody,
    keeps_it_after_a_release,
    tokens_go_back,
    no_tokens,
    renews_only_in_words,
    counts_from_too_late,
    tells_no_victim,
    forces_what_nobody_has,
    waits_too_little,
    forgets_no_waiter,
    shortens_names,
    lists_everything,
    names_the_wrong_holder,
    examines_nothing,
    promises_too_much,
    breaks_down,
    reads_alone,
    counts_each_as_one,
    gives_readers_tokens_of_their_own,
    downgrades_only_in_words,
    resizes_only_in_words,
};

// Without a fault.
inline constexpr pawl::promises faulty_promises{.survives_restart = false,
                                                .loss_is_pushed = true,
                                                .across_processes = false,
                                                .across_hosts = false,
                                                .shared = true,
                                                .permits = true,
                                                .strictly_fair = true,
                                                .downgrades = true};
[[nodiscard]] pawl::conformance::world faulty_world(fault which);

}  // namespace tested
