// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Failovers between two servers, whose replication lags and whose clocks differ. The programs learn
// of a failover at different times, and the old master may serve the others meanwhile.
#include "server/following_link.hpp"
#include "workload/single_client_process.hpp"

#include <boost/asio/bind_executor.hpp>

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

constexpr unsigned epoch_shift = 47;
constexpr std::array<const char*, 2> names{"a", "b"};
constexpr auto longest_ttl = 4s;

// What a holder believes: from its grant until it released the lock, or was told of the loss.
struct believed_hold {
    std::string name;
    std::uint64_t token = 0;
    instant requested_at{}, granted_at{};
    std::optional<instant> ended_at{};
    // When the holder went on to another master. The one that granted the hold then gets no
    // renewals any more, and may grant the lock to programs that are still there.
    std::optional<instant> moved_at{};
    [[nodiscard]] std::uint64_t epoch() const noexcept { return token >> epoch_shift; }
};

struct follower {
    follower(scheduler& loop, const std::vector<simulated_network*>& servers, prng random,
             const redis::options& options)
        : process(loop, time_point(1h), 1.0), time(process, random), choices(random.fork()) {
        const auto named = client_options_for("test", time);
        locks.emplace(process.get_executor(), following_service(servers, notice, process, options),
                      named);
    }
    simulated_process process;
    virtual_runtime time;
    prng choices;
    master_notice notice;
    std::optional<client> locks;
    std::optional<held_lock> held;
    believed_hold* hold = nullptr;
    bool is_waiting = false;
};

// `uses_epochs`: false for the variant that must fail.
class failover_scenario {
public:
    explicit failover_scenario(std::uint64_t seed, bool uses_epochs = true)
        : random_(seed), uses_epochs_(uses_epochs) {
        set_current_seed(seed);
        for (const std::string label : {"a", "b"})
            networks_.push_back(std::make_unique<simulated_network>(loop_, random_.fork(),
                                                                    network_faults{}, label));
        networks_[1]->jump_clock(random_.between(-24 * 3600, 3600) * 1'000'000);
        networks_[1]->stop_server();
        for (int i = 0; i < 3; ++i)
            followers_.push_back(std::make_unique<follower>(
                loop_, std::vector{networks_[0].get(), networks_[1].get()}, random_.fork(),
                options_));
        replica_data_ = networks_[0]->server().take_snapshot();
    }
    ~failover_scenario() {
        for (const auto& each : followers_)
            each->process.post([&each] {
                each->held.reset();
                each->locks.reset();
            });
        loop_.run_for(1min);
    }

    // Returns the first violation; empty if there is none.
    std::string run() {
        replicate();
        for (const auto& each : followers_)
            use_locks(*each);
        for (auto failovers = 2 + random_.below(3); failovers > 0; --failovers) {
            loop_.run_for(random_time(500ms, 4s));
            fail_over();
            loop_.run_for(longest_ttl + 2s);
            // Everybody has moved, and what the new master did not know is over.
            check_one_believer_each();
        }
        check_tokens();
        return violation_;
    }
    [[nodiscard]] std::size_t grants() const noexcept { return holds_.size(); }

private:
    instant random_time(instant low, instant high) {
        return instant(random_.between(low.count(), high.count()));
    }
    simulated_network& master() { return *networks_[master_]; }

    // The replica has the master's data of a moment ago.
    void replicate() {
        loop_.schedule_after(random_time(10ms, 300ms), [this] {
            if (master().is_up()) {
                const auto reign = epoch_;
                auto data =
                    std::make_shared<simulated_redis::snapshot>(master().server().take_snapshot());
                loop_.schedule_after(random_time(0ms, 500ms), [this, data, reign] {
                    if (reign == epoch_) replica_data_ = std::move(*data);
                });
            }
            replicate();
        });
    }

    //   A: the master, its data reach B late | planned, or A dies, or A is cut off with some of the
    //   programs | B: the master, with what it has | each program: follows at a time of its own, in
    //   a split only after seconds in which A grants locks to it
    void fail_over() {
        const bool dies = random_.happens(0.3);
        const bool splits = !dies && random_.happens(0.5);
        auto& old_master = master();
        if (dies) old_master.stop_server();
        master_ = 1 - master_;
        ++epoch_;
        master().start_server(replica_data_);
        instant last_move{};
        for (const auto& each : followers_) {
            const auto delay = random_time(1ms, splits ? 5s : 500ms);
            last_move = std::max(last_move, delay);
            loop_.schedule_after(delay, [this, program = each.get(), to = master_, epoch = epoch_] {
                program->process.post([this, program, to, epoch] {
                    if (program->hold && !program->hold->moved_at)
                        program->hold->moved_at = loop_.now();
                    program->notice.move_to(to, uses_epochs_ ? epoch : 0);
                });
            });
        }
        loop_.run_for(last_move + 1ms);
        if (!dies) old_master.stop_server();
    }

