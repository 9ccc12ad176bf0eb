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
    keeps_it_after_a_release,  // a release reports success and does nothing
    tokens_go_back,
    no_tokens,
    renews_only_in_words,    // a renewal reports success and does nothing
    counts_from_too_late,    // deadlines are a second too late
    tells_no_victim,         // losses are not reported
    forces_what_nobody_has,  // a forced release of a free lock reports success
    waits_too_little,        // an attempt has no place in the queue
    forgets_no_waiter,       // waiters that gave up are still counted
    shortens_names,          // to one byte
    lists_everything,        // whatever the prefix is
    names_the_wrong_holder,
    examines_nothing,
    promises_too_much,   // its capabilities are false
    breaks_down,         // `inspect` throws
    reads_alone,         // readers get the lock exclusively
    counts_each_as_one,  // each hold counts as one permit
    gives_readers_tokens_of_their_own,
    downgrades_only_in_words,  // a downgrade reports success and does nothing
    resizes_only_in_words,     // a resize does nothing
};

// The capabilities of the backend without a fault.
inline constexpr pawl::spi::capabilities sound_capabilities{.tokens_survive_data_loss = false,
                                                            .loss_is_pushed = true,
                                                            .across_processes = false,
                                                            .across_hosts = false,
                                                            .strictly_fair = true,
                                                            .shared = true,
                                                            .permits = true,
                                                            .downgrades = true};
[[nodiscard]] pawl::conformance::test_service make_faulty_service(fault injected);

}  // namespace tested
