// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "messages.hpp"

#include "advice.hpp"
#include "descriptor.hpp"
#include "failure.hpp"
#include "style.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_kept = 100;
constexpr duration longest_rest = 3s;

struct kept_lines {
    std::mutex mutex;
    bool may_wait = true;
    std::deque<std::string> lines;
    std::size_t left_out = 0;
};

kept_lines& kept_messages() {
    static kept_lines lines;
    return lines;
}

bool has_room(duration longest) {
    pollfd watched{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
    return ::poll(&watched, 1, static_cast<int>(milliseconds)) != 0;
}

// Another process may fill the pipe between poll and write, so the write must not block. O_NONBLOCK
// belongs to the open file, which the command shares, so the file is opened again. If that is not
// permitted, as under sudo, only poll protects from a blocked write.
bool write_to_reader(const std::string& line) {
    if (!has_room(0s)) return false;
    const descriptor own(::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    const auto size = ::write(own ? own.get() : STDERR_FILENO, line.data(), line.size());
    return size >= 0 || errno != EAGAIN;
}

// Returns false if there is no room now. A closed stderr is not an error.
bool write_at_once(const std::string& line) {
    struct stat file_status {};
    const bool has_status = ::fstat(STDERR_FILENO, &file_status) == 0;
    if (has_status && S_ISSOCK(file_status.st_mode)) {
        const auto size =
            ::send(STDERR_FILENO, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        return size >= 0 || errno != EAGAIN;
    }
    if (has_status && (S_ISFIFO(file_status.st_mode) || S_ISCHR(file_status.st_mode)))
        return write_to_reader(line);
    [[maybe_unused]] const auto size = ::write(STDERR_FILENO, line.data(), line.size());
    return true;
}

// A pipe accepts this many bytes either as a whole or not at all.
std::string cut(std::string line) {
    constexpr std::size_t longest = PIPE_BUF;
    if (line.size() <= longest) return line;
    line.resize(longest - 4);
    while (!line.empty() && (static_cast<unsigned char>(line.back()) & 0xC0U) == 0x80U)
        line.pop_back();
    if (!line.empty()) line.pop_back();
    return line + "…\n";
}

bool write_kept(kept_lines& kept) {
    while (!kept.lines.empty()) {
        if (!write_at_once(kept.lines.front())) return false;
        kept.lines.pop_front();
    }
    if (kept.left_out == 0) return true;
    if (!write_at_once("pawl: " + std::to_string(kept.left_out) +
                       " more messages were omitted, because stderr was not read.\n"))
        return false;
    kept.left_out = 0;
    return true;
}

}  // namespace

void never_block_on_stderr() noexcept {
    const std::lock_guard held(kept_messages().mutex);
    kept_messages().may_wait = false;
}

void say(std::string_view sentence) noexcept {
    kept_lines& kept = kept_messages();
    const std::lock_guard held(kept.mutex);
    try {
        std::string line = "pawl: " + printable(in_command_words(sentence)) + "\n";
        if (kept.may_wait) {
            // A closed stderr is not an error.
            [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
            return;
        }
        if (!write_kept(kept) && (kept.left_out > 0 || kept.lines.size() >= most_kept)) {
            ++kept.left_out;
            return;
        }
        kept.lines.push_back(cut(std::move(line)));
        write_kept(kept);
    } catch (...) {
        if (kept.may_wait) std::fputs("pawl: Out of memory.\n", stderr);
        ++kept.left_out;
    }
}

bool say_kept() noexcept {
    const std::lock_guard held(kept_messages().mutex);
    try {
        return write_kept(kept_messages());
    } catch (...) {
        return false;  // no memory for the line with the number of omitted messages
    }
}

void say_rest() noexcept {
    const auto until = boot_clock::now() + longest_rest;
    while (!say_kept()) {
        const auto left = until - boot_clock::now();
        if (left <= 0s || !has_room(left)) return;
    }
}

}  // namespace pawl::cli
