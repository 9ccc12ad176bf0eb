// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Programs with locks in a cluster, whose slots move key by key, whose connections break, and whose
// masters are replaced.
#include "server/cluster_links.hpp"
#include "workload/single_client_process.hpp"

#include <boost/asio/bind_executor.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
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
constexpr auto longest_ttl = 4s;
// A replaced master hears of it within milliseconds, or it has been down for longer; a reply may
// come later.
constexpr auto longest_outdated = 1s;
constexpr std::array<const char*, 3> names{"a", "b", "c"};

// What a holder believes: from its grant until it released the lock, or was told of the loss.
struct cluster_hold {
    std::string name;
    std::uint64_t token = 0;
    instant requested_at{}, granted_at{};
    std::optional<instant> ended_at{};
    [[nodiscard]] std::uint64_t epoch() const noexcept { return token >> epoch_shift; }
};

struct cluster_program {
    cluster_program(scheduler& loop, simulated_cluster& cluster, prng random,
                    const redis::options& options, cluster_bug bug)
        : process(loop, time_point(1h), 1.0), time(process, random), choices(random.fork()) {
        const auto named = client_options_for("test", time);
        locks.emplace(process.get_executor(), clustered_service(cluster, process, options, bug),
                      named);
    }
    simulated_process process;
    virtual_runtime time;
    prng choices;
    std::optional<client> locks;
    std::optional<held_lock> held;
    cluster_hold* hold = nullptr;
};

struct cluster_variant {
    bool moves = false;      // slots move
    bool breaks = false;     // connections break
    bool failovers = false;  // masters are replaced, planned and not
};

class cluster_scenario {
public:
    cluster_scenario(std::uint64_t seed, const cluster_variant& variant,
                     cluster_bug bug = cluster_bug::none)
        : random_(seed), variant_(variant) {
        set_current_seed(seed);
        network_faults faults;
        if (variant.breaks) {
            faults.break_on_request = faults.break_on_reply = 0.005;
            faults.late_delivery = 0.5;
            faults.longest_late_delay = 300ms;
            faults.slow_message = 0.02;
            faults.longest_delay = 100ms;
        }
        cluster_.emplace(loop_, random_.fork(), faults, cluster_plan{});
        // A replica whose clock is behind keeps a dead holder's lock longer than its ttl.
        is_skewed_ = random_.happens(0.5);
        for (std::size_t i = 0; i < cluster_->node_count(); ++i)
            cluster_->network(i).jump_clock(clock_error());
        cluster_->on_promotion([this](std::size_t node, std::size_t old_master) {
            for (const auto* const name : names)
                if (has_part_in(slot_of_lock(name), node, old_master))
                    promotions_.push_back({name, loop_.now()});
        });
        for (int i = 0; i < 3; ++i)
            programs_.push_back(
                std::make_unique<cluster_program>(loop_, *cluster_, random_.fork(), options_, bug));
    }
    ~cluster_scenario() {
        for (const auto& each : programs_)
            each->process.post([&each] {
                each->held.reset();
                each->locks.reset();
            });
        loop_.run_for(1min);
    }

    // Returns the first violation; empty if there is none.
    std::string run() {
        for (const auto& each : programs_)
            use_locks(*each);
        for (int round = 0; round < 4; ++round) {
            loop_.run_for(random_time(500ms, 3s));
            if (variant_.moves) move_a_slot();
            if (variant_.failovers) replace_a_master();
        }
        loop_.run_for(5s);
        finish();
        check_holds();
        return violation_;
    }
    [[nodiscard]] std::size_t grants() const noexcept { return holds_.size(); }

private:
    instant random_time(instant low, instant high) {
        return instant(random_.between(low.count(), high.count()));
    }
    std::int64_t clock_error() {
        const std::int64_t most = is_skewed_ ? 60'000'000 : 1'000'000;
        return random_.between(-most, most);
    }
    static std::size_t slot_of_lock(const std::string& name) { return slot_of("{" + name + "}"); }
    // Whether a slot's keys, or some of them, were at the master.
    bool has_part_in(std::size_t slot, std::size_t node, std::size_t old_master) const {
        return cluster_->view(node).owner_of(slot) == node ||
               cluster_->target_of(slot) == old_master;
    }
    std::string random_name() { return names[random_.below(names.size())]; }

