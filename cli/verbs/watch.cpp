// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../ui/descriptor.hpp"
#include "../ui/duration.hpp"
#include "../ui/failure.hpp"
#include "../ui/lock_view.hpp"
#include "../ui/screen.hpp"
#include "changes.hpp"
#include "verbs.hpp"

#include <pawl/blocking.hpp>
#include <pawl/incomplete_list.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <optional>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t bar_width = 8;

// Signals and keys between two queries.
class terminal_events {
public:
    terminal_events() {
        ::sigemptyset(&watched_signals_);
        for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP})
            ::sigaddset(&watched_signals_, each);
        ::sigprocmask(SIG_BLOCK, &watched_signals_, nullptr);
        signals_ = descriptor(::signalfd(-1, &watched_signals_, SFD_CLOEXEC | SFD_NONBLOCK));
        if (!signals_) throw system_failure("Cannot wait for signals");
    }

    // Returns the signal, 'q' for that key, or 0 after `longest`, or when `other` is readable.
    int wait(duration longest, bool keys, int other = -1) const {
        std::array<pollfd, 3> watched{
            {{.fd = signals_.get(), .events = POLLIN, .revents = 0},
             {.fd = keys ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0},
             {.fd = other, .events = POLLIN, .revents = 0}}};
        const auto until = boot_clock::now() + longest;
        while (true) {
            const auto left =
                std::chrono::ceil<std::chrono::milliseconds>(until - boot_clock::now());
            if (left <= 0ms ||
                ::poll(watched.data(), watched.size(), static_cast<int>(left.count())) == 0)
                return 0;
            signalfd_siginfo signal_info{};
            if (::read(signals_.get(), &signal_info, sizeof signal_info) > 0)
                return static_cast<int>(signal_info.ssi_signo);
            if (watched[2].revents != 0) return 0;
            char key = 0;
            if (watched[1].revents == 0) continue;
            if (::read(STDIN_FILENO, &key, 1) <= 0) watched[1].fd = -1;
            if (key == 'q') return 'q';
        }
    }

    static void suspend() {
        sigset_t only;
        ::sigemptyset(&only);
        ::sigaddset(&only, SIGTSTP);
        ::kill(0, SIGTSTP);
        ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
        ::sigprocmask(SIG_BLOCK, &only, nullptr);
    }

private:
    sigset_t watched_signals_{};
    descriptor signals_;
};

// A bar beside the remaining time of a hold. A full bar is the longest one seen of this hold.
class lease_bars {
public:
    cell operator()(const lock_info& lock, const holder& lock_holder) {
        auto& most = most_[lock.name + '\0' + lock_holder.owner];
        most = std::max({most, lock_holder.remaining, duration(1)});
        const auto share =
            static_cast<double>(std::max<duration>(lock_holder.remaining, 0s).count()) /
            static_cast<double>(most.count());
        const auto eighths = static_cast<std::size_t>(share * 8.0 * bar_width);
        static constexpr std::array<const char*, 8> parts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
        std::string bar;
        for (std::size_t i = 0; i < eighths / 8; ++i)
            bar += "█";
        bar += parts[eighths % 8];
        bar.append(bar_width - std::min(bar_width, width_of(bar)), ' ');
        cell shown = remaining_cell(lock, lock_holder);
        if (shown.text_colour == colour::none)
            shown.text_colour = share < 0.34 ? colour::yellow : colour::green;
        const std::string text = shown.text;
        shown.text = bar + " " + std::string(text.size() < 6 ? 6 - text.size() : 0, ' ') + text;
        return shown;
    }

private:
    std::map<std::string, duration> most_;
};

struct view {
    std::vector<lock_info> locks;
    std::string problem;  // not empty: some locks, or all, are those of an earlier view
};

// The locks of the view, and the earlier ones with other names.
std::vector<lock_info> with_earlier(std::vector<lock_info> locks,
                                    const std::vector<lock_info>& earlier) {
    const auto count = static_cast<std::ptrdiff_t>(locks.size());
    for (const lock_info& each : earlier)
        if (std::none_of(locks.begin(), locks.begin() + count,
                         [&](const lock_info& known) { return known.name == each.name; }))
            locks.push_back(each);
    return locks;
}

// Throws if no server answers.
view read_answers(blocking::client& locks, const std::string& prefix,
                  const std::vector<lock_info>& earlier) {
    view now;
    try {
        now.locks = locks.list(prefix);
    } catch (const incomplete_list& partial) {
        now = {.locks = with_earlier(partial.locks(), earlier), .problem = partial.what()};
    }
    std::sort(now.locks.begin(), now.locks.end(),
              [](const lock_info& a, const lock_info& b) { return a.name < b.name; });
    return now;
}

view read_view(blocking::client& locks, const std::string& prefix,
               const std::vector<lock_info>& earlier) {
    try {
        return read_answers(locks, prefix, earlier);
    } catch (const pawl::error& problem) {
        return {.locks = earlier, .problem = problem.what()};
    }
}

// The exit status for an event that ends `watch`.
std::optional<int> end_status(int event) {
    if (event == 'q') return static_cast<int>(exit_code::ok);
    if (event == SIGINT || event == SIGTERM || event == SIGHUP) return signal_status(event);
    return std::nullopt;
}

void suspend(screen* full_screen) {
    if (full_screen != nullptr) full_screen->leave();
    terminal_events::suspend();
    if (full_screen != nullptr) full_screen->enter();
}

