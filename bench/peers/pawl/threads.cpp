// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_driver.hpp"

#include <pawl/blocking.hpp>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace peers {

namespace {

using pawl::boot_clock;

struct shared_ring {
    std::mutex mutex;
    std::condition_variable next;
    handoff_ring state;
};

void pass_lock_on(pawl::blocking::client& locks, shared_ring& turns) {
    for (;;) {
        auto lock = locks.acquire("hand");
        const auto now = boot_clock::now();
        std::unique_lock guard(turns.mutex);
        const auto own_turn = turns.state.enter(now);
        turns.next.notify_all();
        const bool over = turns.state.over;
        guard.unlock();
        if (!over) std::this_thread::sleep_for(random_hold_time());
        guard.lock();
        turns.state.released = boot_clock::now();
        guard.unlock();
        (void)lock.release();
        guard.lock();
        turns.next.wait(guard, [&] { return !turns.state.must_wait(own_turn); });
        if (turns.state.over) return;
    }
}

class threads : public lock_driver {
public:
    explicit threads(std::string url) : url_(std::move(url)) {}

    pairs_result measure_pairs(int users, double seconds) override {
        pawl::blocking::client& locks = client(0);
        pairs_result result;
        std::atomic<std::int64_t> count = 0;
        const auto began = boot_clock::now();
        {
            std::vector<std::jthread> workers;
            for (int user = 0; user < users; ++user) {
                workers.emplace_back([&, name = "pair/" + std::to_string(user)] {
                    for (auto before = began; microseconds(before - began) < seconds * 1e6;) {
                        (void)locks.acquire(name).release();
                        const auto now = boot_clock::now();
                        if (users == 1) result.us.push_back(microseconds(now - before));
                        before = now;
                        ++count;
                    }
                });
            }
        }
        result.pairs = count;
        result.seconds = microseconds(boot_clock::now() - began) / 1e6;
        return result;
    }

    std::vector<double> measure_handoff(int users, int clients, double seconds) override {
        shared_ring turns;
        {
            std::vector<std::jthread> workers;
            for (int user = 0; user < users; ++user) {
                workers.emplace_back(pass_lock_on, std::ref(client(user % clients)),
                                     std::ref(turns));
            }
            std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
            const std::lock_guard guard(turns.mutex);
            turns.state.over = true;
            turns.next.notify_all();
        }
        return turns.state.us;
    }

    void acquire(const std::string& name) override { held_[name] = client(0).acquire(name); }

    void release(const std::string& name) override {
        (void)held_[name].release();
        held_.erase(name);
    }

    void acquire_in_background(const std::string& name,
                               std::function<void()> on_acquired) override {
        waiters_.emplace_back([&locks = client(1), name, got = std::move(on_acquired)] {
            (void)locks.acquire(name).release();
            got();
        });
    }

    void watch_loss(const std::string& name, pawl::duration ttl,
                    std::function<void()> on_lost) override {
        held_[name] = client(0).acquire(name, {.ttl = ttl});
        watched_.emplace(held_[name].lost(), std::move(on_lost));
    }

private:
    pawl::blocking::client& client(int number) {
        while (static_cast<int>(clients_.size()) <= number) {
            clients_.push_back(std::make_unique<pawl::blocking::client>(pawl::from_url(url_)));
        }
        return *clients_[static_cast<std::size_t>(number)];
    }

    std::string url_;
    std::vector<std::unique_ptr<pawl::blocking::client>> clients_;
    std::map<std::string, pawl::blocking::held_lock> held_;
    std::vector<std::jthread> waiters_;
    std::optional<std::stop_callback<std::function<void()>>> watched_;
};

}  // namespace

std::unique_ptr<lock_driver> make_threads(std::string url) {
    return std::make_unique<threads>(std::move(url));
}

}  // namespace peers
