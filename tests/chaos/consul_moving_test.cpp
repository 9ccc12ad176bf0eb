// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Eight processes move from Redis to Consul and back, one after the other, while they contend.
#include <support/consul_server.hpp>
#include <support/eventually.hpp>
#include <support/redis_server.hpp>

#include <pawl/blocking.hpp>
#include <pawl/both.hpp>
#include <pawl/consul.hpp>
#include <pawl/redis.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using support::eventually;

constexpr std::size_t processes = 8;

enum class step : int { old_store, both_stores, both_with_new_tokens, new_store };

// In memory that the processes share.
struct shared_state {
    std::array<std::atomic<step>, processes> steps{};
    std::array<std::atomic<int>, processes> holds_in_step{};
    std::atomic<int> inside = 0, overlaps = 0, losses = 0;
};

pawl::service service_of(step present, const std::string& redis, const std::string& consul) {
    const auto old_store = pawl::redis::at(redis);
    const auto new_store = pawl::consul::at(consul);
    switch (present) {
    case step::old_store: return old_store;
    case step::both_stores: return pawl::both(old_store, new_store);
    case step::both_with_new_tokens:
        return pawl::both(old_store, new_store, pawl::tokens_of::second);
    case step::new_store: break;
    }
    return new_store;
}

[[noreturn]] void contend(shared_state& state, std::size_t number, const std::string& redis,
                          const std::string& consul) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        const step present = state.steps[number];
        state.holds_in_step[number] = 0;
        pawl::blocking::client locks(service_of(present, redis, consul), {.try_limit = 10s});
        while (state.steps[number] == present) {
            try {
                auto held = locks.acquire("it", {.ttl = 30s, .wait = 2s});
                if (state.inside.fetch_add(1) != 0) ++state.overlaps;
                std::this_thread::sleep_for(1ms);  // the work
                --state.inside;
                if (held.release() != pawl::release_result::released) ++state.losses;
                ++state.holds_in_step[number];
                std::this_thread::sleep_for(5ms);  // the others get it
            } catch (const pawl::error&) {}        // it was not free for long
        }
    }
}

class Moving : public testing::Test {
protected:
    Moving() {
        auto* const memory = ::mmap(nullptr, sizeof(shared_state), PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
        state = new (memory) shared_state;
        for (std::size_t i = 0; i < processes; ++i) {
            const auto process = ::fork();
            if (process == 0) contend(*state, i, redis.url(), consul.url());
            workers.push_back(process);
        }
    }
    ~Moving() override {
        for (const auto each : workers) {
            ::kill(each, SIGKILL);
            ::waitpid(each, nullptr, 0);
        }
        ::munmap(state, sizeof(shared_state));
    }

    // Each process in turn, while the others go on.
    void move_all(step next) {
        for (std::size_t i = 0; i < processes; ++i) {
            state->steps[i] = next;
            state->holds_in_step[i] = 0;
            const auto has_held = [&] { return state->holds_in_step[i] >= 2; };
            EXPECT_TRUE(eventually(has_held, 60s)) << "process " << i;
        }
    }

    support::redis_server redis;
    support::consul_server consul;
    shared_state* state = nullptr;
    std::vector<pid_t> workers;
};

TEST_F(Moving, EightProcessesMoveThereAndBackWithoutAGap) {
    for (const auto next : {step::both_stores, step::both_with_new_tokens, step::new_store,
                            step::both_with_new_tokens, step::both_stores, step::old_store})
        move_all(next);
    EXPECT_EQ(state->overlaps, 0);
    EXPECT_EQ(state->losses, 0);
}

// What the test above must be able to see.
TEST_F(Moving, WithoutTheStepsBetweenThereIsAGap) {
    for (std::size_t i = 0; i < processes; i += 2)
        state->steps[i] = step::new_store;
    EXPECT_TRUE(eventually([&] { return state->overlaps > 0; }, 60s));
}

}  // namespace
