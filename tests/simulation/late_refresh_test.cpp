// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The server executes a waiter's refresh late, when the waiter has had the lock and released it.
#include "server/known_scripts.hpp"
#include "world/simulated_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;

// Breaks the connection of the first refresh while it is on its way to the server.
class refresh_breaker final : public simulated_network::observer {
public:
    refresh_breaker(scheduler& loop, simulated_network& network) : loop_(loop), network_(network) {}

    void on_sent(simulated_process& process, const words& command) override {
        if (!is_refresh(command) || ++sent_ > 1) return;
        loop_.schedule_after(1us, [this, &process] { network_.break_all(process); });
    }
    void on_executed(simulated_network&, simulated_process&, const words& command,
                     const redis::reply&) override {
        if (is_refresh(command)) ++executed_;
    }
    // After the first refresh, others follow over a new connection.
    [[nodiscard]] bool is_replaced() const noexcept { return sent_ > 1 && executed_ > 0; }
    [[nodiscard]] bool is_late() const noexcept { return executed_ < sent_; }

private:
    static bool is_refresh(const words& command) {
        const auto* const script = command.size() > 1 ? find_script(command[1]) : nullptr;
        return script != nullptr && script->name == "refresh";
    }
    scheduler& loop_;
    simulated_network& network_;
    int sent_ = 0, executed_ = 0;
};

constexpr lock_options hold{.ttl = 30s};

std::size_t waiters_at(simulated_network& network) {
    std::size_t count = 0;
    for (const auto& [key, entry] : network.server().data().all())
        if (const auto* const queue = std::get_if<store::sorted_set>(&entry.content))
            count += queue->size();
    return count;
}

// A holds the lock, and B waits | B's refresh is on its way when the connection ends, and arrives
// seconds later | B refreshes over a new connection | A releases, B has the lock, and releases it |
// C has the lock | the refresh arrives, and B is in the queue again, although nobody waits there
//
// Each undo that B repeats for its unanswered refresh removes it. Before, only a refresh that was
// the attempt's last was undone, and B kept its place for as long as the server keeps places.
TEST(LateRefresh, LeavesNoWaiterBehind) {
    int late_refreshes = 0;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        set_current_seed(seed);
        scheduler loop;
        prng random(seed);
        network_faults faults;
        faults.late_delivery = 1;
        faults.longest_late_delay = 3s;
        simulated_network network(loop, random.fork(), faults);
        const redis::options options;
        single_user a(loop, network, options, random.fork()),
            b(loop, network, options, random.fork()), c(loop, network, options, random.fork());
        refresh_breaker breaker(loop, network);
        network.set_observer(&breaker);
        a.acquire(hold);
        loop.run_for(100ms);
        b.acquire(hold);
        while (!breaker.is_replaced())
            loop.run_for(10ms);
        a.release();
        loop.run_for(20ms);
        const bool had_the_lock = static_cast<bool>(b.held);
        b.release();
        c.acquire(hold);
        loop.run_for(20ms);
        const bool is_late = had_the_lock && breaker.is_late();
        loop.run_for(8s);
        if (is_late && c.held) {
            ++late_refreshes;
            EXPECT_EQ(waiters_at(network), 0U) << "seed " << seed;
        }
        network.set_observer(nullptr);
        for (auto* each : {&a, &b, &c})
            each->close();
        loop.run_for(20s);
    }
    EXPECT_GT(late_refreshes, 10);
}

}  // namespace
}  // namespace pawl::simulation
