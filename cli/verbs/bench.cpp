// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../ui/duration.hpp"
#include "../ui/failure.hpp"
#include "../ui/json.hpp"
#include "../ui/style.hpp"
#include "checks.hpp"
#include "verbs.hpp"

#include <pawl/blocking.hpp>
#if PAWL_WITH_REDIS
#include <pawl/redlock.hpp>
#endif

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <exception>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <thread>
#include <vector>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

struct latencies {
    std::vector<duration> samples;
    duration elapsed{};
    std::uint64_t requests = 0;
    std::uint64_t passes = 0;  // grants or hand-offs that needed these requests

    [[nodiscard]] duration quantile(double share) const {
        if (samples.empty()) return {};
        return samples[static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1))];
    }
    [[nodiscard]] double per_second() const {
        return static_cast<double>(samples.size()) / std::chrono::duration<double>(elapsed).count();
    }
    [[nodiscard]] double requests_each() const {
        return passes == 0 ? 0 : static_cast<double>(requests) / static_cast<double>(passes);
    }
};

class progress {
public:
    explicit progress(std::string title)
        : title_(std::move(title)), shown_(::isatty(STDERR_FILENO) == 1) {}
    ~progress() {
        if (shown_) std::cerr << "\r\x1b[K" << std::flush;
    }
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    void show(duration done, duration total) {
        const auto now = boot_clock::now();
        if (!shown_ || now < next_) return;
        next_ = now + 100ms;
        constexpr std::int64_t width = 30;
        const auto full = std::clamp<std::int64_t>(done * width / total, 0, width);
        std::string bar;
        for (std::int64_t i = 0; i < width; ++i)
            bar += i < full ? "█" : "░";
        std::cerr << "\r" << title_ << "  " << bar << std::flush;
    }

private:
    std::string title_;
    bool shown_;
    time_point next_{};
};

lock_options acquire_options_for(const service_location& location) {
    lock_options result{.ttl = 10s, .wait = 10s};
#if PAWL_WITH_REDIS
    if (location.url.starts_with("redlock"))
        result.ttl = std::min<duration>(result.ttl, redlock::parse(location.secret_url).ttl_max);
#else
    static_cast<void>(location);
#endif
    return result;
}

latencies uncontended(const service& lock_service, const bench_options& options,
                      const lock_options& acquire_options) {
    blocking::client locks(lock_service, client_options{.command = "pawl bench"});
    for (int i = 0; i < 20; ++i)
        (void)locks.acquire(options.name, acquire_options).release();

    latencies result;
    progress bar("alone    ");
    const auto before = locks.statistics();
    const auto began = boot_clock::now();
    auto now = began;
    while (now < began + options.lasting) {
        auto lock = locks.acquire(options.name, acquire_options);
        (void)lock.release();
        const auto after = boot_clock::now();
        result.samples.push_back(after - now);
        bar.show(after - began, options.lasting);
        now = after;
    }
    result.elapsed = now - began;
    const auto after = locks.statistics();
    result.requests = after.requests - before.requests;
    result.passes = after.grants - before.grants;
    return result;
}

// Two clients that pass a lock to each other.
class hand_off {
public:
    hand_off(const service& lock_service, const bench_options& options,
             const lock_options& acquire_options)
        : lock_service_(lock_service),
          options_(options),
          acquire_options_(acquire_options),
          began_(boot_clock::now()) {}

    latencies measure() {
        {
            const std::jthread other([this] { run_client(); });
            run_client();
        }
        if (failure_) std::rethrow_exception(failure_);
        result_.elapsed = boot_clock::now() - began_;
        result_.requests = requests_;
        // Redlock hands nothing over: its waiters try again.
        result_.passes = passes_ > 0 ? passes_.load() : result_.samples.size();
        return std::move(result_);
    }

private:
    void run_client() {
        try {
            measure_hand_offs();
        } catch (...) {
            if (!finished_.exchange(true)) failure_ = std::current_exception();
        }
    }

