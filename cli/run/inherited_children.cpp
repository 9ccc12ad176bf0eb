// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "inherited_children.hpp"

#include "descendants.hpp"
#include "process_names.hpp"

#include <unistd.h>
#include <algorithm>
#include <utility>

namespace pawl::cli {

inherited_children::inherited_children(std::string run) : run_(std::move(run)) {
    if (!proc_shows_own_namespace()) return;
    processes_ = living_descendants(::getpid());
    for (const process& each : processes_)
        if (each.group > 0) groups_.insert(each.group);
    if (!processes_.empty()) groups_.insert(::getpgrp());
}

// A process of the command may reuse the number.
bool inherited_children::contains(const process& each) const {
    const bool is_listed =
        std::any_of(processes_.begin(), processes_.end(), [&](const process& other) {
            return other.pid == each.pid && (each.started == 0 || other.started == each.started);
        });
    return is_listed ||
           (groups_.contains(each.group) && !has_variable(each.pid, run_variable_name, run_));
}

}  // namespace pawl::cli
