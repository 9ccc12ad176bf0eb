// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The steps that every store with rows shares, without a store.
#include "conformance/queue_cases.hpp"
#include "core/store/predecessor.hpp"
#include "store_rows.hpp"

#include <pawl/error.hpp>

#include <gtest/gtest.h>

#include <map>
#include <memory>

namespace store_tests {
namespace {

using namespace std::chrono_literals;
using pawl::lock_mode;
using pawl::release_result;
using pawl::conformance::queue_action;
using pawl::core::attempt_result;
using pawl::spi::claim;
using kind = attempt_result::kind;

claim make_claim(const std::string& owner, lock_mode mode = lock_mode::exclusive,
                 std::uint32_t permits = 1, std::uint32_t total = 0) {
    claim requested;
    requested.name = "it";
    requested.owner = owner;
    requested.ttl = 30s;
    requested.mode = mode;
    requested.permits = permits;
    requested.total_permits = total;
    return requested;
}

class LeaseTable : public testing::Test {
protected:
    // One step in a transaction of its own.
    template <class Step>
    auto run(Step step, bool may_grant = true) {
        plain_rows rows(stored, may_grant);
        pawl::core::lease_table table(rows, stored.now);
        return step(table);
    }
    attempt_result acquire(const claim& requested, bool may_wait = true) {
        return run([&](auto& table) { return table.acquire(requested, may_wait); });
    }
    attempt_result refresh(const claim& requested) {
        return run([&](auto& table) { return *table.refresh(requested); });
    }
    release_result release(const claim& requested) {
        return run([&](auto& table) { return *table.release(requested); });
    }

