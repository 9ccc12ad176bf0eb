#include "inherited_children.hpp"

#include "descendants.hpp"
#include "keeper.hpp"

#include <unistd.h>
#include <algorithm>
#include <utility>

namespace pawl::cli {

inherited_children::inherited_children(std::string run) : run_(std::move(run)) {
    if (!proc_is_ours()) return;
    known_ = living_descendants(::getpid());
    for (const process& each : known_)
        if (each.group > 0) groups_.insert(each.group);
    if (!known_.empty()) groups_.insert(::getpgrp());
}

// A number may be used again, by a process of the command.
bool inherited_children::contains(const process& each) const {
    const bool known = std::any_of(known_.begin(), known_.end(), [&](const process& other) {
        return other.pid == each.pid && (each.started == 0 || other.started == each.started);
    });
    return known || (groups_.contains(each.group) && !has_variable(each.pid, run_name, run_));
}

}  // namespace pawl::cli
