// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "control_group.hpp"

#include "processes.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <sstream>

namespace pawl::cli {

namespace {

namespace fs = std::filesystem;

constexpr int max_rounds = 100;  // of moving the members, which may fork meanwhile

// The mount point of cgroup v2: alone, or beside the hierarchies of v1.
const char* mount_point() {
    for (const char* each : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
        struct statfs about {};
        if (::statfs(each, &about) == 0 && about.f_type == CGROUP2_SUPER_MAGIC) return each;
    }
    return nullptr;
}

// The folder of this process's cgroup, or empty.
std::string own_folder() {
    const char* mounted = mount_point();
    if (mounted == nullptr) return {};
    const std::string lines = "\n" + content_of("/proc/self/cgroup");
    const auto at = lines.find("\n0::/");
    if (at == std::string::npos) return {};
    std::string path = lines.substr(at + 4, lines.find('\n', at + 1) - at - 4);
    // The cgroup is outside of the mounted hierarchy.
    if (path.find("/..") != std::string::npos) return {};
    if (path == "/") path.clear();
    return mounted + path;
}

void move_members(const fs::path& from, const fs::path& to) {
    const descriptor file(::open((to / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    std::istringstream members(content_of(from / "cgroup.procs"));
    for (std::string each; file && members >> each;) [[maybe_unused]]
        const auto written = ::write(file.get(), each.data(), each.size());
}

// Removes the cgroups that a `pawl run` inside the command left, and moves all processes to `to`.
void empty_out(const fs::path& path, const fs::path& to) {
    std::error_code ignored;
    for (const auto& each : fs::directory_iterator(path, ignored)) {
        if (!each.is_directory(ignored)) continue;
        empty_out(each.path(), to);
        ::rmdir(each.path().c_str());
    }
    move_members(path, to);
}

}  // namespace

control_group control_group::at(const std::string& path) {
    control_group group;
    if (path.empty()) return group;
    group.folder_ = descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (group) group.path_ = path;
    return group;
}

control_group control_group::make(const std::string& name) {
    const std::string above = own_folder();
    if (above.empty()) return {};
    const std::string path = above + "/" + name;
    if (::mkdir(path.c_str(), 0755) != 0) return {};
    auto group = at(path);
    if (group && ::faccessat(group.number(), "cgroup.kill", W_OK, AT_EACCESS) == 0) return group;
    ::rmdir(path.c_str());
    return {};
}

void control_group::kill() const noexcept {
    const descriptor file(::openat(folder_.get(), "cgroup.kill", O_WRONLY | O_CLOEXEC));
    if (file) [[maybe_unused]]
        const auto written = ::write(file.get(), "1", 1);
}

bool control_group::populated() const {
    return content_of(path_ + "/cgroup.events").find("populated 0") == std::string::npos;
}

std::vector<pid_t> control_group::members() const {
    std::istringstream numbers(content_of(path_ + "/cgroup.procs"));
    return {std::istream_iterator<pid_t>(numbers), {}};
}

void control_group::remove() noexcept {
    if (!*this) return;
    try {
        for (int i = 0; ::rmdir(path_.c_str()) != 0 && errno == EBUSY && i < max_rounds; ++i)
            empty_out(path_, fs::path(path_).parent_path());
    } catch (...) {
        // The cgroup remains, perhaps with processes; that costs only a folder.
    }
    folder_.reset();
}

}  // namespace pawl::cli
