// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The code of docs/guide/family.md. Usage: family [URL]
#include <pawl/blocking.hpp>
#include <pawl/latch.hpp>
#include <pawl/semaphore.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

int count(pawl::fencing_token token) { return token ? 3 : 0; }

bool move_money(pawl::fencing_token savings, pawl::fencing_token current) {
    return savings && current;
}

bool work_under_a_lock(pawl::blocking::client& locks) {
    int books = with_lock(locks, "shelf", {.ttl = 10s, .wait = 1min},
                          [](auto& lock) { return count(lock.token()); });
    return books == 3;
}

bool poll(pawl::blocking::client& locks) {
    auto lock = locks.try_acquire("shelf", {.ttl = 10s, .retry = {.tries = 5, .interval = 200ms}});
    return lock.owns_lock();
}

bool enter_again(pawl::blocking::client& locks) {
    pawl::blocking::lock_owner clerk(locks);  // or pawl::lock_owner, from pawl/lock_owner.hpp
    auto outer = clerk.acquire("ledger", {.ttl = 10s});
    auto inner = clerk.acquire("ledger", {.ttl = 10s});  // no round trip, the same token
    return outer.token() == inner.token();
}

bool several_locks(pawl::blocking::client& locks) {
    const auto both =
        locks.acquire_all({"account/savings", "account/current"}, {.ttl = 10s, .wait = 1min});
    const bool moved = move_money(both.token("account/savings"), both.token("account/current"));
    return moved;
}

bool stripes(pawl::blocking::client& locks) {
    const std::array<std::string, 2> keys{"customer 8", "customer 9"};
    const pawl::striped stripes("books", 16);
    auto stripe = locks.acquire(stripes.name_for("customer 7"), {.ttl = 10s});
    (void)stripe.release();
    auto handles = locks.acquire_all(stripes.names_for(keys), {.ttl = 10s});
    return handles.owns_lock();
}

bool readers_and_writers(pawl::blocking::client& locks) {
    // From pawl/blocking/shared_mutex.hpp.
    pawl::blocking::shared_mutex door(locks, "prices", {.ttl = 10s});
    {
        std::shared_lock inside(door);  // together with other readers, in any process
    }
    {
        std::unique_lock inside(door);  // alone
    }
    return !door.handle();
}

bool downgrade(pawl::blocking::client& locks) {
    int price = 0;
    auto lock = locks.acquire("prices", {.ttl = 10s});
    ++price;
    lock.downgrade();  // readers enter, and no writer before the release
    return locks.try_acquire("prices", {.mode = pawl::lock_mode::shared}).owns_lock() && price == 1;
}

bool semaphore(pawl::blocking::client& locks) {
    // From pawl/blocking/semaphore.hpp.
    pawl::blocking::semaphore printers(locks, "printer", 3, {.ttl = 10s});
    printers.acquire();  // as std::counting_semaphore
    printers.release();
    auto two = printers.acquire_permits(2, 1min);  // or as a handle, with token() and lost()
    return two.owns_lock();
}

asio::awaitable<void> print(pawl::client& locks) {
    // From pawl/semaphore.hpp.
    pawl::semaphore printers(locks, "printer", 3, {.ttl = 10s});
    auto permit = co_await printers.async_acquire(1, 1min);
    (void)co_await permit.async_release();
}

bool strict_order(pawl::blocking::client& locks) {
    auto lock = locks.acquire("ticket", {.ttl = 10s, .fair = true});
    return lock.owns_lock();
}

bool latch(pawl::blocking::client& locks) {
    // From pawl/blocking/latch.hpp.
    pawl::blocking::latch loaded(locks, "loaded");
    loaded.try_set(3);  // returns false if it is counting already

    const auto load = [&] {
        loaded.count_down();  // three of these, in any process
    };
    const std::array<std::jthread, 3> crowd{std::jthread(load), std::jthread(load),
                                            std::jthread(load)};

    bool complete = loaded.wait_for(1min);  // woken by a push; false: not in time
    return complete;
}

asio::awaitable<void> load(pawl::client& locks) {
    // From pawl/latch.hpp.
    pawl::latch loaded(locks, "loaded");
    co_await loaded.async_count_down(1);
    co_await loaded.async_wait(1min);  // errc::timed_out: not in time
}

bool barrier(pawl::blocking::client& locks) {
    std::array<int, 3> steps{};
    std::mutex mutex;
    const auto work = [&](int& step) {
        const std::scoped_lock inside(mutex);
        ++step;
    };
    const auto run_party = [&] {
        pawl::blocking::barrier all(locks, "phase", 3);
        for (auto& step : steps) {
            work(step);
            all.arrive_and_wait();  // the third arrival releases all three
        }
    };
    {
        const std::array<std::jthread, 3> crowd{std::jthread(run_party), std::jthread(run_party),
                                                std::jthread(run_party)};
    }
    return steps == std::array{3, 3, 3};
}

asio::awaitable<void> run_party(pawl::client& locks, std::array<int, 3>& steps) {
    const auto work = [](int& step) { ++step; };
    // From pawl/latch.hpp.
    pawl::barrier all(locks, "phase", 3);
    for (auto& step : steps) {
        work(step);
        co_await all.async_arrive_and_wait(1min);  // waits at most 1 min
    }
}

bool coroutines(const pawl::service& service) {
    pawl::blocking::client blocking_locks(service);
    pawl::blocking::latch(blocking_locks, "loaded").try_set(3);
    std::array<int, 3> steps{};
    asio::io_context loop;
    pawl::client locks(loop.get_executor(), service);
    int running = 7;
    const auto on_end = [&](std::exception_ptr failed) {
        if (failed) std::rethrow_exception(failed);
        if (--running == 0) loop.stop();  // the open client would keep the loop running
    };
    asio::co_spawn(loop, print(locks), on_end);
    for (int i = 0; i < 3; ++i) {
        asio::co_spawn(loop, load(locks), on_end);
        asio::co_spawn(loop, run_party(locks, steps), on_end);
    }
    loop.run();
    return running == 0 && steps == std::array{3, 3, 3};
}

bool election(pawl::blocking::client& locks) {
    int rounds = 0;
    const auto work = [&](pawl::fencing_token) {
        if (++rounds == 3) locks.force_release("scheduler");
    };
    pawl::blocking::election election(locks, "scheduler", {.ttl = 10s});
    auto term = election.campaign();  // waits in the queue; a std::stop_token ends the wait
    while (!term.lost().stop_requested()) {
        work(term.token());
    }
    (void)term.release();  // resigns
    return rounds >= 3;
}

int main(int argc, char** argv) {
    const auto service = pawl::from_url(argc > 1 ? argv[1] : "memory:");
    pawl::blocking::client locks(service);
    int failed = coroutines(service) ? 0 : 1;
    for (auto* section :
         {work_under_a_lock, poll, enter_again, several_locks, stripes, readers_and_writers,
          downgrade, semaphore, strict_order, latch, barrier, election}) {
        failed += section(locks) ? 0 : 1;
    }
    std::cout << failed << " failed\n";
    return failed;
}
