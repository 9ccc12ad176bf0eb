// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "file_identity.hpp"

#include "database.hpp"

#include <pawl/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace pawl::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr mode_t file_mode = 0600;
constexpr mode_t folder_mode = 0700;

[[noreturn]] void throw_bad_folder(const fs::path& folder, const std::string& problem,
                                   int system_error) {
    const bool is_forbidden =
        system_error == EACCES || system_error == EPERM || system_error == EROFS;
    throw error(is_forbidden ? errc::refused : errc::bad_option,
                "The folder " + folder.string() + " of the lock file " + problem +
                    "; make it, or choose another path for the locks.");
}

std::string error_text(int system_error) {
    return std::string(" (") + std::strerror(system_error) + ")";
}

// Makes all missing parent folders; another process may be doing the same.
void make_folders(const fs::path& folder) {
    if (::mkdir(folder.c_str(), folder_mode) == 0 || errno == EEXIST) return;
    if (errno != ENOENT || folder == folder.parent_path())
        throw_bad_folder(folder, "cannot be made" + error_text(errno), errno);
    make_folders(folder.parent_path());
    if (::mkdir(folder.c_str(), folder_mode) != 0 && errno != EEXIST)
        throw_bad_folder(folder, "cannot be made" + error_text(errno), errno);
}

void check_folder(const fs::path& folder) {
    struct stat status {};
    if (::stat(folder.c_str(), &status) != 0) {
        const int stat_error = errno;
        throw_bad_folder(
            folder,
            stat_error == ENOENT ? "does not exist" : "cannot be used" + error_text(stat_error),
            stat_error);
    }
    if (!S_ISDIR(status.st_mode)) throw_bad_folder(folder, "is not a folder", ENOTDIR);
}

