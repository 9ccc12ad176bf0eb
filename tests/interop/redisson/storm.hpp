// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The participants of the storm, and their records for the checker. Each process has a
// real::journal of lines:
//
//   take KEY NAME MODE COUNT WHEN   an acquire begins; MODE is exclusive, shared or permits
//   at KEY WHEN UNTIL               at WHEN the process believes that it holds until UNTIL at least
//                                   (0: it does not know until when)
//   robbed KEY UNTIL                the hold was gone although nobody may end it before UNTIL
//   leave KEY                       from now on it may have released the hold
//   left KEY                        it has released the hold
//   gone KEY                        it was refused, and has nothing to release
//   trouble KEY WORDS               the state is unknown
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace interop {

inline constexpr int semaphore_permits = 1000;  // without leases, dead processes keep theirs

// One Pawl process of the storm: contends for every object until it is told to end.
class storm_worker {
public:
    virtual ~storm_worker() = default;
    // Releases everything.
    virtual void finish() = 0;
};
// `mode` is sync or async.
[[nodiscard]] std::unique_ptr<storm_worker> make_storm_worker(const std::string& mode,
                                                              const std::string& url,
                                                              std::int64_t ttl_ms,
                                                              const std::string& journal);

// The command of `pawl run`: believes for a moment that it holds `lock`.
int run_storm_command(const std::string& journal);

// The result of checking all journals of a folder.
struct storm_verdict {
    struct object {
        std::size_t by_java = 0;
        std::size_t by_pawl = 0;
        std::int64_t longest_gap = 0;  // ns, in which nobody held it
    };
    std::map<std::string, object> objects;
    std::vector<std::string> violations;
    std::size_t excused_violations = 0;
    // Permits without a lease whose holders are dead: at least, and at most.
    int surely_lost = 0;
    int perhaps_lost = 0;
};
// Overlaps and losses between these times, by the boot clock in ns, are only counted.
struct excused_time {
    std::int64_t from = 0;
    std::int64_t to = 0;
};
// Journals with `java` in their name are Java's. `objects` counts holds that begin after `since`.
[[nodiscard]] storm_verdict check_storm(const std::string& folder, const excused_time& excused = {},
                                        std::int64_t since = 0);

}  // namespace interop
