#include "place.hpp"

#include "file_identity.hpp"

#include <pawl/error.hpp>

#include "core/fork_mark.hpp"

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

struct known {
    unsigned long magic;
    std::string_view name;
};

// From <linux/magic.h> and the file systems' own sources.
constexpr auto shared = std::to_array<known>({
    {0x6969, "NFS"},        {0x517b, "SMB"},          {0xff534d42, "CIFS"},
    {0xfe534d42, "SMB2"},   {0x01021997, "9P"},       {0x65735546, "FUSE"},
    {0x5346414f, "AFS"},    {0x6b414653, "AFS"},      {0x73757245, "Coda"},
    {0x00c36400, "Ceph"},   {0x0bd00bd0, "Lustre"},   {0x01161970, "GFS2"},
    {0x7461636f, "OCFS2"},  {0x47504653, "GPFS"},     {0x564c, "NCP"},
    {0xaad7aaea, "PanFS"},  {0x20030528, "OrangeFS"}, {0x19830326, "BeeGFS"},
    {0xbacbacbc, "vmhgfs"}, {0x786f4256, "vboxsf"},   {0x7c7c6673, "prl_fs"},
});

constexpr auto local = std::to_array<known>({
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

template <std::size_t Size>
std::string_view find(const std::array<known, Size>& table, unsigned long magic) {
    for (const auto& one : table)
        if (one.magic == magic) return one.name;
    return {};
}

struct opened {
    std::uint32_t process = 0;  // its fork generation
    std::set<open_mark*> connections;
    std::optional<open_mark::file_number> index;
};
std::mutex marks;
std::map<open_mark::file_number, opened> open_files;

}  // namespace

std::string_view shared_file_system(unsigned long magic) noexcept {
    return find(shared, magic & 0xffffffffUL);
}

std::string file_system_name(unsigned long magic) {
    magic &= 0xffffffffUL;
    if (const auto name = find(shared, magic); !name.empty()) return std::string(name);
    if (const auto name = find(local, magic); !name.empty()) return std::string(name);
    std::array<char, 16> hex{};
    const auto end = std::to_chars(hex.data(), hex.data() + hex.size(), magic, 16).ptr;
    return "file system 0x" + std::string(hex.data(), end);
}

unsigned long file_system_of(const std::string& path) {
    for (std::filesystem::path at = path;; at = at.parent_path()) {
        struct statfs what {};
        if (::statfs(at.c_str(), &what) == 0) return static_cast<unsigned long>(what.f_type);
        if (at == at.parent_path()) return 0;
    }
}

void refuse_shared(const std::string& path, unsigned long magic) {
    if (const auto name = shared_file_system(magic); !name.empty())
        throw error(errc::refused,
                    path + " is on " + std::string(name) +
                        ", where SQLite cannot keep two hosts apart; choose a path on a "
                        "local disk, or a server such as redis://.");
}

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
        throw error(errc::bad_option,
                    "SQLite's file: addresses are not understood here; give the path.");
    if (path.back() == '/')
        throw error(errc::bad_option,
                    path + " is a folder; name a file in it, such as " + path + "locks.db.");
    const auto whole = std::filesystem::absolute(path);
    // Behind a symbolic link, ".." is not the folder that stands before it.
    const bool climbs = std::find(whole.begin(), whole.end(), "..") != whole.end();
    if (!climbs) return whole.lexically_normal().string();
    const auto named = whole.parent_path();
    const auto folder = std::filesystem::weakly_canonical(named);
    if (std::filesystem::exists(named)) expect_same_place(named.string(), folder.string());
    return (folder / whole.filename()).string();
}

namespace {

std::string link_target(const char* path) {
    std::error_code none;
    return std::filesystem::read_symlink(path, none).string();
}

// In a time namespace of its own, a process reads another boot clock than the others on the host:
// what one of them calls over is still held for the other.
void refuse_other_boot_clock() {
    const auto refuse = [](const std::string& why) {
        throw error(errc::unsupported,
                    "This process " + why +
                        "; run it in the host's time namespace, or use a server such as redis://.");
    };
    const auto time = link_target("/proc/self/ns/time");
    // The offsets are those of the children, which are ours only where the namespace is the same.
    if (time != link_target("/proc/self/ns/time_for_children"))
        refuse("has made a time namespace for its children");
    std::ifstream offsets("/proc/self/timens_offsets");
    if (!offsets && !time.empty())
        refuse(
            "cannot read /proc/self/timens_offsets, which says whether its boot clock is the "
            "host's");
    for (std::string clock, seconds, nanoseconds; offsets >> clock >> seconds >> nanoseconds;) {
        if ((clock == "boottime" || clock == "7") && (seconds != "0" || nanoseconds != "0"))
            refuse("runs in a time namespace with a boot clock of its own");
    }
}

}  // namespace

std::string this_boot() {
    refuse_other_boot_clock();
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    if (!(file >> id))
        throw error(errc::unsupported,
                    "/proc/sys/kernel/random/boot_id cannot be read; mount /proc, or "
                    "use a server such as redis://.");
    return id;
}

open_mark::open_mark(const std::string& path, std::function<void()> look_again)
    : look_again_(std::move(look_again)) {
    struct stat file {};
    ::stat(path.c_str(), &file);
    file_ = {file.st_dev, file.st_ino};
    const std::lock_guard lock(marks);
    auto& known = open_files[file_];
    if (!known.connections.empty() && known.process != core::fork_generation())
        throw error(errc::unsupported, "This process is a fork of one that has " + path +
                                           " open; fork before the first client is made, or exec.");
    known.process = core::fork_generation();
    known.connections.insert(this);
}

open_mark::~open_mark() {
    const std::lock_guard lock(marks);
    const auto known = open_files.find(file_);
    known->second.connections.erase(this);
    if (known->second.connections.empty()) open_files.erase(known);
}

bool open_mark::shares_index(const file_number& at_the_path) {
    const std::lock_guard lock(marks);
    auto& known = open_files[file_];
    if (!known.index || known.connections.size() == 1) known.index = at_the_path;
    return known.index == at_the_path;
}

void open_mark::warn_others() {
    const std::lock_guard lock(marks);
    for (auto* each : open_files[file_].connections)
        if (each != this) each->look_again_();
}

}  // namespace pawl::sqlite
