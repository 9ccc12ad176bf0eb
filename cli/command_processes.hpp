// Everything of a running command: its process group, what left the group, and its cgroup where it
// has one. The supervisor must be the subreaper of its descendants.
#pragma once

#include "control_group.hpp"
#include "descendants.hpp"
#include "inherited_children.hpp"

#include <optional>
#include <vector>

namespace pawl::cli {

class command_processes {
public:
    // `keeper` and `inherited` are children of `supervisor` that are no part of the command.
    command_processes(pid_t supervisor, pid_t keeper, const inherited_children& inherited)
        : supervisor_(supervisor), keeper_(keeper), inherited_(inherited) {}

    // `leader` is that of the command's process group.
    void begin(pid_t leader, control_group cgroup);
    // The leader is a zombie.
    void leader_ended() noexcept { leader_ended_ = true; }
    [[nodiscard]] control_group& cgroup() noexcept { return cgroup_; }

    // What left the group cannot be seen: /proc is that of another PID namespace, and there is no
    // cgroup. A group that ended is then seen to be empty only if its leader has been reaped.
    [[nodiscard]] bool blind() const;
    // Nothing: it is not known, because this process cannot open the files that tell it.
    [[nodiscard]] std::optional<std::vector<process>> living() const;

    // SIGKILL to all, by every means.
    void kill() const;
    // To the group and to all that left it. Returns those that this user may not signal.
    std::vector<process> signal(int number) const;
    // Only to the group. False: there are processes in it, and this user may not signal them.
    bool signal_group(int number) const noexcept;

private:
    [[nodiscard]] bool sees_proc() const;
    [[nodiscard]] std::vector<process> numbers() const;
    [[nodiscard]] membership not_of_the_command() const;

    pid_t supervisor_;
    pid_t keeper_;
    const inherited_children& inherited_;
    pid_t leader_ = 0;
    bool leader_ended_ = false;
    control_group cgroup_;
    mutable std::optional<bool> sees_proc_;
};

}  // namespace pawl::cli