    stored_lock stored;
    const claim a = make_claim("a"), b = make_claim("b"), c = make_claim("c");
};

TEST_F(LeaseTable, ATryThatFailsLeavesNoRow) {
    const auto granted = acquire(a, false);
    EXPECT_EQ(granted.outcome, kind::granted);
    EXPECT_EQ(granted.expires, stored.now + 30s);
    EXPECT_FALSE(granted.needs_renewal);
    EXPECT_EQ(acquire(b, false).outcome, kind::not_queued);
    EXPECT_EQ(stored.holders.size(), 1U);
    EXPECT_TRUE(stored.queue.empty());
}

TEST_F(LeaseTable, AWaiterLearnsWhetherItIsTheFirstAndWhenTheFirstLeaseEnds) {
    acquire(a);
    const auto first = acquire(b), second = acquire(c);
    EXPECT_EQ(first.outcome, kind::waiting);
    EXPECT_TRUE(first.is_first);
    EXPECT_EQ(first.expires, stored.now + 30s);
    EXPECT_FALSE(second.is_first);
}

// A waiter that another client grants the lock must confirm that it is alive.
TEST_F(LeaseTable, AGrantedWaiterGetsTheClaimWindow) {
    acquire(a);
    acquire(b);
    EXPECT_EQ(release(a), release_result::released);
    EXPECT_EQ(stored.notified, std::vector<std::string>{"b"});
    const auto granted = refresh(b);
    EXPECT_EQ(granted.outcome, kind::granted);
    EXPECT_TRUE(granted.needs_renewal);
    EXPECT_EQ(granted.expires, stored.now + plain_rows::claim_window);
    EXPECT_TRUE(run([&](auto& table) { return table.renew(b, 30s); }));
    EXPECT_FALSE(refresh(b).needs_renewal);
}

TEST_F(LeaseTable, AWaiterThatServesTheQueueGetsItsWholeTtl) {
    acquire(a);
    acquire(b);
    stored.now += 30s;
    const auto granted = refresh(b);
    EXPECT_EQ(granted.outcome, kind::granted);
    EXPECT_FALSE(granted.needs_renewal);
    EXPECT_TRUE(stored.notified.empty());
}

TEST_F(LeaseTable, AWaiterThatHasLostItsPlaceJoinsTheQueueAgain) {
    acquire(a);
    acquire(b);
    acquire(c);
    stored.queue.pop_front();
    EXPECT_FALSE(refresh(b).is_first);
    EXPECT_TRUE(refresh(c).is_first);
    stored.queue.front().has_expired = true;
    EXPECT_EQ(release(a), release_result::released);
    EXPECT_EQ(stored.notified, std::vector<std::string>{"b"});
}

// A token must be durable: without `may_grant` the step changes no holder, and is repeated.
TEST_F(LeaseTable, AStepThatMustServeTheQueueAsksForAnotherTransaction) {
    acquire(a);
    EXPECT_EQ(run([&](auto& table) { return table.release(a); }, false), release_result::released);
    acquire(a);
    acquire(b);
    EXPECT_TRUE(run([&](auto& table) { return table.refresh(b); }, false).has_value());
    EXPECT_FALSE(run([&](auto& table) { return table.release(a); }, false).has_value());
    EXPECT_FALSE(run([&](auto& table) { return table.leave(a, false); }, false).has_value());
    EXPECT_EQ(stored.holders.size(), 1U);
    stored.now += 30s;
    EXPECT_FALSE(run([&](auto& table) { return table.refresh(b); }, false).has_value());
    EXPECT_TRUE(run([&](auto& table) { return table.leave(b, false); }, false).has_value());
    EXPECT_TRUE(stored.queue.empty());
}

TEST_F(LeaseTable, ALateGrantIsKeptOrPassedOnByAWaiterThatLeaves) {
    acquire(a);
    acquire(b);
    acquire(c);
    EXPECT_EQ(release(a), release_result::released);
    const auto leave = [&](const claim& leaving, bool keep_grant) {
        return run([&](auto& table) { return *table.leave(leaving, keep_grant); });
    };
    EXPECT_EQ(leave(b, true).outcome, kind::granted);
    EXPECT_EQ(leave(b, false).outcome, kind::not_queued);
    EXPECT_EQ(stored.notified, (std::vector<std::string>{"b", "c"}));
    EXPECT_EQ(refresh(c).outcome, kind::granted);
}

TEST_F(LeaseTable, AHoldIsRenewedInItsModeOnly) {
    acquire(a);
    const auto reading = make_claim("a", lock_mode::shared);
    const auto renew = [&](const claim& held) {
        return run([&](auto& table) { return table.renew(held, 30s); });
    };
    EXPECT_FALSE(renew(reading));
    const auto token = refresh(a).token;
    const auto downgraded = run([&](auto& table) { return table.downgrade(a); });
    ASSERT_TRUE(downgraded.has_value());
    EXPECT_EQ(downgraded->token, token);
    EXPECT_FALSE(renew(a));
    EXPECT_TRUE(renew(reading));
    stored.now += 30s;
    EXPECT_FALSE(renew(reading));
    EXPECT_FALSE(run([&](auto& table) { return table.downgrade(a); }).has_value());
}

TEST_F(LeaseTable, ReadersShareATokenWhileOneOfThemIsAlive) {
    const auto first = acquire(make_claim("a", lock_mode::shared));
    EXPECT_EQ(acquire(make_claim("b", lock_mode::shared)).token, first.token);
    stored.dead_clients = {"a", "b"};
    EXPECT_GT(acquire(make_claim("c", lock_mode::shared)).token, first.token);
}

TEST_F(LeaseTable, ATotalIsSetOnceAndChecked) {
    const auto take = [&](std::uint32_t permits, std::uint32_t total) {
        return acquire(make_claim("a", lock_mode::permits, permits, total)).outcome;
    };
    EXPECT_THROW(take(1, 0), pawl::error);
    EXPECT_THROW(take(4, 3), pawl::error);
    EXPECT_EQ(stored.total_permits, 0U);
    EXPECT_EQ(take(1, 3), kind::granted);
    EXPECT_THROW(take(1, 4), pawl::error);
    EXPECT_EQ(take(1, 0), kind::granted);
}

TEST_F(LeaseTable, AForcedReleaseEndsTheHoldsUpToTheExpectedToken) {
    acquire(make_claim("a", lock_mode::permits, 1, 3));
    const auto second = acquire(make_claim("b", lock_mode::permits)).token;
    acquire(make_claim("c", lock_mode::permits));
    const auto force = [&](pawl::fencing_token expected) {
        return run([&](auto& table) { return table.force_release(expected); });
    };
    EXPECT_FALSE(force(pawl::fencing_token(99)));
    EXPECT_TRUE(force(second));
    EXPECT_EQ(stored.forced, (std::vector<std::string>{"a", "b"}));
    EXPECT_TRUE(force({}));
    EXPECT_FALSE(force({}));
}

TEST_F(LeaseTable, TheOldestHolderIsDescribedFirst) {
    acquire(make_claim("a", lock_mode::permits, 1, 3));
    acquire(make_claim("b", lock_mode::permits, 2));
    acquire(make_claim("c", lock_mode::permits, 1));
    std::ranges::reverse(stored.holders);
    const auto info = run([](auto& table) { return table.describe("it"); });
    ASSERT_TRUE(info.held_by.has_value());
    EXPECT_EQ(info.held_by->permits, 1U);
    ASSERT_EQ(info.others.size(), 1U);
    EXPECT_EQ(info.others[0].permits, 2U);
    EXPECT_EQ(info.waiters, 1U);
    EXPECT_EQ(info.permits, 3U);
}

// Plays the table of cases: returns which claimants an action grants the lock, and in which order.
class row_player {
public:
    explicit row_player(std::uint32_t total_permits) { stored_.total_permits = total_permits; }