    void measure_hand_offs() {
        blocking::client locks(lock_service_, client_options{.command = "pawl bench"});
        // Requests that only the measurement needs are not counted.
        static_cast<void>(locks.inspect(options_.name));
        auto uncounted_requests = locks.statistics().requests;
        while (!finished_) {
            auto lock = locks.acquire(options_.name, acquire_options_);
            const auto now = boot_clock::now();
            // Protected by the lock itself: only its holder uses released_at_, result_ and bar_.
            if (released_at_ != time_point{}) result_.samples.push_back(now - released_at_);
            bar_.show(now - began_, options_.lasting);
            if (now >= began_ + options_.lasting) finished_ = true;
            const bool has_successor = !finished_ && has_waiter(locks, uncounted_requests);
            released_at_ = has_successor ? boot_clock::now() : time_point{};
            (void)lock.release();
        }
        const auto done = locks.statistics();
        requests_ += done.requests - uncounted_requests;
        passes_ += done.hand_offs;
    }

    bool has_waiter(blocking::client& locks, std::uint64_t& uncounted_requests) {
        const auto until = boot_clock::now() + 2s;
        while (!finished_ && boot_clock::now() < until) {
            const auto before = locks.statistics().requests;
            const bool is_waiting = locks.inspect(options_.name).waiters > 0;
            uncounted_requests += locks.statistics().requests - before;
            if (is_waiting) return true;
        }
        return false;
    }

    const service& lock_service_;
    const bench_options& options_;
    const lock_options& acquire_options_;
    time_point began_;
    progress bar_{"hand-off "};
    std::atomic<bool> finished_{false};
    std::atomic<std::uint64_t> requests_{0};
    std::atomic<std::uint64_t> passes_{0};
    time_point released_at_{};
    latencies result_;
    std::exception_ptr failure_;
};

void write(json& out, const latencies& latency) {
    const auto microseconds = [](duration d) { return static_cast<double>(d.count()) / 1000.0; };
    out.begin_object().field("count", static_cast<std::int64_t>(latency.samples.size()));
    out.key("per_second").number(latency.per_second(), 1);
    out.key("p50_us").number(microseconds(latency.quantile(0.5)), 2);
    out.key("p99_us").number(microseconds(latency.quantile(0.99)), 2);
    out.key("requests").number(latency.requests_each(), 2);
    out.end_object();
}

std::string to_fixed(double value) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(2) << value;
    return text.str();
}

std::vector<cell> row(const std::string& title, const latencies& latency, bool rate) {
    if (latency.samples.empty())
        return {{title}, {"-"}, {"-"}, {"-"}, {rate ? "-" : ""}, {"0", colour::dim}};
    return {
        {title},
        {format_measured(latency.quantile(0.5)), colour::bold},
        {format_measured(latency.quantile(0.99))},
        {to_fixed(latency.requests_each())},
        {rate ? std::to_string(static_cast<std::int64_t>(latency.per_second())) : "", colour::bold},
        {std::to_string(latency.samples.size()), colour::dim}};
}

}  // namespace

int bench(const bench_options& options) {
    if (options.lasting < 10ms || options.lasting > 1h) {
        throw failure(exit_code::usage, "The time of --for is " + format_exact(options.lasting) +
                                            "; it must be between 10ms and 1h.");
    }
    check_name(options.name);
    const service_location location = find_location(options.location);
    const auto acquire_options = acquire_options_for(location);
    latencies alone = uncontended(location.lock_service, options, acquire_options);
    latencies passed = hand_off(location.lock_service, options, acquire_options).measure();
    std::sort(alone.samples.begin(), alone.samples.end());
    std::sort(passed.samples.begin(), passed.samples.end());

    if (options.json) {
        json text;
        text.begin_object().field("service", location.lock_service.describe()).key("uncontended");
        write(text, alone);
        text.key("hand_off");
        write(text, passed);
        std::cout << text.end_object().str() << '\n';
        return static_cast<int>(exit_code::ok);
    }
    using enum table::align;
    table results({{"", left, true},
                   {"P50", right},
                   {"P99", right},
                   {"REQUESTS", right},
                   {"PER SECOND", right},
                   {"COUNT", right}});
    results.add(row("acquire + release, uncontended", alone, true));
    results.add(row("hand-off, release to the waiter running", passed, false));
    std::cout << printable(location.lock_service.describe()) << "\n\n"
              << results.text(terminal_width(STDOUT_FILENO), wants_colour(STDOUT_FILENO));
    return static_cast<int>(exit_code::ok);
}

}  // namespace pawl::cli
