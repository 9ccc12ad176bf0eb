// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The children that this process had before it executed pawl, as in `sh -c 'sidecar & exec pawl run
// x -- command'`, the usual entry point of a container. They and their descendants do not belong to
// the command.
#pragma once

#include "processes.hpp"

#include <set>
#include <string>
#include <vector>

namespace pawl::cli {

class inherited_children {
public:
    // Records the current descendants of the calling process. `run` is the name of the run in the
    // environment of the command's processes.
    explicit inherited_children(std::string run);

    // True if the process is one of these children or of their descendants, or an orphan that one
    // of them has since left to this process. An orphan is recognised by its process group, which
    // no process of the command has.
    [[nodiscard]] bool contains(const process& each) const;

private:
    std::string run_;
    std::vector<process> processes_;
    std::set<pid_t>
        groups_;  // the groups of these children and of this process; empty without children
};

}  // namespace pawl::cli
