// A private server, the fault proxy before it, and clients that write down what they log.
#pragma once

#include <support/eventually.hpp>
#include <support/fault_proxy.hpp>
#include <support/redis_server.hpp>

#include <pawl/blocking.hpp>
#include <pawl/redis.hpp>
#include <redis/script.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace chaos {

using namespace std::chrono_literals;
using pawl::boot_clock;
using pawl::errc;
using pawl::lock_state;
using pawl::release_result;
using pawl::blocking::client;
using pawl::blocking::held_lock;
using support::eventually;
using support::fate;
using support::named;

// Leases that must not be what frees a lock in a test.
inline constexpr pawl::duration long_ttl = 60s;
// Waits that must succeed, so that a failure is a message and not a hanging test.
inline constexpr pawl::duration patience = 30s;

// What clients log and what their errors say, of all threads.
class notebook {
public:
    void write(std::string_view line);
    [[nodiscard]] std::string text() const;

private:
    mutable std::mutex guard_;
    std::string text_;
};

struct failure {
    errc reason;
    std::string sentence;
};
std::ostream& operator<<(std::ostream& out, const std::optional<failure>& what);

class scene {
public:
    explicit scene(support::redis_plan plan = {});

    // Past the proxy, and through it. `more` is the end of the URL.
    [[nodiscard]] client direct(const std::string& more = {});
    [[nodiscard]] client proxied(const std::string& more = {});
    [[nodiscard]] client at(const std::string& url);

    // The failure of the call; its sentence is noted too.
    [[nodiscard]] std::optional<failure> failure_of(const std::function<void()>& call);

    // EVALSHA and EVAL of one of the library's scripts.
    [[nodiscard]] static support::matcher script(const pawl::redis::script& which);
    // Everything but fence counters, which are there to stay for a day.
    [[nodiscard]] std::vector<std::string> leftovers();
    // Waits until no lock, queue or waiter is left.
    // True as soon as a lock is given.
    [[nodiscard]] static bool gives_a_lock(client& locks) {
        return eventually([&] {
            try {
                return locks.try_acquire("probe", {.ttl = 2s}).owns_lock();
            } catch (const pawl::error&) {
                return false;
            }
        });
    }
    [[nodiscard]] bool clean() {
        return eventually([this] { return leftovers().empty(); });
    }
    [[nodiscard]] std::uint64_t waiters(const std::string& name);
    [[nodiscard]] bool held(const std::string& name);

    support::redis_server server;
    support::fault_proxy proxy;
    notebook notes;
};

// When a lock's loss was told, on the boot clock.
class bell {
public:
    explicit bell(const held_lock& lock);
    [[nodiscard]] bool rang_within(std::chrono::nanoseconds bound) const;
    [[nodiscard]] pawl::time_point when() const { return pawl::time_point(pawl::duration(when_)); }

private:
    std::atomic<pawl::duration::rep> when_ = 0;
    std::stop_callback<std::function<void()>> told_;
};

// Runs beside the test; joined at the end of the scope.
class beside {
public:
    explicit beside(std::function<void()> work) : thread_(std::move(work)) {}
    void join() { thread_.join(); }

private:
    std::jthread thread_;
};

}  // namespace chaos
