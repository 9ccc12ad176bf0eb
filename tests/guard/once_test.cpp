// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What callers of `once` see, on every database and with both APIs.
#include "once_fixture.hpp"

#include <array>
#include <thread>

namespace guard_tests {
namespace {

using namespace std::string_literals;
using guard::attempt;
using guard::outcome;

class Once : public once_test {};

TEST_P(Once, RunsTheWorkAndReplaysItsResult) {
    const auto result = "made \0\xFF"s;
    const auto made = first->once("order/7", {}, writes(*first, result));
    EXPECT_EQ(made.state, once_state::done);
    EXPECT_TRUE(made);
    EXPECT_EQ(made.value, result);
    int calls = 0;
    const auto again = other->once("order/7", {}, writes(*other, "another", &calls));
    EXPECT_EQ(again.state, once_state::replayed);
    EXPECT_EQ(again.value, result);
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(effects(), 1);
}

// Interleaving: the work writes, throws, and the next caller comes at once. The first effect must
// be gone, and the second attempt must know that there was one before.
TEST_P(Once, RollsBackWorkThatThrows) {
    EXPECT_THROW(first->once("order/7", {},
                             [&](const attempt& claimed) -> outcome {
                                 EXPECT_EQ(claimed.number(), 1U);
                                 EXPECT_GT(claimed.safe_until(), pawl::boot_clock::now());
                                 first->view().execute({"INSERT INTO effects(id) VALUES(1)"});
                                 throw std::runtime_error("of the work");
                             }),
                 std::runtime_error);
    EXPECT_EQ(effects(), 0);
    const auto made = other->once("order/7", {.wait = 0s}, [&](const attempt& claimed) -> outcome {
        EXPECT_EQ(claimed.number(), 2U);
        EXPECT_EQ(claimed.key(), "order/7");
        return "second"s;
    });
    EXPECT_EQ(made.state, once_state::done);
}

TEST_P(Once, StoresARejectionWithoutTheEffect) {
    const auto no = first->once("order/7", {}, [&](const attempt&) -> outcome {
        first->view().execute({"INSERT INTO effects(id) VALUES(1)"});
        return guard::rejected{"no money"};
    });
    EXPECT_EQ(no.state, once_state::failed);
    EXPECT_FALSE(no);
    EXPECT_EQ(no.value, "no money");
    EXPECT_EQ(effects(), 0);
    const auto again = other->once("order/7", {}, writes(*other, "late"));
    EXPECT_EQ(again.state, once_state::failed);
    EXPECT_EQ(again.value, "no money");
    EXPECT_EQ(effects(), 0);
}

TEST_P(Once, TriesAgainAfterThePause) {
    const auto later = first->once("order/7", {}, [&](const attempt&) -> outcome {
        first->view().execute({"INSERT INTO effects(id) VALUES(1)"});
        return guard::retry_after{1h};
    });
    EXPECT_EQ(later.state, once_state::running);
    EXPECT_EQ(later.retry_in, 1h);
    EXPECT_EQ(effects(), 0);
    const auto early = other->once("order/7", {.wait = 0s}, writes(*other, "early"));
    EXPECT_EQ(early.state, once_state::running);
    EXPECT_GT(early.retry_in, 30min);
    EXPECT_LE(early.retry_in, 1h);
    end_leases();
    EXPECT_EQ(other->once("order/7", {.wait = 0s}, writes(*other, "due")).state, once_state::done);
    EXPECT_EQ(effects(), 1);
}

TEST_P(Once, TellsAnotherRequestUnderTheSameKey) {
    const auto claimed = first->claim({"order/7", "one item"}, {});
    ASSERT_TRUE(claimed);
    const auto other_body = [&] {
        return other->once({"order/7", "two items"}, {.wait = 0s}, writes(*other, "two")).state;
    };
    EXPECT_EQ(other_body(), once_state::mismatch) << "while the first one runs";
    end_leases();
    EXPECT_EQ(other_body(), once_state::mismatch) << "when it may be taken over";
    EXPECT_EQ(first->once({"order/7", "one item"}, {}, writes(*first, "one")).state,
              once_state::done);
    EXPECT_EQ(other_body(), once_state::mismatch) << "when it has ended";
    EXPECT_EQ(effects(), 1);
    EXPECT_EQ(other->once({"order/7", "two items", "tenant 2"}, {}, writes(*other, "two")).state,
              once_state::done)
        << "another scope is another operation";
}

// Interleaving: the first attempt stops, its lease ends, another caller takes over and commits;
// then the first one goes on. It must change nothing.
TEST_P(Once, RefusesALateAttempt) {
    const auto late = first->claim("order/7", {});
    ASSERT_TRUE(late);
    EXPECT_EQ(other->once("order/7", {.wait = 0s}, writes(*other, "early")).state,
              once_state::running);
    end_leases();
    std::uint64_t second_token = 0;
    const auto made = other->once("order/7", {.wait = 0s}, [&](const attempt& claimed) -> outcome {
        EXPECT_EQ(claimed.number(), 2U);
        second_token = claimed.token().value();
        return "second"s;
    });
    EXPECT_EQ(made.state, once_state::done);
    EXPECT_GT(second_token, late.attempt->token().value());
    EXPECT_FALSE(first->finish(*late.attempt, "first"s, {}));
    EXPECT_FALSE(first->finish(*late.attempt, guard::rejected{"first"}, {}));
    EXPECT_FALSE(first->give_up(*late.attempt));
    EXPECT_EQ(first->once("order/7", {}, writes(*first, "third")).value, "second");
}

// The same while the second attempt still runs: a late end of the first one is not its end.
TEST_P(Once, RefusesALateAttemptBesideItsSuccessor) {
    const auto late = first->claim("order/7", {});
    end_leases();
    const auto second = other->claim("order/7", {.wait = 0s});
    ASSERT_TRUE(late && second);
    EXPECT_FALSE(first->give_up(*late.attempt));
    EXPECT_FALSE(first->finish(*late.attempt, "first"s, {}));
    EXPECT_TRUE(other->finish(*second.attempt, "second"s, {}));
    EXPECT_FALSE(other->finish(*second.attempt, "twice"s, {})) << "it has ended";
}

// Each claim counts, also one whose process died: the third caller ends the operation for good.
TEST_P(Once, EndsAnOperationThatHadItsAttempts) {
    const guard::once_options twice{.wait = 0s, .attempts = 2};
    ASSERT_TRUE(first->claim("order/7", twice));
    end_leases();
    const auto last = first->claim("order/7", twice);
    ASSERT_TRUE(last);
    EXPECT_EQ(last.attempt->number(), 2U);
    EXPECT_EQ(other->once("order/7", twice, writes(*other, "")).state, once_state::running);
    end_leases();
    const auto ended = other->once("order/7", twice, writes(*other, ""));
    EXPECT_EQ(ended.state, once_state::failed);
    EXPECT_EQ(ended.value, "too many attempts");
    EXPECT_FALSE(first->finish(*last.attempt, "late"s, twice));
    EXPECT_EQ(effects(), 0);
}

TEST_P(Once, RefusesAResultThatIsTooLarge) {
    const guard::once_options small{.largest_result = 3};
    const auto refused =
        refusal_of([&] { (void)first->once("order/7", small, writes(*first, "four")); });
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->reason(), pawl::errc::bad_option);
    EXPECT_EQ(effects(), 0);
    const auto kept = first->at_least_once("mail/7", small, writes(*first, "four"));
    EXPECT_EQ(kept.state, once_state::done);
    EXPECT_EQ(kept.value, "four");
    EXPECT_FALSE(kept.has_value) << "it is not stored";
    const auto again = other->at_least_once("mail/7", small, writes(*other, "five"));
    EXPECT_EQ(again.state, once_state::replayed);
    EXPECT_FALSE(again.has_value);
    EXPECT_EQ(effects(), 1);
}

TEST_P(Once, KeepsAnEffectOutsideTheTransaction) {
    EXPECT_THROW(
        first->at_least_once("mail/7", {},
                             [&](const attempt&) -> outcome {
                                 EXPECT_FALSE(first->view().in_transaction());
                                 first->view().execute({"INSERT INTO effects(id) VALUES(1)"});
                                 throw std::runtime_error("after the effect");
                             }),
        std::runtime_error);
    EXPECT_EQ(effects(), 1);
    EXPECT_EQ(other->at_least_once("mail/7", {}, writes(*other, "sent")).state, once_state::done);
    EXPECT_EQ(effects(), 2) << "at least once";
    EXPECT_EQ(first->at_least_once("mail/7", {}, writes(*first, "")).value, "sent");
}

TEST_P(Once, NeedsNoLeaseInOneTransaction) {
    const guard::once_options short_effect{.lease = 0s};
    EXPECT_THROW(first->once("order/7", short_effect,
                             [&](const attempt&) -> outcome {
                                 first->view().execute({"INSERT INTO effects(id) VALUES(1)"});
                                 throw std::runtime_error("of the work");
                             }),
                 std::runtime_error);
    EXPECT_EQ(admin->number("SELECT count(*) FROM pawl_once"), 0) << "the record was rolled back";
    EXPECT_EQ(first->once("order/7", short_effect, writes(*first, "made")).state, once_state::done);
    const auto again = other->once("order/7", short_effect, writes(*other, "again"));
    EXPECT_EQ(again.state, once_state::replayed);
    EXPECT_EQ(again.value, "made");
    EXPECT_EQ(effects(), 1);
    const auto no = [&](const attempt&) -> outcome {
        first->view().execute({"INSERT INTO effects(id) VALUES(1)"});
        return guard::rejected{"no"};
    };
    EXPECT_EQ(first->once("order/8", short_effect, no).state, once_state::failed);
    EXPECT_EQ(other->once("order/8", short_effect, writes(*other, "")).value, "no");
    const auto later = [](const attempt&) -> outcome { return guard::retry_after{1s}; };
    EXPECT_EQ(first->once("order/9", short_effect, later).state, once_state::running);
    EXPECT_EQ(first->once("order/9", short_effect, writes(*first, "")).state, once_state::done);
    EXPECT_EQ(effects(), 2);
}

// Interleaving: both look before either has claimed. One runs, the other waits for its result.
TEST_P(Once, LetsACallerWaitForAnother) {
    const std::array<guard::once_options, 4> all{{
        {.lease = 30s, .wait = 60s},
        {.lease = 0s, .wait = 60s},
        {.lease = 30s, .wait = 60s, .looks_first = false},
        {.lease = 0s, .wait = 60s, .looks_first = false},
    }};
    for (const auto& options : all) {
        const auto key = "order/" + std::to_string(&options - all.data());
        std::vector<guard::once_result> results(2);
        {
            std::jthread beside(
                [&] { results[0] = first->once(key, options, writes(*first, "by the first")); });
            results[1] = other->once(key, options, writes(*other, "by the other"));
        }
        EXPECT_TRUE(results[0] && results[1]) << key;
        EXPECT_EQ(results[0].value, results[1].value) << key;
        EXPECT_NE(results[0].state, results[1].state) << key;
    }
    EXPECT_EQ(effects(), 4);
}

// A conflict repeats the transaction, and is no new attempt.
TEST_P(Once, RepeatsATransactionThatLost) {
    int calls = 0;
    const auto made = first->once("order/7", {}, [&](const attempt& claimed) -> outcome {
        EXPECT_EQ(claimed.number(), 1U);
        first->view().execute({"INSERT INTO effects(id) VALUES(1)"});
        if (++calls < 3) throw guard::conflict("a deadlock");
        return "third"s;
    });
    EXPECT_EQ(made.state, once_state::done);
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(effects(), 1);
}

TEST_P(Once, RefusesWorkThatEndsItsTransaction) {
    const auto refused = refusal_of([&] {
        (void)first->once("order/7", {}, [&](const attempt&) -> outcome {
            first->view().execute({"INSERT INTO effects(id) VALUES(1)"});
            first->view().execute({"COMMIT"});
            return "made"s;
        });
    });
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->reason(), pawl::errc::unsupported);
    EXPECT_EQ(admin->number("SELECT state FROM pawl_once"), 1) << "the record is not done";
}

EVERY_DATABASE_AND_API(Once);

}  // namespace
}  // namespace guard_tests
