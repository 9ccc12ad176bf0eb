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

constexpr mode_t for_its_owner = 0600;
constexpr mode_t folder_for_its_owner = 0700;

[[noreturn]] void refuse_folder(const fs::path& folder, const std::string& wrong, int why) {
    const bool forbidden = why == EACCES || why == EPERM || why == EROFS;
    throw error(forbidden ? errc::refused : errc::bad_option,
                "The folder " + folder.string() + " of the lock file " + wrong +
                    "; make it, or choose another path for the locks.");
}

std::string because(int system_error) {
    return std::string(" (") + std::strerror(system_error) + ")";
}

// All that are missing on the way; another process may be doing the same.
void make_folders(const fs::path& folder) {
    if (::mkdir(folder.c_str(), folder_for_its_owner) == 0 || errno == EEXIST) return;
    if (errno != ENOENT || folder == folder.parent_path())
        refuse_folder(folder, "cannot be made" + because(errno), errno);
    make_folders(folder.parent_path());
    if (::mkdir(folder.c_str(), folder_for_its_owner) != 0 && errno != EEXIST)
        refuse_folder(folder, "cannot be made" + because(errno), errno);
}

void check_folder(const fs::path& folder) {
    struct stat found {};
    if (::stat(folder.c_str(), &found) != 0) {
        const int why = errno;
        refuse_folder(folder, why == ENOENT ? "does not exist" : "cannot be used" + because(why),
                      why);
    }
    if (!S_ISDIR(found.st_mode)) refuse_folder(folder, "is not a folder", ENOTDIR);
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

void expect_same_place(const std::string& given, const std::string& path) {
    for (fs::path from = given, to = path;; from = from.parent_path(), to = to.parent_path()) {
        struct stat named {};
        struct stat resolved {};
        const int failed = ::stat(from.c_str(), &named) == 0 ? 0 : errno;
        const int failed_too = ::stat(to.c_str(), &resolved) == 0 ? 0 : errno;
        const bool same =
            failed == 0 && named.st_dev == resolved.st_dev && named.st_ino == resolved.st_ino;
        if (failed != failed_too || (failed == 0 && !same))
            throw error(errc::refused, given + " leads to another file than " + path +
                                           ", which is its path without links; name the file by a "
                                           "path of this mount namespace, not through /proc.");
        // Neither is there, or neither may be looked at: their folders decide, or the use tells.
        if (same || failed != ENOENT || from == from.parent_path()) return;
    }
}

void prepare_file(const std::string& path, bool make_folder) {
    const auto folder = fs::path(path).parent_path();
    if (make_folder) make_folders(folder);
    check_folder(folder);
    // Not open(2): closing a descriptor of the file would end the locks that SQLite has on it. If
    // it cannot be made, SQLite finds out why it cannot be opened.
    if (::mknod(path.c_str(), S_IFREG | for_its_owner, 0) == 0) return;
    if (is_out_of_space(errno)) throw disk_full(path);
    if (errno != EEXIST) return;
    struct stat found {};
    if (::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode))
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
        std::string id, parent, device, root, point;
        if (fields >> id >> parent >> device >> root >> point && point == escaped) return true;
    }
    return false;
}

file_identity::file_identity(std::string given, std::string path)
    : given_(std::move(given)), path_(std::move(path)), files_(read().files) {}

file_identity::state file_identity::look() const {
    const auto seen = read();
    if (seen.files != files_) return state::replaced;
    if (seen.linked) return state::linked;
    return seen.mounted ? state::mounted : state::same;
}

void file_identity::refuse_second_name(state seen) const {
    if (seen == state::linked)
        throw error(errc::refused,
                    path_ +
                        " has several hard links, and programs that use another of its names "
                        "would not see its locks; remove the other names (find them with find "
                        "FOLDER -samefile " +
                        path_ + ").");
    if (seen == state::mounted)
        throw error(errc::refused,
                    path_ +
                        " is mounted without its folder, so that programs outside would not "
                        "see its locks; mount the folder " +
                        fs::path(path_).parent_path().string() + " instead of the file.");
}

file_identity::view file_identity::read() const {
    view seen;
    struct statx file {};
    // Through the path that was given: a link may lead elsewhere by now.
    if (::statx(AT_FDCWD, given_.c_str(), 0, STATX_INO | STATX_NLINK, &file) == 0) {
        seen.linked = file.stx_nlink > 1;
        seen.mounted = is_mounted_alone(path_, file);
        seen.files[0] = {::makedev(file.stx_dev_major, file.stx_dev_minor),
                         static_cast<ino_t>(file.stx_ino)};
    }
    struct stat beside {};
    if (::stat((path_ + "-wal").c_str(), &beside) == 0)
        seen.files[1] = {beside.st_dev, beside.st_ino};
    if (::stat((path_ + "-shm").c_str(), &beside) == 0)
        seen.files[2] = {beside.st_dev, beside.st_ino};
    return seen;
}

bool file_rights::others_may_open() const noexcept {
    const bool group = (file & 060) != 0 && (folder & 010) != 0;
    const bool all = (file & 06) != 0 && (folder & 01) != 0;
    return group || all;
}

// In a folder with the sticky bit nobody removes another's file, but may put a log beside it.
bool file_rights::others_may_replace() const noexcept { return (folder & 022) != 0; }

file_rights rights_of(const std::string& path) {
    file_rights found;
    struct stat file {};
    if (::stat(path.c_str(), &file) == 0) found.file = file.st_mode & 07777;
    const auto folder = fs::path(path).parent_path();
    if (::stat(folder.c_str(), &file) == 0) found.folder = file.st_mode & 07777;
    return found;
}

}  // namespace pawl::sqlite
