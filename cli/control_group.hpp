// A cgroup (v2) for one command. Whatever the command starts is born in it, so one write kills all
// of it, also when the process that started it is gone.
#pragma once

#include "descriptor.hpp"

#include <sys/types.h>
#include <string>
#include <vector>

namespace pawl::cli {

class control_group {
public:
    // None.
    control_group() = default;
    // Made below the cgroup of this process; none where that is not allowed, or the kernel has no
    // cgroup.kill (before Linux 5.14).
    [[nodiscard]] static control_group make(const std::string& name);
    // The one at `path`, which another process made; none for an empty path.
    [[nodiscard]] static control_group at(const std::string& path);

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(folder_); }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    // The folder, for clone3.
    [[nodiscard]] int number() const noexcept { return folder_.get(); }

    // SIGKILL to all in it and below it, whoever they run as.
    void kill() const noexcept;
    // Something lives in it or below it; true also where that cannot be read.
    [[nodiscard]] bool populated() const;
    [[nodiscard]] std::vector<pid_t> members() const;
    // Whatever lives in it goes back to the cgroup above.
    void remove() noexcept;

private:
    std::string path_;
    descriptor folder_;
};

}  // namespace pawl::cli
