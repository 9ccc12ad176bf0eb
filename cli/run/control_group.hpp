// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A cgroup (v2) for one command. Every process of the command is born in it, so one write kills
// them all, even if the process that started them has ended.
#pragma once

#include "../ui/descriptor.hpp"

#include <sys/types.h>
#include <string>
#include <vector>

namespace pawl::cli {

class control_group {
public:
    // No cgroup.
    control_group() = default;
    // Creates a cgroup below that of this process. Returns none if that is not permitted, or if the
    // kernel has no cgroup.kill (before Linux 5.14).
    [[nodiscard]] static control_group make(const std::string& name);
    // The cgroup at `path`, which another process created; none for an empty path.
    [[nodiscard]] static control_group at(const std::string& path);

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(folder_); }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    // The descriptor of the folder, for clone3.
    [[nodiscard]] int number() const noexcept { return folder_.get(); }

    // Sends SIGKILL to all processes in the cgroup and below it, whichever users they run as.
    void kill() const noexcept;
    // True if a process lives in the cgroup or below it, or if that is not known because the file
    // cannot be read.
    [[nodiscard]] bool populated() const;
    // The processes in the cgroup itself, without those below it.
    [[nodiscard]] std::vector<pid_t> members() const;
    // Moves the remaining processes to the parent cgroup and removes this one.
    void remove() noexcept;

private:
    std::string path_;
    descriptor folder_;
};

}  // namespace pawl::cli
