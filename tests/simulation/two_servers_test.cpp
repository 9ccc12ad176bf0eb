// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A client whose names are spread over two servers, each with its own clock, network and faults.
#include "server/spread_servers.hpp"
#include "world/simulated_program.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

constexpr std::size_t dying = 0, living = 1;
constexpr lock_options short_hold{.ttl = 2s};

// Names on one server, each new.
class name_source {
public:
    explicit name_source(std::size_t server) : server_(server) {}
    std::string next() {
        for (;;) {
            auto name = "it/" + std::to_string(++last_);
            if (server_of("pawl:{" + name + "}", 2) == server_) return name;
        }
    }

private:
    const std::size_t server_;
    int last_ = 0;
};

class TwoServers : public testing::Test {
protected:
    TwoServers() { servers_[living].jump_clock(-(7s / 1us)); }
    ~TwoServers() override {
        program_.process.post([this] {
            held_.clear();
            program_.locks.reset();
        });
        loop_.run_for(30s);
    }

    struct request {
        std::optional<boost::system::error_code> outcome;
        instant began_at{}, ended_at{};
        asio::cancellation_signal cancellation;
    };
    void hold(const std::string& name, lock_options options, request& sent) {
        sent.began_at = loop_.now();
        program_.process.post([this, name, options, &sent] {
            program_.locks->async_acquire(
                name, options,
                asio::bind_cancellation_slot(
                    sent.cancellation.slot(),
                    asio::bind_executor(
                        program_.process.get_executor(),
                        [this, &sent](const boost::system::error_code& ec, held_lock lock) {
                            sent.outcome = ec;
                            sent.ended_at = loop_.now();
                            if (!ec) held_.push_back(std::move(lock));
                        })));
        });
    }
    // Acquires and releases a lock; returns how long the acquire took.
    std::chrono::nanoseconds use_lock(const std::string& name) {
        request sent;
        hold(name, short_hold, sent);
        while (!sent.outcome && loop_.step()) {}
        EXPECT_FALSE(*sent.outcome) << sent.outcome->message();
        program_.process.post([this] { held_.pop_back(); });
        loop_.run_for(20ms);
        return sent.ended_at - sent.began_at;
    }
    void acquire_on(std::size_t server, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            request sent;
            hold(names_[server].next(), short_hold, sent);
            while (!sent.outcome && loop_.step()) {}
            ASSERT_FALSE(*sent.outcome) << sent.outcome->message();
        }
    }
    [[nodiscard]] std::size_t count(lock_state state, std::size_t from, std::size_t to) const {
        return static_cast<std::size_t>(
            std::count_if(held_.begin() + static_cast<std::ptrdiff_t>(from),
                          held_.begin() + static_cast<std::ptrdiff_t>(to),
                          [&](const held_lock& each) { return each.state() == state; }));
    }
    [[nodiscard]] bool has_keys(std::size_t server, const std::string& name) {
        auto& data = servers_[server].server().data();
        return data.peek("pawl:{" + name + "}") != nullptr;
    }

    scheduler loop_;
    prng random_{1};
    std::array<simulated_network, 2> servers_{
        simulated_network{loop_, random_.fork(), network_faults{}, "a"},
        simulated_network{loop_, random_.fork(), network_faults{}, "b"}};
    const redis::options options_;
    single_client_process program_{
        loop_, {&servers_[dying], &servers_[living]}, options_, random_.fork()};
    std::vector<held_lock> held_;
    std::array<name_source, 2> names_{name_source(dying), name_source(living)};
};

// With true the dead server is silent; otherwise it refuses connections.
class DeadServer : public TwoServers, public testing::WithParamInterface<bool> {
protected:
    void kill() {
        if (GetParam())
            servers_[dying].freeze();
        else
            servers_[dying].stop_server();
    }
    void revive() {
        if (GetParam())
            servers_[dying].thaw();
        else
            servers_[dying].start_server({});
    }
};