// `watch` holds no lock, so its client need not be closed, which takes seconds if the service is
// silent.
[[noreturn]] void end_now(int status) {
    std::cout << std::flush;
    ::_exit(status);
}

// The result of a query, which a thread of its own makes. A service may be silent for seconds, so
// an event that ends `watch` does not wait for the query.
view await(const std::function<view()>& query, const terminal_events& events,
           screen* full_screen = nullptr) {
    const descriptor finished(::eventfd(0, EFD_CLOEXEC));
    if (!finished) throw system_failure("Cannot make an eventfd");
    auto result = std::async(std::launch::async, [&query, &finished] {
        const std::shared_ptr<void> notify(nullptr, [&finished](void*) {
            const std::uint64_t one = 1;
            [[maybe_unused]] const auto written = ::write(finished.get(), &one, sizeof one);
        });
        return query();
    });
    while (true) {
        const bool has_keys = full_screen != nullptr && ::isatty(STDIN_FILENO) == 1;
        const int event = events.wait(24h, has_keys, finished.get());
        if (event == 0) return result.get();
        if (event == SIGTSTP) suspend(full_screen);
        const auto status = end_status(event);
        if (status && full_screen != nullptr) full_screen->leave();
        if (status) end_now(*status);
    }
}

std::vector<std::string> frame(const view& now, const service_location& location,
                               lease_bars& bars) {
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
    const std::string title =
        shortened(printable(location.lock_service.describe()) + "  " + summary + "  " +
                      format_local_time(std::chrono::system_clock::now()),
                  width);
    lines.push_back(paint(title, colour::bold, coloured));
    lines.push_back(now.problem.empty()
                        ? std::string()
                        : paint(shortened(printable(now.problem), width), colour::red, coloured));
    if (now.locks.empty()) {
        lines.push_back(paint("No locks now.", colour::dim, coloured));
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

int watch_live(blocking::client& locks, const watch_options& options,
               const service_location& location, const terminal_events& events, view now) {
    screen full_screen;
    lease_bars bars;
    while (true) {
        full_screen.draw(frame(now, location, bars));
        const int event = events.wait(options.interval, ::isatty(STDIN_FILENO) == 1);
        if (const auto status = end_status(event)) return *status;
        if (event == SIGTSTP) suspend(&full_screen);
        if (event == SIGWINCH) continue;
        now = await([&] { return read_view(locks, options.prefix, now.locks); }, events,
                    &full_screen);
    }
}

std::string plain_text(const change& change_event) {
    using kind = change::kind;
    const std::string event = to_string(change_event.event);
    const std::string start = format_local_time(std::chrono::system_clock::now()) + "  " +
                              printable(change_event.lock.name) + "  " + event;
    if (change_event.event == kind::waiters)
        return start + " " + std::to_string(change_event.old_count) + " → " +
               std::to_string(change_event.lock.waiters);
    if (change_event.event == kind::resized)
        return start + " " + std::to_string(change_event.old_count) + " → " +
               std::to_string(change_event.lock.permits) + " permits";
    if (!change_event.changed_holder) return start;
    const holder& lock_holder = *change_event.changed_holder;
    const std::string mode = lock_holder.mode == lock_mode::exclusive
                                 ? ""
                                 : mode_text(change_event.lock, lock_holder) + ", ";
    const std::string command =
        lock_holder.command.empty() ? "" : " (" + printable(lock_holder.command) + ")";
    return start + " by " + holder_text(lock_holder) + command + ", " + mode + "token " +
           token_text(lock_holder);
}

std::string as_json(const change& change_event) {
    json text;
    text.begin_object().field("time", format_utc(std::chrono::system_clock::now()));
    text.field("event", to_string(change_event.event)).key("by");
    if (change_event.changed_holder) {
        write(text, *change_event.changed_holder);
    } else {
        text.null();
    }
    write(text.key("lock"), change_event.lock);
    return text.end_object().str();
}

int watch_lines(blocking::client& locks, const watch_options& options,
                const terminal_events& events, view now) {
    change_log log;
    std::string problem;
    while (true) {
        if (now.problem != problem)
            say(now.problem.empty() ? "The service is available again." : now.problem);
        problem = now.problem;
        for (const change& each : log.update(now.locks))
            std::cout << (options.json ? as_json(each) : plain_text(each)) << '\n';
        std::cout << std::flush;
        if (!std::cout) return static_cast<int>(exit_code::ok);  // stdout is closed
        const int event = events.wait(options.interval, false);
        if (event == SIGTSTP) suspend(nullptr);
        if (const auto status = end_status(event)) return *status;
        now = await([&] { return read_view(locks, options.prefix, now.locks); }, events);
    }
}

}  // namespace

int watch(const watch_options& options) {
    if (options.interval < 50ms || options.interval > 24h) {
        throw failure(exit_code::usage, "The --interval is " + format_exact(options.interval) +
                                            "; it must be between 50ms and 24h.");
    }
    const terminal_events events;
    const service_location location = find_location(options.location);
    blocking::client locks(location.lock_service);
    view first = await([&] { return read_answers(locks, options.prefix, {}); }, events);
    const bool live = ::isatty(STDOUT_FILENO) == 1 && !options.json;
    end_now(live ? watch_live(locks, options, location, events, std::move(first))
                 : watch_lines(locks, options, events, std::move(first)));
}

}  // namespace pawl::cli
