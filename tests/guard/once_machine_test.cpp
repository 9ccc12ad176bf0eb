// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The protocol without I/O: when an attempt's time begins, how long a caller waits, and what it
// does after a conflict.
#include <guard/once_machine.hpp>

#include <pawl/error.hpp>

#include <gtest/gtest.h>

namespace guard_tests {
namespace {

using namespace std::chrono_literals;
using pawl::guard::claim_grant;
using pawl::guard::once_machine;
using pawl::guard::once_options;
using pawl::guard::once_state;
using pawl::guard::record_state;
using pawl::guard::record_view;
using step = once_machine::step;

class set_time final : public pawl::spi::runtime {
public:
    [[nodiscard]] pawl::time_point now() const noexcept override { return present; }
    [[nodiscard]] std::chrono::system_clock::time_point wall_clock() const noexcept override {
        return {};
    }
    std::unique_ptr<pawl::spi::timer> make_timer(const boost::asio::any_io_executor&) override {
        return nullptr;
    }
    void random(std::span<std::byte> bytes) override {
        for (auto& each : bytes)
            each = static_cast<std::byte>(++count_);
    }
    [[nodiscard]] bool is_real_time() const noexcept override { return false; }

    pawl::time_point present{1h};

private:
    int count_ = 0;
};

constexpr record_view pending(pawl::duration left, std::uint32_t attempts = 1) {
    return {.state = record_state::pending, .token = 5, .attempts = attempts, .lease_left = left};
}

TEST(OnceMachine, CountsTheLeaseFromBeforeTheRequest) {
    set_time time;
    once_machine machine({.lease = 30s}, time);
    machine.on_record(std::nullopt);
    ASSERT_EQ(machine.next(), step::claim);
    const auto first_claim = machine.begin_claim();
    const auto sent = time.present;
    time.present += 10s;  // the database was slow
    machine.on_grant(claim_grant{7, 2});
    ASSERT_EQ(machine.next(), step::work);
    EXPECT_EQ(machine.token(), 7);
    EXPECT_EQ(machine.number(), 2U);
    EXPECT_LT(machine.safe_until(), sent + 30s) << "less the drift of the clocks";
    EXPECT_GT(machine.safe_until(), sent + 29s);
    EXPECT_NE(machine.begin_claim(), first_claim) << "each claim has a number of its own";
}

// Without a look, a claim that is not granted leads to one.
TEST(OnceMachine, ClaimsAtOnceIfItDoesNotLookFirst) {
    set_time time;
    once_machine machine({.looks_first = false}, time);
    ASSERT_EQ(machine.next(), step::claim);
    (void)machine.begin_claim();
    machine.on_grant(std::nullopt);
    EXPECT_EQ(machine.next(), step::look);
    EXPECT_EQ(once_machine({.lease = 0s, .looks_first = false}, time).next(), step::work);
}

TEST(OnceMachine, WaitsLongerEachTimeUntilTheWaitIsOver) {
    set_time time;
    once_machine machine({.wait = 5s}, time);
    const auto began = time.present;
    int pauses = 0;
    while (machine.next() != step::end) {
        ASSERT_LT(time.present, began + 6s);
        machine.on_record(pending(20s));
        if (machine.next() != step::pause) continue;
        EXPECT_GE(machine.pause_time(), 1ms);
        EXPECT_LE(machine.pause_time(), 500ms);
        ++pauses;
        time.present += machine.pause_time();
        machine.on_pause_over();
        ASSERT_EQ(machine.next(), step::look);
    }
    EXPECT_EQ(machine.result().state, once_state::running);
    EXPECT_EQ(machine.result().retry_in, 20s);
    EXPECT_GE(time.present, began + 5s);
    EXPECT_LE(pauses, 30) << "up to 0.25 s to 0.5 s each";
}

TEST(OnceMachine, DoesNotAskAgainAtOnceAfterARefusedClaim) {
    set_time time;
    once_machine machine({}, time);
    machine.on_record(pending(-1s));
    ASSERT_EQ(machine.next(), step::claim);
    (void)machine.begin_claim();
    machine.on_grant(std::nullopt);
    EXPECT_EQ(machine.next(), step::look);
    machine.on_record(pending(-1s));
    EXPECT_EQ(machine.next(), step::pause) << "somebody else claims, too";
}

TEST(OnceMachine, TakesItsOwnClaimAfterALostAnswer) {
    set_time time;
    once_machine machine({}, time);
    machine.on_record(std::nullopt);
    (void)machine.begin_claim();
    machine.on_grant(std::nullopt);
    auto own = pending(29s, 3);
    own.is_own_claim = true;
    machine.on_record(own);
    ASSERT_EQ(machine.next(), step::work);
    EXPECT_EQ(machine.token(), 5);
    EXPECT_EQ(machine.number(), 3U);
}

// Conflicts are repeated, but not for ever.
TEST(OnceMachine, RepeatsConflictsUntilTheWaitIsOver) {
    set_time time;
    once_machine machine({.wait = 1s}, time);
    int count = 0;
    while (machine.repeats_step()) {
        ASSERT_LT(++count, 1000);
        ASSERT_EQ(machine.next(), step::pause);
        time.present += machine.pause_time();
        machine.on_pause_over();
    }
    EXPECT_GE(time.present, pawl::time_point(1h) + 1s);
    once_machine without_wait({.wait = 0s}, time);
    EXPECT_TRUE(without_wait.repeats_step()) << "a short wait bears a few";
}

TEST(OnceMachine, RepeatsTheTransactionUntilTheLeaseEnds) {
    set_time time;
    once_machine machine({.lease = 2s, .wait = 0s}, time);
    machine.on_record(std::nullopt);
    (void)machine.begin_claim();
    machine.on_grant(claim_grant{7, 1});
    int count = 0;
    while (machine.repeats_work()) {
        ASSERT_LT(++count, 1000);
        time.present += machine.pause_time();
        machine.on_pause_over();
        ASSERT_EQ(machine.next(), step::work) << "under the same claim";
        EXPECT_EQ(machine.token(), 7);
    }
    EXPECT_GE(time.present, machine.safe_until());
}

TEST(OnceMachine, EndsWhatHasNoAttemptsLeft) {
    set_time time;
    once_machine machine({.attempts = 3}, time);
    machine.on_record(pending(-1s, 3));
    ASSERT_EQ(machine.next(), step::exhaust);
    EXPECT_EQ(machine.token(), 5);
    machine.on_exhausted();
    EXPECT_EQ(machine.next(), step::look);
}

// Interleaving: another caller took over and gave up, and the answer to the next claim is lost: the
// look finds that claim, and the work begins again.
TEST(OnceMachine, KnowsItsNextClaimAfterATakeOver) {
    set_time time;
    once_machine machine({.wait = 5s}, time);
    machine.on_record(std::nullopt);
    (void)machine.begin_claim();
    machine.on_grant(claim_grant{7, 1});
    machine.on_taken_over();
    machine.on_record(pending(0s, 2));
    ASSERT_EQ(machine.next(), step::pause);
    machine.on_pause_over();
    ASSERT_EQ(machine.next(), step::claim);
    (void)machine.begin_claim();
    machine.on_grant(std::nullopt);
    auto own = pending(30s, 3);
    own.is_own_claim = true;
    machine.on_record(own);
    EXPECT_EQ(machine.next(), step::work);
    EXPECT_EQ(machine.number(), 3U);
}

// Interleaving: a claim that changes nothing, a look that finds nothing, and so on: a trigger drops
// the writes, or others always come first.
TEST(OnceMachine, DoesNotClaimForEver) {
    for (const bool is_kept : {true, false}) {
        set_time time;
        once_machine machine({.wait = 5s}, time);
        const auto began = time.present;
        bool is_refused = false;
        while (machine.next() != step::end && !is_refused) {
            ASSERT_LT(time.present, began + 7s);
            if (machine.next() == step::claim) {
                (void)machine.begin_claim();
                machine.on_grant(std::nullopt);
            } else if (machine.next() == step::pause) {
                time.present += machine.pause_time();
                machine.on_pause_over();
            } else {
                ASSERT_EQ(machine.next(), step::look);
                try {
                    machine.on_record(is_kept ? std::optional(pending(0s)) : std::nullopt);
                } catch (const pawl::error& refused) {
                    EXPECT_EQ(refused.reason(), pawl::errc::protocol);
                    is_refused = true;
                }
            }
        }
        EXPECT_GE(time.present, began + 5s);
        EXPECT_EQ(is_refused, !is_kept);
        EXPECT_TRUE(!is_kept || machine.result().state == once_state::running);
    }
}

}  // namespace
}  // namespace guard_tests