// A is `dying`, B is `living`.
//   P: holds 10 locks of A and 10 of B, ttl 2 s | A dies for 10 s | P: renews all 20 in one batch
//   | B answers at once, A never | P: the 10 of A are lost, those of B are renewed in time, always
//   | P: acquires locks of B meanwhile, and waits for none of A's replies | A is back: P acquires
TEST_P(DeadServer, DelaysNothingAtTheOther) {
    acquire_on(dying, 10);
    acquire_on(living, 10);
    kill();
    const auto dead_until = loop_.now() + 10s;
    request waits_for_dead;
    hold(names_[dying].next(), {.ttl = 2s, .wait = 1min}, waits_for_dead);
    while (loop_.now() < dead_until) {
        EXPECT_LT(use_lock(names_[living].next()), 5ms);
        ASSERT_EQ(count(lock_state::held, 10, 20), 10U) << "at " << loop_.now() / 1ms << " ms";
        loop_.run_for(100ms);
    }
    EXPECT_EQ(count(lock_state::lost, 0, 10), 10U);
    EXPECT_FALSE(waits_for_dead.outcome);
    revive();
    loop_.run_for(10s);
    ASSERT_TRUE(waits_for_dead.outcome);
    EXPECT_FALSE(*waits_for_dead.outcome);
    EXPECT_EQ(count(lock_state::held, 10, 20), 10U);
}

//   P: 70 acquires at A without an answer, all given up | their undos wait for A | P: gives up an
//   acquire at B whose reply is on its way | B: undone at once, not behind the undos of A
TEST_P(DeadServer, DelaysNoUndosAtTheOther) {
    acquire_on(dying, 1);
    acquire_on(living, 1);
    kill();
    std::vector<std::unique_ptr<request>> given_up;
    for (int i = 0; i < 70; ++i) {
        auto& sent = *given_up.emplace_back(std::make_unique<request>());
        hold(names_[dying].next(), {.ttl = 2s, .wait = 1min}, sent);
    }
    loop_.run_for(100ms);
    for (const auto& each : given_up)
        program_.process.post(
            [sent = each.get()] { sent->cancellation.emit(asio::cancellation_type::terminal); });
    loop_.run_for(3s);
    for (int i = 0; i < 20; ++i) {
        request abandoned;
        const auto name = names_[living].next();
        hold(name, {.ttl = 1min, .wait = 1min}, abandoned);
        while (!has_keys(living, name) && !abandoned.outcome && loop_.step()) {}
        ASSERT_FALSE(abandoned.outcome) << "it was answered before it could be given up";
        program_.process.post([&] { abandoned.cancellation.emit(asio::cancellation_type::all); });
        loop_.run_for(50ms);
        EXPECT_FALSE(has_keys(living, name));
    }
    revive();
}

//   P: requests one lock of A and one of B together | no server has both: P acquires them one after
//   the other
TEST_F(TwoServers, LocksOfBothAreAcquiredOneByOne) {
    const auto acquire_both = [this](auto... options) {
        std::optional<std::size_t> acquired;
        program_.process.post([&, this] {
            program_.locks->async_acquire_all(
                {names_[dying].next(), names_[living].next()}, options...,
                asio::bind_executor(program_.process.get_executor(),
                                    [&](const boost::system::error_code& ec, held_locks locks) {
                                        acquired = ec || !locks ? 0 : locks.size();
                                    }));
        });
        while (!acquired && loop_.step()) {}
        return acquired;
    };
    EXPECT_EQ(acquire_both(short_hold), 2U);
    const auto requests_before = program_.process.hold_requests();
    EXPECT_EQ(acquire_both(short_hold), 2U);
    EXPECT_EQ(program_.process.hold_requests(), requests_before + 2) << "one to each server";
}

//   A restarts without its data, B keeps its own | P: connects to A, another run id | P: renews all
TEST_F(TwoServers, OnlyTheServerThatLostItsDataLosesHolds) {
    acquire_on(dying, 5);
    acquire_on(living, 5);
    servers_[dying].stop_server();
    servers_[dying].start_server({});
    loop_.run_for(1500ms);
    EXPECT_EQ(count(lock_state::lost, 0, 5), 5U);
    EXPECT_EQ(count(lock_state::held, 5, 10), 5U);
}

INSTANTIATE_TEST_SUITE_P(Each, DeadServer, testing::Bool(), [](const auto& test) {
    return std::string(test.param ? "Silent" : "Refusing");
});

}  // namespace
}  // namespace pawl::simulation
