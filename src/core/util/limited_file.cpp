// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "limited_file.hpp"

#include <pawl/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace pawl::core {
namespace {

class open_file {
public:
    explicit open_file(const std::string& path)
        : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) {}
    ~open_file() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    open_file(const open_file&) = delete;
    open_file& operator=(const open_file&) = delete;
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

private:
    int descriptor_;
};

[[noreturn]] void throw_bad_file(const std::string& subject, const std::string& path,
                                 const std::string& problem) {
    throw error(errc::bad_option, subject + " '" + path + "' " + problem);
}

[[noreturn]] void throw_unreadable(const std::string& subject, const std::string& path,
                                   int system_error) {
    throw_bad_file(subject, path,
                   std::string("cannot be read (") + std::strerror(system_error) +
                       "); name a file that this user may read.");
}

void expect_regular(const struct stat& status, const std::string& subject,
                    const std::string& path) {
    if (!S_ISREG(status.st_mode)) throw_bad_file(subject, path, "is no regular file; name one.");
}

}  // namespace

std::string first_line_of(const std::string& path, const std::string& subject, std::size_t limit) {
    const open_file file(path);
    struct stat status {};
    if (file.descriptor() < 0 || ::fstat(file.descriptor(), &status) != 0)
        throw_unreadable(subject, path, errno);
    expect_regular(status, subject, path);
    std::string text(limit + 1, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
        const auto bytes_read = ::read(file.descriptor(), text.data() + size, text.size() - size);
        if (bytes_read < 0 && errno == EINTR) continue;
        if (bytes_read < 0) throw_unreadable(subject, path, errno);
        if (bytes_read == 0) break;
        size += static_cast<std::size_t>(bytes_read);
    }
    const auto end = std::min(text.find('\n'), size);
    if (end > limit)
        throw_bad_file(subject, path,
                       "has a first line of more than " + std::to_string(limit) +
                           " bytes; name another file.");
    text.resize(end);
    return text;
}

void expect_regular_file(const std::string& path, const std::string& subject, std::size_t limit) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return;
    expect_regular(status, subject, path);
    if (static_cast<std::size_t>(status.st_size) > limit)
        throw_bad_file(subject, path,
                       "is longer than " + std::to_string(limit) + " bytes; name another file.");
}

}  // namespace pawl::core
