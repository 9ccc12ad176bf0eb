// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "permits.hpp"

#include "../util/plural.hpp"

#include <algorithm>

namespace pawl::core {
namespace {

std::string semaphore_text(const claim& claim, std::uint32_t total) {
    return "The semaphore '" + claim.name + "' has " + permits_text(total) + ", ";
}

// Quoted, since a name may have spaces.
std::string resize_advice(const claim& claim, std::uint32_t total) {
    return "change that with `pawl resize '" + claim.name + "' " + std::to_string(total) + "`.";
}

}  // namespace

std::string permits_text(std::uint32_t count) { return plural(count, "permit"); }

error no_total_error(const claim& claim) {
    return {errc::bad_option, "The total of the semaphore '" + claim.name +
                                  "' is not set; set it once with `total_permits`, or in a "
                                  "shell with --permits " +
                                  std::to_string(claim.permits) + "/" +
                                  std::to_string(std::max(claim.permits, 5U)) + "."};
}

error other_total_error(const claim& claim, std::uint32_t stored) {
    return {errc::bad_option, semaphore_text(claim, stored) + "not " +
                                  std::to_string(claim.total_permits) + "; " +
                                  resize_advice(claim, claim.total_permits)};
}

error too_many_error(const claim& claim, std::uint32_t total) {
    return {errc::bad_option, semaphore_text(claim, total) + "and you ask for " +
                                  std::to_string(claim.permits) + "; ask for fewer, or " +
                                  resize_advice(claim, claim.permits)};
}

std::uint32_t check_total(const claim& claim, std::uint32_t stored) {
    const auto total = stored != 0 ? stored : claim.total_permits;
    if (total == 0) throw no_total_error(claim);
    if (claim.total_permits != 0 && claim.total_permits != total)
        throw other_total_error(claim, total);
    if (claim.permits > total) throw too_many_error(claim, total);
    return total;
}

void set_free_permits(lock_info& info) noexcept {
    if (info.free_permits || info.permits == 0) return;
    std::uint64_t taken_permits = 0;
    const auto count_holder = [&](const holder& each) {
        taken_permits += each.mode == lock_mode::permits ? each.permits : info.permits;
    };
    if (info.held_by) count_holder(*info.held_by);
    for (const holder& each : info.others)
        count_holder(each);
    const auto counted = std::min<std::uint64_t>(taken_permits, info.permits);
    info.free_permits = info.permits - static_cast<std::uint32_t>(counted);
}

}  // namespace pawl::core
