// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "checks.hpp"

#include "../ui/duration.hpp"
#include "../ui/failure.hpp"

#include <algorithm>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

bool is_control(char each) {
    const auto byte = static_cast<unsigned char>(each);
    return byte < 0x20 || byte == 0x7f;
}

failure refusal(const std::string& sentence) { return {exit_code::usage, sentence}; }

}  // namespace

void check_name(const std::string& name) {
    if (name.empty()) throw refusal("The lock's name is empty; give it 1 to 512 bytes.");
    if (name.size() > 512)
        throw refusal("The lock's name has " + std::to_string(name.size()) +
                      " bytes; use at most 512.");
    const auto control = std::find_if(name.begin(), name.end(), is_control);
    if (control != name.end())
        throw refusal("The lock's name has a control character at byte " +
                      std::to_string(control - name.begin() + 1) + "; use printable characters.");
}

void check_locks(const run_options& options) {
    for (const auto& name : names_of(options))
        check_name(name);
    if (options.ttl < 10ms || options.ttl > 24h)
        throw refusal("The ttl is " + format_exact(options.ttl) +
                      "; it must be between 10 ms and 24 h.");
    if (options.max_hold <= duration::zero())
        throw refusal("The --max-hold is 0; it must be 10 ms or more, or forever.");
    if (options.max_hold < 10ms)
        throw refusal("The --max-hold is " + format_exact(options.max_hold) +
                      "; it must be 10 ms or more, or forever.");
}

void check_durability(const run_options& options, const service_location& location) {
    if (location.url.starts_with("redlock") && options.durable != durability::primary)
        throw refusal(
            "Redlock has no --durable: a lock is at a majority of the nodes anyway; leave it out.");
}

}  // namespace pawl::cli
