#include "password_file.hpp"

#include "../core/limited_file.hpp"

#include <pawl/error.hpp>

#include <sys/stat.h>
#include <sys/statvfs.h>

namespace pawl::redis {
namespace {

constexpr std::size_t longest_password = 65536;

// As a configuration file with a password in it. The secrets of a container are often mounted so
// that everybody may read them and nobody can change that: the container is their guard.
bool is_mounted_read_only(const std::string& path) {
    struct statvfs about {};
    return ::statvfs(path.c_str(), &about) == 0 && (about.f_flag & ST_RDONLY) != 0;
}

// What cannot be looked at cannot be read, either.
void refuse_open_secret(const std::string& path) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0) return;
    if (!S_ISREG(about.st_mode) || (about.st_mode & S_IROTH) == 0) return;
    if (is_mounted_read_only(path)) return;
    throw error(errc::bad_option, "Everybody may read the password file '" + path +
                                      "'; run: chmod o-r " + path +
                                      ", or name another one with password_file.");
}

}  // namespace

std::string read_password_file(const std::string& path) {
    refuse_open_secret(path);
    auto line = core::first_line_of(path, "The password file", longest_password);
    if (line.empty())
        throw error(errc::bad_option, "The first line of the password file '" + path +
                                          "' is empty; write the password there.");
    return line;
}

}  // namespace pawl::redis
