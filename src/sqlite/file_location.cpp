// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "file_location.hpp"

#include "file_identity.hpp"

#include <pawl/detail/file_systems.hpp>
#include <pawl/error.hpp>

#include "core/util/fork_mark.hpp"

#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

namespace pawl::sqlite {
namespace {

constexpr auto local_file_systems = std::to_array<detail::file_system>({
    {0xef53, "ext4"},
    {0x58465342, "xfs"},
    {0x9123683e, "btrfs"},
    {0x01021994, "tmpfs"},
    {0x794c7630, "overlayfs"},
    {0x2fc12fc1, "zfs"},
    {0xf2f52010, "f2fs"},
    {0xca451a4e, "bcachefs"},
    {0x4d44, "vfat"},
    {0x5346544e, "ntfs"},
    {0x858458f6, "ramfs"},
});

struct open_file {
    core::fork_mark made_in;
    std::set<open_mark*> connections;
    std::optional<open_mark::file_number> index;
};
std::mutex open_files_mutex;
std::map<open_mark::file_number, open_file> open_files;

}  // namespace

std::string_view shared_file_system(unsigned long magic) noexcept {
    return detail::shared_file_system(magic);
}

std::string file_system_name(unsigned long magic) {
    magic &= 0xffffffffUL;
    if (const auto name = shared_file_system(magic); !name.empty()) return std::string(name);
    for (const auto& each : local_file_systems)
        if (each.magic == magic) return std::string(each.name);
    std::array<char, 16> hex{};
    const auto end = std::to_chars(hex.data(), hex.data() + hex.size(), magic, 16).ptr;
    return "file system 0x" + std::string(hex.data(), end);
}

unsigned long file_system_of(const std::string& path) {
    for (std::filesystem::path folder = path;; folder = folder.parent_path()) {
        struct statfs status {};
        if (::statfs(folder.c_str(), &status) == 0)
            return static_cast<unsigned long>(status.f_type);
        if (folder == folder.parent_path()) return 0;
    }
}

void refuse_shared(const std::string& path, unsigned long magic) {
    if (const auto name = shared_file_system(magic); !name.empty())
        throw error(errc::refused,
                    path + " is on " + std::string(name) +
                        ", where SQLite cannot keep two hosts apart; choose a path on a "
                        "local disk, or a server such as redis://.");
}

namespace {

std::string resolved_path(const std::string& path) {
    const auto absolute_path = std::filesystem::absolute(path);
    // Behind a symbolic link, ".." is not the folder that precedes it in the path.
    const bool has_parent_steps =
        std::find(absolute_path.begin(), absolute_path.end(), "..") != absolute_path.end();
    if (!has_parent_steps) return absolute_path.lexically_normal().string();
    const auto named_folder = absolute_path.parent_path();
    const auto folder = std::filesystem::weakly_canonical(named_folder);
    if (std::filesystem::exists(named_folder))
        expect_same_target(named_folder.string(), folder.string());
    return (folder / absolute_path.filename()).string();
}

}  // namespace

std::string checked_path(const std::string& path) {
    if (path.empty())
        throw error(errc::bad_option,
                    "The path of the lock file is empty; name a file, such as "
                    "/var/lib/NAME/locks.db.");
    if (path.find('\0') != std::string::npos)
        throw error(errc::bad_option,
                    "The path of the lock file contains a zero byte; leave it out.");
    if (path == ":memory:")
        throw error(errc::bad_option,
                    ":memory: is no file; for locks within one process use memory: alone.");
    if (path.starts_with("file:"))
        throw error(errc::bad_option, "SQLite's file: URIs are not supported; give the path.");
    if (path.back() == '/')
        throw error(errc::bad_option,
                    path + " is a folder; name a file in it, such as " + path + "locks.db.");
    try {
        return resolved_path(path);
    } catch (const std::filesystem::filesystem_error& e) {
        throw error(errc::refused, path + " cannot be resolved: " + e.code().message() +
                                       "; check the folders of the path and their rights.");
    }
}

namespace {

std::string link_target(const char* path) {
    std::error_code ignored;
    return std::filesystem::read_symlink(path, ignored).string();
}

// A process in its own time namespace reads another boot clock than the other processes of the
// host. A lease that has ended for one of them still runs for the other.
void refuse_other_boot_clock() {
    const auto refuse_because = [](const std::string& reason) {
        throw error(errc::unsupported,
                    "This process " + reason +
                        "; run it in the host's time namespace, or use a server such as redis://.");
    };
    const auto time = link_target("/proc/self/ns/time");
    // The offsets are those of the children, and valid for this process only in the same namespace.
    if (time != link_target("/proc/self/ns/time_for_children"))
        refuse_because("has made a time namespace for its children");
    std::ifstream offsets("/proc/self/timens_offsets");
    if (!offsets && !time.empty())
        refuse_because(
            "cannot read /proc/self/timens_offsets, which says whether its boot clock is the "
            "host's");
    for (std::string clock, seconds, nanoseconds; offsets >> clock >> seconds >> nanoseconds;) {
        if ((clock == "boottime" || clock == "7") && (seconds != "0" || nanoseconds != "0"))
            refuse_because("runs in a time namespace with a boot clock of its own");
    }
}

}  // namespace

std::string current_boot_id() {
    refuse_other_boot_clock();
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    if (!(file >> id))
        throw error(errc::unsupported,
                    "/proc/sys/kernel/random/boot_id cannot be read; mount /proc, or "
                    "use a server such as redis://.");
    return id;
}

open_mark::open_mark(const std::string& path, std::function<void()> recheck_files)
    : recheck_files_(std::move(recheck_files)) {
    struct stat file {};
    ::stat(path.c_str(), &file);
    file_ = {file.st_dev, file.st_ino};
    const std::lock_guard lock(open_files_mutex);
    auto& entry = open_files[file_];
    if (!entry.connections.empty() && entry.made_in.is_forked())
        throw error(errc::unsupported, "This process is a fork of one that has " + path +
                                           " open; fork before the first client is made, or exec.");
    entry.made_in = core::fork_mark();
    entry.connections.insert(this);
}

open_mark::~open_mark() {
    const std::lock_guard lock(open_files_mutex);
    const auto position = open_files.find(file_);
    position->second.connections.erase(this);
    if (position->second.connections.empty()) open_files.erase(position);
}

bool open_mark::shares_index(const file_number& index_at_path) {
    const std::lock_guard lock(open_files_mutex);
    auto& entry = open_files[file_];
    if (!entry.index || entry.connections.size() == 1) entry.index = index_at_path;
    return entry.index == index_at_path;
}

void open_mark::warn_others() {
    const std::lock_guard lock(open_files_mutex);
    for (auto* each : open_files[file_].connections)
        if (each != this) each->recheck_files_();
}

}  // namespace pawl::sqlite
