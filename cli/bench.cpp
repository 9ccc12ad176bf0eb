#include "checks.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "json.hpp"
#include "style.hpp"
#include "verbs.hpp"

#include <pawl/blocking.hpp>

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
    std::vector<duration> all;
    duration taken{};
    std::uint64_t requests = 0;
    std::uint64_t passes = 0;  // of the lock, for which these requests were made

    [[nodiscard]] duration quantile(double share) const {
        if (all.empty()) return {};
        return all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))];
    }
    [[nodiscard]] double per_second() const {
        return static_cast<double>(all.size()) / std::chrono::duration<double>(taken).count();
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

    void at(duration done, duration all) {
        const auto now = boot_clock::now();
        if (!shown_ || now < next_) return;
        next_ = now + 100ms;
        constexpr std::int64_t width = 30;
        const auto full = std::clamp<std::int64_t>(done * width / all, 0, width);
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

const lock_options asked{.ttl = 10s, .wait = 10s};

latencies uncontended(const service& where, const bench_options& options) {
    blocking::client locks(where, client_options{.command = "pawl bench"});
    for (int i = 0; i < 20; ++i)
        locks.acquire(options.name, asked).release();

    latencies found;
    progress bar("alone    ");
    const auto before = locks.statistics();
    const auto began = boot_clock::now();
    auto now = began;
    while (now < began + options.lasting) {
        auto lock = locks.acquire(options.name, asked);
        lock.release();
        const auto after = boot_clock::now();
        found.all.push_back(after - now);
        bar.at(after - began, options.lasting);
        now = after;
    }
    found.taken = now - began;
    const auto after = locks.statistics();
    found.requests = after.requests - before.requests;
    found.passes = after.grants - before.grants;
    return found;
}

// Two clients that wait for each other in turn.
class hand_off {
public:
    hand_off(const service& where, const bench_options& options)
        : where_(where), options_(options), began_(boot_clock::now()) {}

    latencies measure() {
        {
            const std::jthread other([this] { guarded(); });
            guarded();
        }
        if (failure_) std::rethrow_exception(failure_);
        found_.taken = boot_clock::now() - began_;
        found_.requests = requests_;
        found_.passes = passes_;
        return std::move(found_);
    }

private:
    void guarded() {
        try {
            take_turns();
        } catch (...) {
            if (!over_.exchange(true)) failure_ = std::current_exception();
        }
    }

    void take_turns() {
        blocking::client locks(where_, client_options{.command = "pawl bench"});
        // Those that only the measurement needs do not count.
        static_cast<void>(locks.inspect(options_.name));
        auto own = locks.statistics().requests;
        while (!over_) {
            auto lock = locks.acquire(options_.name, asked);
            const auto now = boot_clock::now();
            // Only the holder touches these: the lock itself guards them.
            if (released_at_ != time_point{}) found_.all.push_back(now - released_at_);
            bar_.at(now - began_, options_.lasting);
            if (now >= began_ + options_.lasting) over_ = true;
            const bool waited_for = !over_ && somebody_waits(locks, own);
            released_at_ = waited_for ? boot_clock::now() : time_point{};
            lock.release();
        }
        const auto done = locks.statistics();
        requests_ += done.requests - own;
        passes_ += done.hand_offs;
    }

    bool somebody_waits(blocking::client& locks, std::uint64_t& own) {
        const auto until = boot_clock::now() + 2s;
        while (!over_ && boot_clock::now() < until) {
            ++own;
            if (locks.inspect(options_.name).waiters > 0) return true;
        }
        return false;
    }

    const service& where_;
    const bench_options& options_;
    time_point began_;
    progress bar_{"hand-off "};
    std::atomic<bool> over_{false};
    std::atomic<std::uint64_t> requests_{0};
    std::atomic<std::uint64_t> passes_{0};
    time_point released_at_{};
    latencies found_;
    std::exception_ptr failure_;
};

void write(json& to, const latencies& what) {
    const auto microseconds = [](duration d) { return static_cast<double>(d.count()) / 1000.0; };
    to.begin_object().field("count", static_cast<std::int64_t>(what.all.size()));
    to.key("per_second").number(what.per_second(), 1);
    to.key("p50_us").number(microseconds(what.quantile(0.5)), 2);
    to.key("p99_us").number(microseconds(what.quantile(0.99)), 2);
    to.key("requests").number(what.requests_each(), 2);
    to.end_object();
}

std::string to_fixed(double value) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(2) << value;
    return text.str();
}

std::vector<cell> row(const std::string& title, const latencies& what, bool rate) {
    return {
        {title},
        {measured(what.quantile(0.5)), colour::bold},
        {measured(what.quantile(0.99))},
        {to_fixed(what.requests_each())},
        {rate ? std::to_string(static_cast<std::int64_t>(what.per_second())) : "", colour::bold},
        {std::to_string(what.all.size()), colour::dim}};
}

}  // namespace

int bench(const bench_options& options) {
    if (options.lasting < 10ms || options.lasting > 1h) {
        throw failure(exit_code::usage, "The time of --for is " + exact(options.lasting) +
                                            "; it must be between 10ms and 1h.");
    }
    check_name(options.name);
    const place where = find_place(options.on);
    latencies alone = uncontended(where.where, options);
    latencies passed = hand_off(where.where, options).measure();
    std::sort(alone.all.begin(), alone.all.end());
    std::sort(passed.all.begin(), passed.all.end());

    if (options.json) {
        json text;
        text.begin_object().field("service", where.where.describe()).key("uncontended");
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
    results.add(row("acquire + release, nobody else", alone, true));
    results.add(row("hand-off, release to the waiter running", passed, false));
    std::cout << printable(where.where.describe()) << "\n\n"
              << results.text(terminal_width(STDOUT_FILENO), wants_colour(STDOUT_FILENO));
    return static_cast<int>(exit_code::ok);
}

}  // namespace pawl::cli
