// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "trusted_folder.hpp"

#include "../ui/failure.hpp"

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
                  "'" + path + "', in the path of the default lock file, belongs to uid " +
                      std::to_string(owner) + ", and pawl runs as uid " + std::to_string(user) +
                      "; use the HOME of the user that runs pawl (sudo -H), or name the service "
                      "with --on URL.");
}

void expect_trusted_rights(const std::string& path, mode_t mode, mode_t too_much) {
    if ((mode & too_much) == 0) return;
    throw failure(exit_code::config,
                  "'" + path +
                      "', in the path of the default lock file, is writable by other users, who "
                      "could redirect your locks; run: chmod go-w " +
                      path);
}

// Returns false if nothing exists there.
bool expect_trusted(const fs::path& path, mode_t too_much) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return false;
    expect_trusted_owner(path.string(), status.st_uid);
    if (S_ISLNK(status.st_mode)) {
        if (::stat(path.c_str(), &status) != 0) return false;
        expect_trusted_owner(path.string(), status.st_uid);
    }
    // In a folder with the sticky bit, no user can remove another user's files. But any user may
    // add a journal beside the file, so the sticky bit is not enough for the last folder.
    if (too_much == others && (status.st_mode & S_ISVTX) != 0) return true;
    expect_trusted_rights(path.string(), status.st_mode, too_much);
    return true;
}

}  // namespace

void expect_trusted_path(const std::string& base, const std::string& path) {
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
