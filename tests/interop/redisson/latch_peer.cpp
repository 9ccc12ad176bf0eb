// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "latch_peer.hpp"

#include <pawl/blocking/latch.hpp>

namespace interop {

std::string execute_latch_command(pawl::blocking::client& locks, const std::string& verb,
                                  const std::string& name, std::istream& arguments) {
    if (!verb.starts_with("latch_")) return {};
    pawl::blocking::latch tested_latch(locks, name);
    std::uint32_t number = 0;
    arguments >> number;
    if (verb == "latch_set") return tested_latch.try_set(number) ? "set true" : "set false";
    if (verb == "latch_down") {
        // Java subtracts one at a time; two at once are Pawl's own.
        for (; number > 2; --number)
            tested_latch.count_down();
        tested_latch.count_down(number);
        return "counted";
    }
    if (verb == "latch_count") return "count " + std::to_string(tested_latch.inspect().count);
    if (verb == "latch_wait")
        return tested_latch.wait_for(std::chrono::milliseconds(number)) ? "open" : "late";
    if (verb == "latch_delete") return tested_latch.reset() ? "deleted true" : "deleted false";
    return "unknown command " + verb;
}

}  // namespace interop