    void move_a_slot() {
        const auto slot = slot_of_lock(random_name());
        const auto owner = cluster_->owner_of(slot);
        auto to = owner;
        while (to == owner || !cluster_->view(to).is_master())
            to = random_.below(cluster_->node_count());
        cluster_->move_slot(slot, to);
    }

    //   planned, or the replica takes over, or the master dies and comes back later, or it is cut
    //   off from the other nodes, but not from the programs, for some seconds
    void replace_a_master() {
        const auto master = cluster_->owner_of(slot_of_lock(random_name()));
        const auto replica = cluster_->replica_of(master);
        if (master == cluster_view::no_node || replica == cluster_view::no_node) return;
        switch (random_.below(4)) {
        case 0: return cluster_->fail_over(replica);
        case 1: return void(cluster_->take_over(replica));
        case 2:
            cluster_->kill(master);
            loop_.run_for(random_time(1s, 6s));
            return cluster_->restart(master);
        default:
            cluster_->isolate(master);
            loop_.run_for(random_time(1s, 6s));
            return cluster_->heal_bus();
        }
    }

    void use_locks(cluster_program& program) {
        loop_.schedule_after(random_time(1ms, 400ms), [this, &program] {
            program.process.post([this, &program] {
                if (program.locks && !is_finishing_)
                    acquire(program, names[program.choices.below(names.size())]);
            });
        });
    }
    void acquire(cluster_program& program, const std::string& name) {
        const auto requested_at = loop_.now();
        const lock_options options{.ttl = 1s * program.choices.between(1, longest_ttl / 1s),
                                   .wait = 10s};
        const bool must_succeed =
            variant_.failovers ? is_calm_ && !is_skewed_ : is_calm_ || !variant_.breaks;
        ++attempts_;
        program.locks->async_acquire(
            name, options,
            asio::bind_executor(program.process.get_executor(),
                                [this, &program, name, requested_at, must_succeed](
                                    const boost::system::error_code& ec, held_lock lock) {
                                    --attempts_;
                                    if (!ec)
                                        return note_grant(program, name, requested_at,
                                                          std::move(lock));
                                    if (must_succeed)
                                        fail("no lock, without a fault: " + ec.message());
                                    use_locks(program);
                                }));
    }
    void note_grant(cluster_program& program, const std::string& name, instant requested_at,
                    held_lock lock) {
        holds_.push_back(std::make_unique<cluster_hold>());
        auto& hold = *holds_.back();
        hold = {name, lock.token().value(), requested_at, loop_.now()};
        program.held.emplace(std::move(lock));
        program.hold = &hold;
        program.held->async_wait_lost(asio::bind_executor(
            program.process.get_executor(),
            [this, &hold](const boost::system::error_code&, loss_reason) {
                // A grant may be confirmed too late because its slot moves.
                const bool was_late = variant_.moves && hold.granted_at == loop_.now();
                if (!hold.ended_at && !was_late && !variant_.failovers && !variant_.breaks)
                    fail("a hold was lost without a fault");
                end(hold);
            }));
        loop_.schedule_after(instant(program.choices.between(0, 1'500'000'000)), [this, &program] {
            program.process.post([this, &program] {
                if (!program.locks) return;
                end(*program.hold);
                program.held.reset();
                use_locks(program);
            });
        });
    }
    void end(cluster_hold& hold) const {
        if (!hold.ended_at) hold.ended_at = loop_.now();
    }
    void fail(const std::string& sentence) {
        if (violation_.empty())
            violation_ = sentence + " at " + std::to_string(loop_.now() / 1ms) + " ms";
    }

    // The faults end, the nodes agree, and each program gets each lock in turn.
    void finish() {
        is_finishing_ = true;
        cluster_->stop_faults();
        const auto wait_until = [&](const char* failure, auto condition) {
            for (int i = 0; i < 300 && !condition(); ++i)
                loop_.run_for(100ms);
            if (!condition()) fail(std::string("at the end, ") + failure);
        };
        wait_until("the nodes do not agree",
                   [&] { return cluster_->is_agreed() && !cluster_->is_moving(); });
        wait_until("an acquire does not end", [&] { return attempts_ == 0; });
        wait_until("a hold does not end", [&] {
            return std::ranges::none_of(programs_,
                                        [](auto& each) { return each->held.has_value(); });
        });
        is_calm_ = true;
        for (const auto& program : programs_)
            for (const auto* const name : names) {
                program->process.post([this, &program, name] { acquire(*program, name); });
                loop_.run_for(1ms);
                wait_until("a lock is not granted", [&] { return attempts_ == 0; });
                wait_until("a hold does not end", [&] { return !program->held.has_value(); });
            }
    }

    [[nodiscard]] bool is_replaced_between(const std::string& name, instant from,
                                           instant until) const {
        return std::ranges::any_of(promotions_, [&](const promotion& each) {
            return each.name == name && from <= each.at && each.at <= until;
        });
    }
    // A master of this lock was replaced between the grants, so that both nodes may have granted:
    // replication is asynchronous, and so the new master may not know the first grant or, of a
    // slot that moves, may have lost the keys that had moved to it already.
    [[nodiscard]] bool is_excused(const cluster_hold& first, const cluster_hold& second) const {
        return is_replaced_between(first.name, first.granted_at - longest_ttl, second.granted_at);
    }
    // A replaced master, which has the earlier epoch, may have granted this one before it heard of
    // that. Within one epoch there is no excuse: the grants of a master that was lost have an
    // earlier epoch than every later one, also than those of a node to which the slot just moves.
    [[nodiscard]] bool may_be_outdated(const cluster_hold& hold) const {
        return is_replaced_between(hold.name, hold.granted_at - longest_outdated, hold.granted_at);
    }
    void check_holds() {
        for (const auto& first : holds_)
            for (const auto& second : holds_) {
                if (first == second || first->name != second->name) continue;
                const auto pair = first->name + ", granted at " +
                                  std::to_string(first->granted_at / 1ms) + " and " +
                                  std::to_string(second->granted_at / 1ms);
                if (first->token == second->token) fail("a token was issued twice: " + pair);
                if (first->granted_at >= second->requested_at) continue;
                const bool is_ordered = first->token < second->token;
                if (!is_ordered && first->epoch() <= second->epoch())
                    fail("a token of the same or a later epoch is smaller: " + pair);
                if (!is_ordered && !may_be_outdated(*second))
                    fail("a token went back without a failover: " + pair);
                if (first->ended_at.value_or(instant::max()) > second->granted_at &&
                    !is_excused(*first, *second))
                    fail("two holders of " + pair);
            }
    }

    scheduler loop_;
    prng random_;
    const cluster_variant variant_;
    const redis::options options_;
    std::optional<simulated_cluster> cluster_;
    std::vector<std::unique_ptr<cluster_program>> programs_;
    std::vector<std::unique_ptr<cluster_hold>> holds_;
    struct promotion {
        std::string name;  // of a lock whose keys the master had
        instant at{};
    };
    std::vector<promotion> promotions_;
    int attempts_ = 0;
    bool is_finishing_ = false;
    bool is_skewed_ = false;
    bool is_calm_ = false;  // the faults and their effects are over
    std::string violation_;
};

std::uint64_t seed_count() {
    const char* const text = std::getenv("PAWL_SEEDS");
    return text == nullptr ? 300 : std::stoull(text);
}

void run_all(const cluster_variant& variant) {
    std::size_t grants = 0;
    const auto seeds = seed_count();
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        cluster_scenario scenario(seed, variant);
        EXPECT_EQ(scenario.run(), "") << "seed " << seed;
        grants += scenario.grants();
    }
    EXPECT_GT(grants, seeds * 10);
}

TEST(Cluster, LocksOnThreeNodes) { run_all({}); }
TEST(Cluster, LocksOfSlotsThatMove) { run_all({.moves = true}); }
TEST(Cluster, LocksOfSlotsThatMoveOverConnectionsThatBreak) {
    run_all({.moves = true, .breaks = true});
}
TEST(Cluster, TokensGrowOverFailovers) { run_all({.failovers = true}); }
TEST(Cluster, TokensGrowOverFailoversAndMoves) {
    run_all({.moves = true, .breaks = true, .failovers = true});
}

class ClusterInjectedBugs : public testing::TestWithParam<std::pair<cluster_bug, const char*>> {};

TEST_P(ClusterInjectedBugs, AreFound) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed)
        for (const bool failovers : {false, true})
            if (cluster_scenario scenario(seed, {.moves = true, .failovers = failovers},
                                          GetParam().first);
                !scenario.run().empty())
                return;
    FAIL() << "no seed finds it";
}

INSTANTIATE_TEST_SUITE_P(Each, ClusterInjectedBugs, testing::ValuesIn(cluster_bug_names),
                         [](const auto& test) { return std::string(test.param.second); });

}  // namespace
}  // namespace pawl::simulation
