// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "scheduler_rules.hpp"

#include <unistd.h>

#include <array>
#include <utility>

namespace pawl::guard {

scheduler_options with_host(scheduler_options options) {
    if (!options.host.empty()) return options;
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    options.host = name.data();
    return options;
}

running_tick running_tick_of(const schedule_watch::decision& decision, fencing_token token,
                             std::stop_token lost) {
    const auto& claim = decision.claim;
    return {.name = claim.name,
            .when = {std::chrono::floor<std::chrono::seconds>(claim.due), claim.key},
            .token = token,
            .attempt = decision.attempt,
            .lost = std::move(lost)};
}

}  // namespace pawl::guard
