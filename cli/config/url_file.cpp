// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "url_file.hpp"

#include "../ui/descriptor.hpp"
#include "../ui/failure.hpp"

#include <pawl/spi/runtime.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace pawl::cli {

namespace {

constexpr std::size_t longest_file = 65536;
constexpr auto longest_wait = std::chrono::seconds(5);

class url_file {
public:
    url_file(const std::string& path, const std::string& named_by)
        : path_(path),
          named_by_(named_by),
          // O_NONBLOCK: opening a FIFO without a writer must not block.
          file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) {
        if (!file_) refuse_unreadable(errno);
        struct stat status {};
        if (::fstat(file_.get(), &status) != 0) refuse_unreadable(errno);
        const bool empty = path == "/dev/null";
        if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode) && !empty)
            refuse("is neither a file nor a pipe; put the URL into a file.");
    }

    std::string first_line() {
        std::string text;
        std::array<char, 4096> block{};
        const auto give_up_at = pawl::spi::real_runtime().now() + longest_wait;
        while (text.find('\n') == std::string::npos) {
            const auto size = ::read(file_.get(), block.data(), block.size());
            if (size == 0) break;
            if (size > 0) {
                text.append(block.data(), static_cast<std::size_t>(size));
                if (text.size() > longest_file)
                    refuse("has more than 64 KiB in its first line; name a file with a URL.");
            } else if (errno == EAGAIN) {
                wait_for_more(give_up_at);
            } else if (errno != EINTR) {
                refuse_unreadable(errno);
            }
        }
        return text.substr(0, text.find('\n'));
    }

    [[noreturn]] void refuse(const std::string& complaint) const {
        throw failure(exit_code::usage,
                      "'" + path_ + "', which " + named_by_ + " names, " + complaint);
    }

private:
    void wait_for_more(time_point give_up_at) const {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(
            give_up_at - pawl::spi::real_runtime().now());
        pollfd more{file_.get(), POLLIN, 0};
        if (left.count() > 0 && ::poll(&more, 1, static_cast<int>(left.count())) != 0) return;
        throw failure(
            exit_code::no_input,
            "The pipe '" + path_ + "', which " + named_by_ +
                " names, delivered no line within 5 s; make its writer write the URL sooner.");
    }

    [[noreturn]] void refuse_unreadable(int system_error) const {
        throw failure(exit_code::no_input, "Cannot read '" + path_ + "', which " + named_by_ +
                                               " names: " + std::strerror(system_error) +
                                               "; name a file that this user may read.");
    }

    const std::string& path_;
    const std::string& named_by_;
    descriptor file_;
};

}  // namespace

std::string read_url_file(const std::string& path, const std::string& named_by) {
    url_file file(path, named_by);
    auto line = file.first_line();
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty())
        throw failure(exit_code::usage, "The first line of '" + path + "', which " + named_by +
                                            " names, is empty; put the URL there.");
    return line;
}

}  // namespace pawl::cli
