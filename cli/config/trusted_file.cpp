// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "trusted_file.hpp"

#include "../ui/descriptor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstring>

namespace pawl::cli {

namespace {

constexpr std::size_t most_bytes = 65536;

void check_owner(const std::string& path, uid_t owner) {
    const auto user = ::geteuid();
    if (owner == user || owner == 0) return;
    throw failure(exit_code::config, "'" + path + "' belongs to uid " + std::to_string(owner) +
                                         ", and pawl runs as uid " + std::to_string(user) +
                                         "; use the HOME of the user that runs pawl (sudo -H), or "
                                         "change the owner of the file.");
}

void check_rights(const std::string& path, mode_t rights) {
    if ((rights & (S_IWGRP | S_IWOTH)) == 0) return;
    throw failure(
        exit_code::config,
        "'" + path +
            "' is writable by other users, who could redirect your locks; run: chmod go-w " + path);
}

std::string read_all(int file, const std::string& path) {
    std::string text;
    std::array<char, 4096> block{};
    while (true) {
        const auto size = ::read(file, block.data(), block.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) throw system_failure("Cannot read '" + path + "'");
        if (size == 0) return text;
        text.append(block.data(), static_cast<std::size_t>(size));
        if (text.size() > most_bytes)
            throw failure(
                exit_code::config,
                "'" + path + "' is longer than 64 KiB; shorten it, or name another file.");
    }
}

}  // namespace

std::optional<trusted_text> read_trusted(const std::string& path) {
    // O_NONBLOCK: opening a FIFO must not block.
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (file.get() < 0) {
        if (errno == ENOENT || errno == ENOTDIR) return {};
        const int problem = errno;
        if (problem != EACCES && problem != EPERM)
            throw system_failure("Cannot open '" + path + "'");
        throw unreadable_file(exit_code::no_input,
                              "Cannot read '" + path + "': " + std::strerror(problem) +
                                  "; correct its permissions, or use --on URL.");
    }
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) throw system_failure("Cannot examine '" + path + "'");
    if (path == "/dev/null" && S_ISCHR(status.st_mode)) return trusted_text{};
    if (!S_ISREG(status.st_mode))
        throw failure(exit_code::config,
                      "'" + path + "' is not a regular file; use a regular file.");
    check_owner(path, status.st_uid);
    check_rights(path, status.st_mode);
    return trusted_text{.text = read_all(file.get(), path),
                        .readable_by_others = (status.st_mode & S_IROTH) != 0};
}

}  // namespace pawl::cli
