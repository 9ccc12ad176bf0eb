#include "password_file.hpp"

#include <pawl/error.hpp>

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace pawl::redis {
namespace {

error unreadable(const std::string& path) {
    return {errc::bad_option, "The password file '" + path +
                                  "' cannot be read: " + std::strerror(errno) +
                                  "; name a file whose first line is the password."};
}

// As a configuration file with a password in it. A device or a pipe has no rights that matter here.
void refuse_open_secret(const std::string& path) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0) throw unreadable(path);
    if (!S_ISREG(about.st_mode) || (about.st_mode & S_IROTH) == 0) return;
    throw error(errc::bad_option, "Everybody may read the password file '" + path +
                                      "'; run: chmod o-r " + path +
                                      ", or name another one with password_file.");
}

}  // namespace

std::string read_password_file(const std::string& path) {
    refuse_open_secret(path);
    errno = 0;
    std::ifstream file(path);
    std::string line;
    const bool read = file && std::getline(file, line);
    if (!read && errno != 0) throw unreadable(path);
    if (line.empty())
        throw error(errc::bad_option, "The first line of the password file '" + path +
                                          "' is empty; write the password there.");
    return line;
}

}  // namespace pawl::redis
