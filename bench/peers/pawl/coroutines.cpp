// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_driver.hpp"

#include <pawl/client.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <future>
#include <map>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace peers {

namespace {

namespace asio = boost::asio;
using pawl::boot_clock;

// Used only on the loop's single thread.
struct shared_ring {
    explicit shared_ring(asio::io_context& loop) : turn_began(loop) {}
    handoff_ring state;
    asio::steady_timer turn_began;  // cancelled when a turn begins
};

asio::awaitable<void> run_pairs(pawl::client& locks, std::string name, pawl::time_point end,
                                std::vector<double>* durations, pairs_result& result) {
    for (auto before = boot_clock::now(); before < end;) {
        pawl::held_lock lock = co_await locks.async_acquire(name, {}, asio::use_awaitable);
        (void)co_await lock.async_release(asio::use_awaitable);
        const auto now = boot_clock::now();
        if (durations != nullptr) durations->push_back(microseconds(now - before));
        before = now;
        ++result.pairs;
    }
}

asio::awaitable<void> pass_lock_on(pawl::client& locks, shared_ring& turns) {
    handoff_ring& state = turns.state;
    asio::steady_timer rest(co_await asio::this_coro::executor);
    while (!state.over) {
        pawl::held_lock lock = co_await locks.async_acquire("hand", {}, asio::use_awaitable);
        const auto own_turn = state.enter(boot_clock::now());
        turns.turn_began.cancel();
        if (!state.over) {
            rest.expires_after(random_hold_time());
            co_await rest.async_wait(asio::use_awaitable);
        }
        state.released = boot_clock::now();
        (void)co_await lock.async_release(asio::use_awaitable);
        while (state.must_wait(own_turn)) {
            turns.turn_began.expires_at(asio::steady_timer::time_point::max());
            co_await turns.turn_began.async_wait(asio::as_tuple(asio::use_awaitable));
        }
    }
}

asio::awaitable<void> stop_after(shared_ring& turns, pawl::duration span) {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    timer.expires_after(span);
    co_await timer.async_wait(asio::use_awaitable);
    turns.state.over = true;
    turns.turn_began.cancel();
}

asio::awaitable<void> acquire_and_release(pawl::client& locks, std::string name,
                                          std::function<void()> on_acquired) {
    pawl::held_lock lock = co_await locks.async_acquire(name, {}, asio::use_awaitable);
    (void)co_await lock.async_release(asio::use_awaitable);
    on_acquired();
}

class coroutines : public lock_driver {
public:
    explicit coroutines(std::string url) : url_(std::move(url)) {}

    ~coroutines() override {
        watched_.reset();
        held_.clear();
        clients_.clear();
        work_.reset();
        loop_.stop();
        runner_.join();
    }

    pairs_result measure_pairs(int users, double seconds) override {
        pairs_result result;
        const auto began = boot_clock::now();
        const auto end = began + to_duration(seconds);
        std::vector<std::future<void>> futures;
        for (int user = 0; user < users; ++user) {
            futures.push_back(
                asio::co_spawn(loop_,
                               run_pairs(client(0), "pair/" + std::to_string(user), end,
                                         users == 1 ? &result.us : nullptr, result),
                               asio::use_future));
        }
        for (auto& each : futures)
            each.get();
        result.seconds = microseconds(boot_clock::now() - began) / 1e6;
        return result;
    }

    std::vector<double> measure_handoff(int users, int clients, double seconds) override {
        shared_ring turns(loop_);
        std::vector<std::future<void>> futures;
        for (int user = 0; user < users; ++user) {
            futures.push_back(asio::co_spawn(loop_, pass_lock_on(client(user % clients), turns),
                                             asio::use_future));
        }
        futures.push_back(
            asio::co_spawn(loop_, stop_after(turns, to_duration(seconds)), asio::use_future));
        for (auto& each : futures)
            each.get();
        return turns.state.us;
    }

    void acquire(const std::string& name) override {
        held_[name] = client(0).async_acquire(name, {}, asio::use_future).get();
    }

    void release(const std::string& name) override {
        (void)held_[name].async_release(asio::use_future).get();
        held_.erase(name);
    }

    void acquire_in_background(const std::string& name,
                               std::function<void()> on_acquired) override {
        asio::co_spawn(loop_, acquire_and_release(client(1), name, std::move(on_acquired)),
                       asio::detached);
    }

    void watch_loss(const std::string& name, pawl::duration ttl,
                    std::function<void()> on_lost) override {
        held_[name] = client(0).async_acquire(name, {.ttl = ttl}, asio::use_future).get();
        watched_.emplace(held_[name].lost(), std::move(on_lost));
    }

private:
    static pawl::duration to_duration(double seconds) {
        return std::chrono::duration_cast<pawl::duration>(std::chrono::duration<double>(seconds));
    }

    pawl::client& client(int number) {
        while (static_cast<int>(clients_.size()) <= number) {
            clients_.push_back(
                std::make_unique<pawl::client>(loop_.get_executor(), pawl::from_url(url_)));
        }
        return *clients_[static_cast<std::size_t>(number)];
    }

    std::string url_;
    asio::io_context loop_{1};
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_{
        asio::make_work_guard(loop_)};
    std::vector<std::unique_ptr<pawl::client>> clients_;
    std::map<std::string, pawl::held_lock> held_;
    std::optional<std::stop_callback<std::function<void()>>> watched_;
    std::thread runner_{[this] { loop_.run(); }};
};

}  // namespace

std::unique_ptr<lock_driver> make_coroutines(std::string url) {
    return std::make_unique<coroutines>(std::move(url));
}

}  // namespace peers
