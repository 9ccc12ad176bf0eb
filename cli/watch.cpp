#include "changes.hpp"
#include "descriptor.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "lock_view.hpp"
#include "screen.hpp"
#include "verbs.hpp"

#include <pawl/blocking.hpp>

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <iostream>
#include <map>
#include <memory>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

constexpr int signal_base = 128;
constexpr std::size_t bar_width = 8;

// Signals and keys while nothing is under way at the service.
class pause_for_events {
public:
    pause_for_events() {
        ::sigemptyset(&heard_);
        for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP})
            ::sigaddset(&heard_, each);
        ::sigprocmask(SIG_BLOCK, &heard_, nullptr);
        signals_ = descriptor(::signalfd(-1, &heard_, SFD_CLOEXEC | SFD_NONBLOCK));
        if (!signals_) throw system_failure("Cannot wait for signals");
    }

    // The signal; 'q' for that key; 0 when the time is over.
    int wait(duration longest, bool keys) const {
        std::array<pollfd, 2> watched{
            {{.fd = signals_.get(), .events = POLLIN, .revents = 0},
             {.fd = keys ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0}}};
        const auto until = boot_clock::now() + longest;
        while (true) {
            const auto left =
                std::chrono::ceil<std::chrono::milliseconds>(until - boot_clock::now());
            if (left <= 0ms ||
                ::poll(watched.data(), watched.size(), static_cast<int>(left.count())) == 0)
                return 0;
            signalfd_siginfo what{};
            if (::read(signals_.get(), &what, sizeof what) > 0)
                return static_cast<int>(what.ssi_signo);
            char key = 0;
            if (watched[1].revents == 0) continue;
            if (::read(STDIN_FILENO, &key, 1) <= 0) watched[1].fd = -1;
            if (key == 'q') return 'q';
        }
    }

    static void stop() {
        sigset_t only;
        ::sigemptyset(&only);
        ::sigaddset(&only, SIGTSTP);
        ::kill(0, SIGTSTP);
        ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
        ::sigprocmask(SIG_BLOCK, &only, nullptr);
    }

private:
    sigset_t heard_{};
    descriptor signals_;
};

// A bar beside the time: full is the most that was seen of this hold.
class lease_bars {
public:
    cell operator()(const lock_info& what, const holder& by) {
        auto& most = most_[what.name + '\0' + by.owner];
        most = std::max({most, by.remaining, duration(1)});
        const auto share = static_cast<double>(std::max<duration>(by.remaining, 0s).count()) /
                           static_cast<double>(most.count());
        const auto eighths = static_cast<std::size_t>(share * 8.0 * bar_width);
        static constexpr std::array<const char*, 8> parts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
        std::string bar;
        for (std::size_t i = 0; i < eighths / 8; ++i)
            bar += "█";
        bar += parts[eighths % 8];
        bar.append(bar_width - std::min(bar_width, width_of(bar)), ' ');
        cell shown = remaining_cell(what, by);
        if (shown.how == colour::none) shown.how = share < 0.34 ? colour::yellow : colour::green;
        const std::string text = shown.text;
        shown.text = bar + " " + std::string(text.size() < 6 ? 6 - text.size() : 0, ' ') + text;
        return shown;
    }

private:
    std::map<std::string, duration> most_;
};

struct view {
    std::vector<lock_info> locks;
    std::string problem;
};

view look(blocking::client& locks, const std::string& prefix) {
    try {
        view now{.locks = locks.list(prefix), .problem = {}};
        std::sort(now.locks.begin(), now.locks.end(),
                  [](const lock_info& a, const lock_info& b) { return a.name < b.name; });
        return now;
    } catch (const pawl::error& what) {
        return {.locks = {}, .problem = what.what()};
    }
}

