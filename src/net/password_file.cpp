// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "password_file.hpp"

#include "../core/util/limited_file.hpp"

#include <pawl/error.hpp>

#include <sys/stat.h>
#include <sys/statvfs.h>

namespace pawl::net {
namespace {

constexpr std::size_t max_password_size = 65536;

// A container's secrets are often mounted read-only with a mode that lets everybody read them.
// Nobody can change that mode; the container itself protects them.
bool is_mounted_read_only(const std::string& path) {
    struct statvfs status {};
    return ::statvfs(path.c_str(), &status) == 0 && (status.f_flag & ST_RDONLY) != 0;
}

// Ignores an error of `stat`: reading the file then fails, too.
void check_permissions(const std::string& path, const std::string& secret,
                       const std::string& option) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return;
    if (!S_ISREG(status.st_mode) || (status.st_mode & S_IROTH) == 0) return;
    if (is_mounted_read_only(path)) return;
    throw error(errc::bad_option, "Everybody may read the " + secret + " file '" + path +
                                      "'; run: chmod o-r " + path + ", or name another one with " +
                                      option + ".");
}

}  // namespace

std::string read_secret_file(const std::string& path, const std::string& secret,
                             const std::string& option) {
    check_permissions(path, secret, option);
    auto line = core::first_line_of(path, "The " + secret + " file", max_password_size);
    if (line.empty())
        throw error(errc::bad_option, "The first line of the " + secret + " file '" + path +
                                          "' is empty; write the " + secret + " there.");
    return line;
}

}  // namespace pawl::net
