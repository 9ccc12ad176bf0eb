#include "trusted_folder.hpp"

#include "failure.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace pawl::cli {

namespace {

namespace fs = std::filesystem;

constexpr mode_t others = S_IWOTH;
constexpr mode_t group_and_others = S_IWGRP | S_IWOTH;

void expect_trusted_owner(const std::string& path, uid_t owner) {
    const auto user = ::geteuid();
    if (owner == user || owner == 0) return;
    throw failure(exit_code::config,
                  "'" + path + "', on the way to the default lock file, belongs to uid " +
                      std::to_string(owner) + ", and pawl runs as uid " + std::to_string(user) +
                      "; use that user's own HOME (sudo -H), or name the place with --on URL.");
}

void expect_trusted_rights(const std::string& path, mode_t mode, mode_t too_much) {
    if ((mode & too_much) == 0) return;
    throw failure(exit_code::config, "'" + path +
                                         "', on the way to the default lock file, can be written "
                                         "by other users, who could move your locks elsewhere; "
                                         "run: chmod go-w " +
                                         path);
}

// False: nothing is there.
bool expect_trusted(const fs::path& path, mode_t too_much) {
    struct stat about {};
    if (::lstat(path.c_str(), &about) != 0) return false;
    expect_trusted_owner(path.string(), about.st_uid);
    if (S_ISLNK(about.st_mode)) {
        if (::stat(path.c_str(), &about) != 0) return false;
        expect_trusted_owner(path.string(), about.st_uid);
    }
    // In a folder with the sticky bit nobody removes what belongs to another. But anybody may put a
    // log beside a file, so it is no excuse for the last folder.
    if (too_much == others && (about.st_mode & S_ISVTX) != 0) return true;
    expect_trusted_rights(path.string(), about.st_mode, too_much);
    return true;
}

}  // namespace

void expect_trusted_way(const std::string& base, const std::string& path) {
    const fs::path whole(path);
    fs::path at(base);
    if (!expect_trusted(at, others)) return;
    for (const auto& name : whole.parent_path().lexically_relative(at)) {
        at /= name;
        const bool last = at == whole.parent_path();
        if (!expect_trusted(at, last ? group_and_others : others)) return;
    }
    expect_trusted(whole, group_and_others);
}

}  // namespace pawl::cli
