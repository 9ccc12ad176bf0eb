// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The processes of a running command: its process group, the processes that left the group, and its
// cgroup if it has one. The supervisor must be the subreaper of its descendants.
#pragma once

#include "control_group.hpp"
#include "descendants.hpp"
#include "inherited_children.hpp"

#include <optional>
#include <vector>

namespace pawl::cli {

class command_processes {
public:
    // `lock_process` and `inherited` are children of `supervisor` that do not belong to the
    // command.
    command_processes(pid_t supervisor, pid_t lock_process, const inherited_children& inherited)
        : supervisor_(supervisor), lock_process_(lock_process), inherited_children_(inherited) {}

    // `leader` is the leader of the command's process group.
    void set_leader(pid_t leader, control_group cgroup);
    // The leader has ended and is a zombie.
    void note_leader_ended() noexcept { leader_ended_ = true; }
    [[nodiscard]] control_group& cgroup() noexcept { return cgroup_; }

    // True if processes that left the group cannot be seen, because /proc shows another PID
    // namespace and there is no cgroup. An ended group is then known to be empty only after its
    // leader was reaped.
    [[nodiscard]] bool sees_only_group() const;
    // Empty if the processes are not known, because this process cannot open files in /proc.
    [[nodiscard]] std::optional<std::vector<process>> living() const;

    // Sends SIGKILL to all processes, by every available means.
    void kill() const;
    // Signals the group and the processes that left it. Returns the processes that this user may
    // not signal.
    std::vector<process> signal(int number) const;
    // Signals only the group. Returns false if the group has processes, and this user may signal
    // none of them.
    bool signal_group(int number) const noexcept;

private:
    [[nodiscard]] bool sees_proc() const;
    [[nodiscard]] std::vector<process> living_without_proc() const;
    [[nodiscard]] process_predicate excluded_processes() const;

    pid_t supervisor_;
    pid_t lock_process_;
    const inherited_children& inherited_children_;
    pid_t leader_ = 0;
    bool leader_ended_ = false;
    control_group cgroup_;
    mutable std::optional<bool> sees_proc_;
};

}  // namespace pawl::cli
