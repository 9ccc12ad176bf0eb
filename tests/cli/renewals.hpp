// What can be seen of renewals from outside.
#pragma once

#include "command.hpp"

#include <string>

namespace cli_test {

// The lease has been seen to move `count` times. Each look takes a while: the end of the lease is
// known within bounds, and a renewal is what the bounds prove.
[[nodiscard]] inline bool soon_renewed(const world& here, const std::string& name, int count) {
    std::int64_t latest_end = 0;
    int renewals = 0;
    return support::eventually(
        [&] {
            const auto before = boot_time();
            const auto milliseconds =
                std::stoll(from_json(here.run({"status", name, "--json"}).out,
                                     "(it['holder'] or {}).get('remaining_ms', 0)"));
            if (milliseconds == 0) return false;
            const auto rest = milliseconds * 1'000'000;
            if (latest_end != 0 && before + rest <= latest_end) return false;
            if (latest_end != 0) ++renewals;
            latest_end = boot_time() + rest;
            return renewals == count;
        },
        std::chrono::seconds(30));
}

}  // namespace cli_test