bool is_mounted_alone(const std::string& path, const struct statx& file) {
#ifdef STATX_ATTR_MOUNT_ROOT
    if ((file.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0)
        return (file.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
#endif
    std::ifstream mounts("/proc/self/mountinfo");
    return is_mount_point(mounts, path);
}

}  // namespace

std::string path_without_links(const std::string& path) {
    const fs::path given(path);
    std::error_code failed;
    if (const auto real = fs::canonical(given, failed); !failed) return real.string();
    if (fs::is_symlink(fs::symlink_status(given, failed)))
        throw error(errc::bad_option,
                    path + " is a symbolic link to a file that does not exist; name the file.");
    const auto folder = fs::weakly_canonical(given.parent_path(), failed);
    return failed ? path : (folder / given.filename()).string();
}

void expect_same_target(const std::string& given, const std::string& path) {
    for (fs::path given_path = given, resolved_path = path;;
         given_path = given_path.parent_path(), resolved_path = resolved_path.parent_path()) {
        struct stat given_status {};
        struct stat resolved_status {};
        int given_error = ::stat(given_path.c_str(), &given_status) == 0 ? 0 : errno;
        const int resolved_error = ::stat(resolved_path.c_str(), &resolved_status) == 0 ? 0 : errno;
        // Another process may have made the file between the two calls.
        if (given_error == ENOENT && resolved_error == 0)
            given_error = ::stat(given_path.c_str(), &given_status) == 0 ? 0 : errno;
        const bool is_same = given_error == 0 && given_status.st_dev == resolved_status.st_dev &&
                             given_status.st_ino == resolved_status.st_ino;
        if (given_error != resolved_error || (given_error == 0 && !is_same))
            throw error(errc::refused, given + " leads to another file than " + path +
                                           ", which is its path without links; name the file by a "
                                           "path of this mount namespace, not through /proc.");
        // Neither file exists, or neither may be read: their folders decide, or the first use
        // fails.
        if (is_same || given_error != ENOENT || given_path == given_path.parent_path()) return;
    }
}

void prepare_file(const std::string& path, bool make_folder) {
    const auto folder = fs::path(path).parent_path();
    if (make_folder) make_folders(folder);
    check_folder(folder);
    // open(2) is not used, because closing a descriptor of the file would end SQLite's locks on it.
    // If the file cannot be created, SQLite reports why the file cannot be opened.
    if (::mknod(path.c_str(), S_IFREG | file_mode, 0) == 0) return;
    if (is_out_of_space(errno)) throw disk_full(path);
    if (errno != EEXIST) return;
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
        throw error(errc::bad_option, path + " is not a file; name a file for the locks.");
}

// A line is "36 35 98:0 /root /mount/point options …", with spaces written as \040.
bool is_mount_point(std::istream& mountinfo, std::string_view path) {
    std::string escaped;
    for (const char each : path) {
        if (each == ' ' || each == '\t' || each == '\n' || each == '\\') {
            const auto code = static_cast<unsigned char>(each);
            escaped += {'\\', static_cast<char>('0' + code / 64),
                        static_cast<char>('0' + code / 8 % 8), static_cast<char>('0' + code % 8)};
        } else {
            escaped += each;
        }
    }
    for (std::string line; std::getline(mountinfo, line);) {
        std::istringstream fields(line);
        std::string id, parent, device, root, mount_point;
        if (fields >> id >> parent >> device >> root >> mount_point && mount_point == escaped)
            return true;
    }
    return false;
}

file_identity::file_identity(std::string given, std::string path)
    : given_(std::move(given)), path_(std::move(path)), files_(read().files) {}

file_identity::state file_identity::current_state() const {
    const auto view_seen = read();
    if (view_seen.files != files_) return state::replaced;
    if (view_seen.linked) return state::linked;
    return view_seen.mounted ? state::mounted : state::same;
}

void file_identity::refuse_second_name(state view_seen) const {
    if (view_seen == state::linked)
        throw error(errc::refused,
                    path_ +
                        " has several hard links, and programs that use another of its names "
                        "would not see its locks; remove the other names (find them with find "
                        "FOLDER -samefile " +
                        path_ + ").");
    if (view_seen == state::mounted)
        throw error(errc::refused,
                    path_ +
                        " is mounted without its folder, so that programs outside would not "
                        "see its locks; mount the folder " +
                        fs::path(path_).parent_path().string() + " instead of the file.");
}

file_identity::file_view file_identity::read() const {
    file_view view_seen;
    struct statx file {};
    // The given path is used, because a link in it may lead to another file by now.
    if (::statx(AT_FDCWD, given_.c_str(), 0, STATX_INO | STATX_NLINK, &file) == 0) {
        view_seen.linked = file.stx_nlink > 1;
        view_seen.mounted = is_mounted_alone(path_, file);
        view_seen.files[0] = {::makedev(file.stx_dev_major, file.stx_dev_minor),
                              static_cast<ino_t>(file.stx_ino)};
    }
    struct stat status {};
    if (::stat((path_ + "-wal").c_str(), &status) == 0)
        view_seen.files[1] = {status.st_dev, status.st_ino};
    if (::stat((path_ + "-shm").c_str(), &status) == 0)
        view_seen.files[2] = {status.st_dev, status.st_ino};
    return view_seen;
}

bool file_rights::others_may_open() const noexcept {
    const bool group_may = (file & 060) != 0 && (folder & 010) != 0;
    const bool all_may = (file & 06) != 0 && (folder & 01) != 0;
    return group_may || all_may;
}

// In a folder with the sticky bit, others cannot remove the file, but can put a log beside it.
bool file_rights::others_may_replace() const noexcept { return (folder & 022) != 0; }

file_rights rights_of(const std::string& path) {
    file_rights rights;
    struct stat file {};
    if (::stat(path.c_str(), &file) == 0) rights.file = file.st_mode & 07777;
    const auto folder = fs::path(path).parent_path();
    if (::stat(folder.c_str(), &file) == 0) rights.folder = file.st_mode & 07777;
    return rights;
}

}  // namespace pawl::sqlite