    std::string play(const queue_action& action) {
        granted_.clear();
        refused_.clear();
        perform(action, std::string(1, action.claimant));
        for (const auto& owner : std::exchange(stored_.notified, {}))
            refresh(claims_.at(owner));
        return granted_ + "!" + refused_;
    }

private:
    template <class Step>
    auto run(Step step) {
        plain_rows rows(stored_);
        pawl::core::lease_table table(rows, stored_.now);
        return step(table);
    }

    void perform(const queue_action& action, const std::string& owner) {
        switch (action.type) {
        case queue_action::kind::request:
            claims_[owner] = make_claim(owner, action.mode, action.permits);
            return note(owner,
                        run([&](auto& table) { return table.acquire(claims_[owner], true); }));
        case queue_action::kind::release:
            run([&](auto& table) { return table.release(claims_.at(owner)); });
            return;
        case queue_action::kind::expire: return expire(owner);
        case queue_action::kind::leave:
            run([&](auto& table) { return table.leave(claims_.at(owner), false); });
            return;
        case queue_action::kind::downgrade:
            run([&](auto& table) { return table.downgrade(claims_.at(owner)); });
            return;
        case queue_action::kind::resize:
            return run([&](auto& table) { table.resize(action.permits); });
        case queue_action::kind::force:
            run([&](auto& table) { return table.force_release({}); });
            return;
        }
    }

    // The living waiters refresh, and one of them serves the queue.
    void expire(const std::string& owner) {
        stored_.dead_clients.insert(owner);
        for (auto& each : stored_.holders)
            if (each.owner == owner) each.expires = stored_.now;
        for (const auto& waiter : std::deque(stored_.queue))
            if (!stored_.dead_clients.contains(waiter.owner)) refresh(claims_.at(waiter.owner));
    }

    void refresh(const claim& waiting) {
        try {
            note(waiting.owner, run([&](auto& table) { return *table.refresh(waiting); }));
        } catch (const pawl::error& failed) {
            EXPECT_EQ(failed.reason(), pawl::errc::bad_option);
            refused_ += waiting.owner;
        }
    }

    void note(const std::string& owner, const attempt_result& result) {
        if (result.outcome == kind::granted && granted_.find(owner) == std::string::npos)
            granted_ += owner;
    }

    stored_lock stored_;
    std::map<std::string, claim> claims_;
    std::string granted_, refused_;
};

// Plays the same table where the store orders the entries, and `blocker_of` decides.
class entry_player {
public:
    explicit entry_player(std::uint32_t total_permits) : total_permits_(total_permits) {}

    std::string play(const queue_action& action) {
        perform(action);
        std::string granted, refused;
        for (std::size_t i = 0; i < entries_.size();) {
            const auto& present = entries_[i];
            if (!present.is_granted && pawl::core::exceeds_total(present.share, total_permits_)) {
                refused += present.claimant;
                entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
                continue;
            }
            const auto blocker = pawl::core::blocker_of(shares(), i, total_permits_);
            EXPECT_TRUE(!blocker || blocker->position < i);
            if (!blocker && !std::exchange(entries_[i].is_granted, true))
                granted += entries_[i].claimant;
            ++i;
        }
        return granted + "!" + refused;
    }

private:
    struct entry {
        char claimant;
        pawl::core::lock_share share;
        bool is_granted = false;
    };

    void perform(const queue_action& action) {
        switch (action.type) {
        case queue_action::kind::request:
            entries_.push_back({action.claimant, {action.mode, action.permits}});
            return;
        case queue_action::kind::downgrade:
            for (auto& each : entries_)
                if (each.claimant == action.claimant) each.share = {lock_mode::shared, 0};
            return;
        case queue_action::kind::resize: total_permits_ = action.permits; return;
        case queue_action::kind::force:
            std::erase_if(entries_, [](const entry& each) { return each.is_granted; });
            return;
        default:
            std::erase_if(entries_,
                          [&](const entry& each) { return each.claimant == action.claimant; });
        }
    }
    std::vector<pawl::core::lock_share> shares() const {
        std::vector<pawl::core::lock_share> result;
        for (const auto& each : entries_)
            result.push_back(each.share);
        return result;
    }

    std::uint32_t total_permits_;
    std::vector<entry> entries_;
};

template <class Player>
void play_cases() {
    for (const auto& tested : pawl::conformance::queue_cases) {
        Player player(tested.total_permits);
        for (const auto& action : actions_of(tested))
            EXPECT_EQ(player.play(action), action.granted + "!" + action.refused)
                << tested.name << " after " << action.text;
    }
}

TEST(QueueRules, RowsAreServedAsTheTableSays) { play_cases<row_player>(); }
TEST(QueueRules, OrderedEntriesAreServedAsTheTableSays) { play_cases<entry_player>(); }

}  // namespace
}  // namespace store_tests