std::vector<std::string> frame(const view& now, const place& where, lease_bars& bars) {
    const bool coloured = wants_colour(STDOUT_FILENO);
    const auto width = terminal_width(STDOUT_FILENO);
    const auto height = std::max<std::size_t>(terminal_height(STDOUT_FILENO), 6);
    const auto held = std::count_if(now.locks.begin(), now.locks.end(), is_held);
    std::uint64_t waiters = 0;
    for (const lock_info& each : now.locks)
        waiters += each.waiters;

    std::vector<std::string> lines;
    const std::string summary =
        std::to_string(held) + " held, " + std::to_string(waiters) + " waiting";
    const std::string title = shortened(printable(where.where.describe()) + "  " + summary + "  " +
                                            local_time(std::chrono::system_clock::now()),
                                        width);
    lines.push_back(paint(title, colour::bold, coloured));
    lines.push_back(now.problem.empty()
                        ? std::string()
                        : paint(shortened(printable(now.problem), width), colour::red, coloured));
    if (now.locks.empty()) {
        lines.push_back(paint("No locks here now.", colour::dim, coloured));
    } else {
        auto rows = lock_table(now.locks, std::ref(bars)).lines(width, coloured);
        const std::size_t room = height - lines.size() - 1;
        const bool cut = rows.size() > room;
        if (cut) {
            const auto hidden = rows.size() - room + 1;
            rows.resize(room - 1);
            rows.push_back(
                paint("… and " + std::to_string(hidden) + " more", colour::dim, coloured));
        }
        lines.insert(lines.end(), rows.begin(), rows.end());
    }
    while (lines.size() + 1 < height)
        lines.emplace_back();
    lines.push_back(paint("q or Ctrl-C ends", colour::dim, coloured));
    return lines;
}

int watch_live(blocking::client& locks, const watch_options& options, const place& where,
               const pause_for_events& events, view now) {
    screen whole;
    lease_bars bars;
    while (true) {
        whole.draw(frame(now, where, bars));
        const int event = events.wait(options.interval, ::isatty(STDIN_FILENO) == 1);
        if (event == 'q') return static_cast<int>(exit_code::ok);
        if (event == SIGTSTP) {
            whole.leave();
            pause_for_events::stop();
            whole.enter();
        } else if (event != 0 && event != SIGWINCH) {
            return signal_base + event;
        }
        if (event == SIGWINCH) continue;
        auto next = look(locks, options.prefix);
        if (!next.problem.empty()) next.locks = std::move(now.locks);
        now = std::move(next);
    }
}

std::string plain(const change& what) {
    using kind = change::kind;
    const std::string event = to_string(what.what);
    const std::string start = local_time(std::chrono::system_clock::now()) + "  " +
                              printable(what.now.name) + "  " + event;
    if (what.what == kind::waiters)
        return start + " " + std::to_string(what.before) + " → " + std::to_string(what.now.waiters);
    if (what.what == kind::resized)
        return start + " " + std::to_string(what.before) + " → " +
               std::to_string(what.now.permits) + " permits";
    if (!what.by) return start;
    const holder& by = *what.by;
    const std::string mode = by.mode == lock_mode::exclusive ? "" : mode_text(what.now, by) + ", ";
    const std::string command = by.command.empty() ? "" : " (" + printable(by.command) + ")";
    return start + " by " + who(by) + command + ", " + mode + "token " + token_text(by);
}

std::string as_json(const change& what) {
    json text;
    text.begin_object().field("time", utc(std::chrono::system_clock::now()));
    text.field("event", to_string(what.what)).key("by");
    if (what.by) {
        write(text, *what.by);
    } else {
        text.null();
    }
    write(text.key("lock"), what.now);
    return text.end_object().str();
}

int watch_lines(blocking::client& locks, const watch_options& options,
                const pause_for_events& events, view now) {
    change_log log;
    std::string problem;
    while (true) {
        if (now.problem != problem)
            say(now.problem.empty() ? "The service answers again." : now.problem);
        problem = now.problem;
        if (problem.empty()) {
            for (const change& each : log.look(now.locks))
                std::cout << (options.json ? as_json(each) : plain(each)) << '\n';
            std::cout << std::flush;
        }
        if (!std::cout) return static_cast<int>(exit_code::ok);  // nobody reads any more
        const int event = events.wait(options.interval, false);
        if (event == SIGTSTP) pause_for_events::stop();
        if (event == SIGINT || event == SIGTERM || event == SIGHUP) return signal_base + event;
        now = look(locks, options.prefix);
    }
}

}  // namespace

int watch(const watch_options& options) {
    if (options.interval < 50ms || options.interval > 24h) {
        throw failure(exit_code::usage, "The --interval is " + exact(options.interval) +
                                            "; it must be between 50ms and 24h.");
    }
    const pause_for_events events;
    const place where = find_place(options.on);
    blocking::client locks(where.where);
    view first{.locks = locks.list(options.prefix), .problem = {}};
    const bool live = ::isatty(STDOUT_FILENO) == 1 && !options.json;
    return live ? watch_live(locks, options, where, events, std::move(first))
                : watch_lines(locks, options, events, std::move(first));
}

}  // namespace pawl::cli
