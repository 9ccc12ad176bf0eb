#include "messages.hpp"

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

kept_lines& kept() {
    static kept_lines lines;
    return lines;
}

bool has_room(duration longest) {
    pollfd watched{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
    return ::poll(&watched, 1, static_cast<int>(milliseconds)) != 0;
}

// Another process may fill a pipe between the question and the write. O_NONBLOCK belongs to the
// open file, which the command shares; so we open it again. Who may not, as behind sudo, has the
// answer of poll only.
bool write_to_reader(const std::string& line) {
    if (!has_room(0s)) return false;
    const descriptor own(::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    const auto size = ::write(own ? own.get() : STDERR_FILENO, line.data(), line.size());
    return size >= 0 || errno != EAGAIN;
}

// False: there is no room now. A stderr that is gone is no reason to stop.
bool write_at_once(const std::string& line) {
    struct stat about {};
    const bool known = ::fstat(STDERR_FILENO, &about) == 0;
    if (known && S_ISSOCK(about.st_mode)) {
        const auto size =
            ::send(STDERR_FILENO, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        return size >= 0 || errno != EAGAIN;
    }
    if (known && (S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode))) return write_to_reader(line);
    [[maybe_unused]] const auto size = ::write(STDERR_FILENO, line.data(), line.size());
    return true;
}

// A pipe takes so many bytes as a whole or not at all.
std::string cut(std::string line) {
    constexpr std::size_t longest = PIPE_BUF;
    if (line.size() <= longest) return line;
    line.resize(longest - 4);
    while (!line.empty() && (static_cast<unsigned char>(line.back()) & 0xC0U) == 0x80U)
        line.pop_back();
    if (!line.empty()) line.pop_back();
    return line + "…\n";
}

bool write_kept(kept_lines& from) {
    while (!from.lines.empty()) {
        if (!write_at_once(from.lines.front())) return false;
        from.lines.pop_front();
    }
    if (from.left_out == 0) return true;
    if (!write_at_once("pawl: " + std::to_string(from.left_out) +
                       " more messages were left out, because nobody read stderr.\n"))
        return false;
    from.left_out = 0;
    return true;
}

}  // namespace

void never_wait_for_reader() noexcept {
    const std::lock_guard held(kept().mutex);
    kept().may_wait = false;
}

void say(std::string_view sentence) noexcept {
    kept_lines& all = kept();
    const std::lock_guard held(all.mutex);
    try {
        std::string line = "pawl: " + printable(sentence) + "\n";
        if (all.may_wait) {
            // A stderr that is gone is no reason to stop.
            [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
            return;
        }
        if (!write_kept(all) && (all.left_out > 0 || all.lines.size() >= most_kept)) {
            ++all.left_out;
            return;
        }
        all.lines.push_back(cut(std::move(line)));
        write_kept(all);
    } catch (...) {
        if (all.may_wait) std::fputs("pawl: Out of memory.\n", stderr);
        ++all.left_out;
    }
}

bool say_kept() noexcept {
    const std::lock_guard held(kept().mutex);
    try {
        return write_kept(kept());
    } catch (...) {
        return false;  // no memory for the number of those that were left out
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
