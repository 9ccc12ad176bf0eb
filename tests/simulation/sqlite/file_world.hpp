// One world of the SQLite backend: programs that lock in one file, and what happens to the file,
// the clocks and the programs meanwhile. All chance from one seed. docs/testing.md.
#pragma once

#include "host.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace pawl::simulation {

// Bugs that can be planted, to measure whether the worlds find them. Most are triggers in the file,
// so that the store's own transactions carry them out.
enum class file_bug : std::uint8_t {
    none,
    tokens_without_clock,  // last + 1 alone: repeats after an older file was put back
    token_stands_still,    // the counter is not written
    other_boots_deleted,   // a boot id that differs is taken for a reboot
    renewal_not_written,   // extended, says the answer
    release_takes_all,     // the rows of other owners go too
    release_leaves_row,    // released, says the answer
    lease_cut_short,       // half of the ttl is written
    modes_forgotten,       // a writer's row says that it reads
    permits_forgotten,     // each hold counts for one permit
    waiters_forgotten,     // nobody stands in line
    latch_counts_twice,    // a step takes two off
};

inline constexpr std::array file_bug_names{
    std::pair{file_bug::none, std::string_view("none")},
    std::pair{file_bug::tokens_without_clock, std::string_view("tokens_without_clock")},
    std::pair{file_bug::token_stands_still, std::string_view("token_stands_still")},
    std::pair{file_bug::other_boots_deleted, std::string_view("other_boots_deleted")},
    std::pair{file_bug::renewal_not_written, std::string_view("renewal_not_written")},
    std::pair{file_bug::release_takes_all, std::string_view("release_takes_all")},
    std::pair{file_bug::release_leaves_row, std::string_view("release_leaves_row")},
    std::pair{file_bug::lease_cut_short, std::string_view("lease_cut_short")},
    std::pair{file_bug::modes_forgotten, std::string_view("modes_forgotten")},
    std::pair{file_bug::permits_forgotten, std::string_view("permits_forgotten")},
    std::pair{file_bug::waiters_forgotten, std::string_view("waiters_forgotten")},
    std::pair{file_bug::latch_counts_twice, std::string_view("latch_counts_twice")},
};

// What plants the bug in a file; null for those that the world plants itself.
[[nodiscard]] const char* trigger_of(file_bug bug);

struct file_world_result {
    std::string violation;  // empty: all promises were kept
    std::uint64_t grants = 0;
    std::uint64_t steps = 0;
    std::uint64_t losses_told = 0;
    std::uint64_t hash = 0;  // of all that happened
    std::string trace;       // where that was asked for
};

[[nodiscard]] file_world_result run_file_world(std::uint64_t seed, file_bug bug = file_bug::none,
                                               bool trace = false);

}  // namespace pawl::simulation
