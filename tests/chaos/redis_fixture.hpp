// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A private server, the fault proxy before it, and clients whose log is captured.
#pragma once

#include <support/eventually.hpp>
#include <support/fault_proxy.hpp>
#include <support/redis_server.hpp>

#include <pawl/blocking.hpp>
#include <pawl/redis.hpp>
#include <redis/scripting/script.hpp>

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
using support::fault_kind;
using support::named;

// For leases whose expiry must not free a lock in a test.
inline constexpr pawl::duration long_ttl = 60s;
// For waits that must succeed, so that a failure is a message and not a hanging test.
inline constexpr pawl::duration patience = 30s;

inline constexpr pawl::lock_options shared{
    .ttl = long_ttl, .wait = patience, .mode = pawl::lock_mode::shared};
inline constexpr pawl::lock_options two_of_three{.ttl = long_ttl,
                                                 .wait = patience,
                                                 .mode = pawl::lock_mode::permits,
                                                 .permits = 2,
                                                 .total_permits = 3};
inline constexpr pawl::lock_options fair{.ttl = long_ttl, .wait = patience, .fair = true};

inline const std::string redisson_layout = "?layout=redisson";
// An owner as Java writes it.
inline const std::string java_owner = "176d4c5e-cbab-4c45-831e-b8c949d7ba8c:1";

// Log lines and error messages of the clients, from all threads.
class log_capture {
public:
    void write(std::string_view line);
    [[nodiscard]] std::string text() const;

private:
    mutable std::mutex mutex_;
    std::string text_;
};

struct failure {
    errc reason;
    std::string sentence;
};
std::ostream& operator<<(std::ostream& out, const std::optional<failure>& failed);

class redis_fixture {
public:
    explicit redis_fixture(support::redis_options server_options = {});

    // Directly to the server, or through the proxy. `suffix` is the end of the URL.
    [[nodiscard]] client direct_client(const std::string& suffix = {});
    [[nodiscard]] client proxied_client(const std::string& suffix = {});
    [[nodiscard]] client client_at(const std::string& url);

    // The failure of the call; its message is logged too.
    [[nodiscard]] std::optional<failure> failure_of(const std::function<void()>& call);

    // Matches EVALSHA and EVAL of one of the library's scripts.
    [[nodiscard]] static support::matcher script(const pawl::redis::script& which);
    // All keys but fence counters, which stay for a day.
    [[nodiscard]] std::vector<std::string> leftovers();
    // Waits until a lock is granted.
    [[nodiscard]] static bool can_acquire(client& locks) {
        return eventually([&] {
            try {
                return locks.try_acquire("probe", {.ttl = 2s}).owns_lock();
            } catch (const pawl::error&) {
                return false;
            }
        });
    }
    // Waits until no lock, queue or waiter is left.
    [[nodiscard]] bool becomes_clean() {
        return eventually([this] { return leftovers().empty(); });
    }
    [[nodiscard]] std::uint64_t waiters(const std::string& name);
    [[nodiscard]] bool is_held(const std::string& name);

    support::redis_server server;
    support::fault_proxy proxy;
    log_capture client_log;
};

// Records when the loss of a lock was reported, on the boot clock.
class loss_recorder {
public:
    explicit loss_recorder(const held_lock& lock);
    [[nodiscard]] bool is_told_within(std::chrono::nanoseconds timeout) const;
    [[nodiscard]] pawl::time_point told_at() const {
        return pawl::time_point(pawl::duration(told_at_));
    }

private:
    std::atomic<pawl::duration::rep> told_at_ = 0;
    std::stop_callback<std::function<void()>> callback_;
};

// Runs in the background; joined at the end of the scope.
class background_task {
public:
    explicit background_task(std::function<void()> work) : thread_(std::move(work)) {}
    void join() { thread_.join(); }

private:
    std::jthread thread_;
};

}  // namespace chaos
