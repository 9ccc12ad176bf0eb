// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The memory backend with one fault, to check that the suite finds it.
#pragma once

#include <pawl/spi/backend.hpp>
#include <pawl/spi/conformance.hpp>

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
inline constexpr pawl::capabilities faulty_promises{.tokens_survive_data_loss = false,
                                                    .loss_is_pushed = true,
                                                    .across_processes = false,
                                                    .across_hosts = false,
                                                    .strictly_fair = true,
                                                    .shared = true,
                                                    .permits = true,
                                                    .downgrades = true};
[[nodiscard]] pawl::conformance::test_service make_faulty_world(fault injected);

}  // namespace tested