    void use_locks(follower& program) {
        loop_.schedule_after(random_time(1ms, 400ms), [this, &program] {
            program.process.post([this, &program] { use_lock(program); });
        });
    }
    void use_lock(follower& program) {
        if (!program.locks) return;
        const std::string name = names[program.choices.below(names.size())];
        const auto requested_at = loop_.now();
        const lock_options options{.ttl = 1s * program.choices.between(1, longest_ttl / 1s),
                                   .wait = 10s};
        program.locks->async_acquire(
            name, options,
            asio::bind_executor(program.process.get_executor(),
                                [this, &program, name, requested_at](
                                    const boost::system::error_code& ec, held_lock lock) {
                                    if (!ec)
                                        note_grant(program, name, requested_at, std::move(lock));
                                    if (ec && program.locks) use_locks(program);
                                }));
    }
    void note_grant(follower& program, const std::string& name, instant requested_at,
                    held_lock lock) {
        holds_.push_back(std::make_unique<believed_hold>());
        auto& hold = *holds_.back();
        hold = {name, lock.token().value(), requested_at, loop_.now()};
        program.held.emplace(std::move(lock));
        program.hold = &hold;
        program.held->async_wait_lost(asio::bind_executor(
            program.process.get_executor(),
            [this, &hold](const boost::system::error_code&, loss_reason) { end(hold); }));
        loop_.schedule_after(instant(program.choices.between(0, 1'500'000'000)), [this, &program] {
            program.process.post([this, &program] {
                if (!program.locks) return;
                end(*program.hold);
                program.held.reset();
                use_locks(program);
            });
        });
    }
    void end(believed_hold& hold) const {
        if (!hold.ended_at) hold.ended_at = loop_.now();
    }

    void fail(const std::string& sentence) {
        if (violation_.empty()) violation_ = sentence;
    }
    void check_one_believer_each() {
        for (const std::string name : names) {
            const auto believers = std::ranges::count_if(
                holds_, [&](const auto& each) { return each->name == name && !each->ended_at; });
            if (believers > 1) fail("two holders of " + name + " at rest");
        }
    }
    void check_tokens() {
        for (const auto& first : holds_)
            for (const auto& second : holds_) {
                if (first == second || first->name != second->name) continue;
                if (first->token == second->token) fail("a token was issued twice");
                if (first->granted_at >= second->requested_at) continue;
                if (first->epoch() <= second->epoch() && first->token > second->token)
                    fail("a token of the same or a later master is smaller");
                const auto until = std::min(first->ended_at.value_or(instant::max()),
                                            first->moved_at.value_or(instant::max()));
                if (first->epoch() == second->epoch() && until > second->granted_at)
                    fail("two holders of " + first->name + " by one master");
            }
    }

    scheduler loop_;
    prng random_;
    const bool uses_epochs_;
    const redis::options options_;
    std::vector<std::unique_ptr<simulated_network>> networks_;
    std::vector<std::unique_ptr<follower>> followers_;
    std::vector<std::unique_ptr<believed_hold>> holds_;
    simulated_redis::snapshot replica_data_;
    std::size_t master_ = 0;
    std::uint64_t epoch_ = 0;
    std::string violation_;
};

TEST(Failover, TokensGrowAndHoldsOfOneMasterNeverOverlap) {
    std::size_t grants = 0;
    for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
        failover_scenario scenario(seed);
        ASSERT_EQ(scenario.run(), "") << "seed " << seed;
        grants += scenario.grants();
    }
    EXPECT_GT(grants, 2000U * 10);
}

// Without epochs, a promoted replica with a slow clock issues tokens that were issued before.
TEST(Failover, WithoutEpochsTokensGoBack) {
    std::size_t violations = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed)
        if (!failover_scenario(seed, false).run().empty()) ++violations;
    EXPECT_GT(violations, 10U);
}

}  // namespace
}  // namespace pawl::simulation
