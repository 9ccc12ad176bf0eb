// The children that this process had before it became pawl, as in
// `sh -c 'sidecar & exec pawl run x -- command'`, the usual entrypoint of a container. They and
// what they start are no part of the command.
#pragma once

#include "processes.hpp"

#include <set>
#include <string>
#include <vector>

namespace pawl::cli {

class inherited_children {
public:
    // Those that the calling process has now, with all below them. `run` is the name that the
    // command's processes will have in their environment.
    explicit inherited_children(std::string run);

    // It is one of them, or an orphan that one of them has left to us since then. An orphan is
    // known by its process group; the command's processes are not in that group.
    [[nodiscard]] bool contains(const process& each) const;

private:
    std::string run_;
    std::vector<process> known_;
    std::set<pid_t> groups_;  // theirs and ours; empty without children
};

}  // namespace pawl::cli
