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
        : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) {}
    ~open_file() {
        if (number_ >= 0) ::close(number_);
    }
    open_file(const open_file&) = delete;
    open_file& operator=(const open_file&) = delete;
    [[nodiscard]] int number() const noexcept { return number_; }

private:
    int number_;
};

[[noreturn]] void refuse(const std::string& subject, const std::string& path,
                         const std::string& complaint) {
    throw error(errc::bad_option, subject + " '" + path + "' " + complaint);
}

[[noreturn]] void refuse_unreadable(const std::string& subject, const std::string& path,
                                    int system_error) {
    refuse(subject, path,
           std::string("cannot be read (") + std::strerror(system_error) +
               "); name a file that this user may read.");
}

void expect_regular(const struct stat& about, const std::string& subject, const std::string& path) {
    if (!S_ISREG(about.st_mode)) refuse(subject, path, "is no regular file; name one.");
}

}  // namespace

std::string first_line_of(const std::string& path, const std::string& subject, std::size_t most) {
    const open_file file(path);
    struct stat about {};
    if (file.number() < 0 || ::fstat(file.number(), &about) != 0)
        refuse_unreadable(subject, path, errno);
    expect_regular(about, subject, path);
    std::string text(most + 1, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
        const auto got = ::read(file.number(), text.data() + size, text.size() - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) refuse_unreadable(subject, path, errno);
        if (got == 0) break;
        size += static_cast<std::size_t>(got);
    }
    const auto end = std::min(text.find('\n'), size);
    if (end > most)
        refuse(
            subject, path,
            "has a first line of more than " + std::to_string(most) + " bytes; name another file.");
    text.resize(end);
    return text;
}

void expect_regular_file(const std::string& path, const std::string& subject, std::size_t most) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0) return;
    expect_regular(about, subject, path);
    if (static_cast<std::size_t>(about.st_size) > most)
        refuse(subject, path,
               "is longer than " + std::to_string(most) + " bytes; name another file.");
}

}  // namespace pawl::core
