// Renewals and downgrades that somebody asks for, in a time that the test moves and with a service
// that answers when the test says so.
#include "core/alarm.hpp"
#include "core/lease_keeper.hpp"
#include "failing_memory.hpp"
#include "hand_time.hpp"

#include <pawl/error.hpp>
#include <pawl/options.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <deque>

namespace pawl {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr duration ttl = 60s;

enum class word { yes, no, silence, no_memory };

// Every question stays open until `answer`, the oldest first.
class slow_backend final : public backend {
public:
    slow_backend(runtime& time, asio::any_io_executor on) : time_(time), on_(std::move(on)) {}

    asio::awaitable<std::optional<grant>> acquire(const claim&, time_point) override {
        co_return std::nullopt;
    }
    asio::awaitable<void> renew(std::span<renewal> batch) override {
        const auto asked_at = time_.now();
        const word said = co_await ask("renew");
        if (said == word::no_memory) throw std::bad_alloc();
        for (auto& line : batch) {
            line.result = said == word::yes  ? renewal::outcome::extended
                          : said == word::no ? renewal::outcome::refused
                                             : renewal::outcome::unknown;
            line.deadline = asked_at + ttl - drift(ttl);
        }
    }
    asio::awaitable<std::optional<grant>> downgrade(const hold&) override {
        const auto asked_at = time_.now();
        const word said = co_await ask("downgrade");
        if (said == word::no_memory) throw std::bad_alloc();
        if (said == word::silence) throw error(errc::unreachable, "Nobody answers.");
        if (said == word::no) co_return std::nullopt;
        grant given{.deadline = asked_at + ttl - drift(ttl), .proof = "shared proof"};
        co_return given;
    }
    asio::awaitable<release_result> release(const hold& what) override {
        released = what.grant.proof;
        co_return release_result::released;
    }
    asio::awaitable<lock_info> inspect(std::string_view) override { co_return lock_info{}; }
    asio::awaitable<std::vector<lock_info>> list(std::string_view) override {
        co_return std::vector<lock_info>{};
    }
    asio::awaitable<bool> force_release(std::string_view) override { co_return false; }
    asio::awaitable<examination> examine() override { co_return examination{}; }
    asio::awaitable<void> close(time_point) override { co_return; }
    promises promised() const noexcept override { return {}; }

    void answer(word what) {
        const auto one = open_.front();
        open_.pop_front();
        one->said = what;
        one->answered.ring();
    }

    [[nodiscard]] bool is_asked() const { return !open_.empty(); }

    std::vector<std::string> asked;
    std::string released;  // the proof by which it was

private:
    struct question {
        core::alarm answered;
        word said = word::silence;
    };

    asio::awaitable<word> ask(const char* what) {
        asked.emplace_back(what);
        const auto one = std::make_shared<question>(question{core::alarm(time_, on_)});
        open_.push_back(one);
        co_await one->answered.wait_until(time_point::max());
        co_return one->said;
    }

    runtime& time_;
    asio::any_io_executor on_;
    std::deque<std::shared_ptr<question>> open_;
};

// What somebody asked the keeper for, and what came of it.
struct asking {
    bool over = false;
    std::optional<errc> failed;

    void operator()(const std::exception_ptr& how) {
        over = true;
        try {
            if (how) std::rethrow_exception(how);
        } catch (const error& what) {
            failed = what.reason();
        } catch (const std::bad_alloc&) {
            failed = errc::exhausted;
        }
    }
};

class KeeperOnDemand : public ::testing::Test {
protected:
    KeeperOnDemand() {
        asio::co_spawn(loop_, keeper_.run(nullptr), asio::detached);
        settle();
    }
    ~KeeperOnDemand() override {
        keeper_.stop();
        settle();
        // A question keeps who waits for its answer.
        while (service_.is_asked())
            answer(word::silence);
    }

    std::shared_ptr<core::lease> keep_lease() {
        const claim what{.name = "it", .owner = "owner", .ttl = ttl};
        core::lease_keeper::place kept(
            keeper_, std::make_shared<core::lease>(nullptr, time_, what, forever));
        auto granted =
            kept.keep("owner", {.deadline = time_.now() + ttl - drift(ttl), .proof = "own proof"});
        return std::exchange(granted.what, nullptr);
    }
    // Runs whatever can run now.
    void settle() {
        loop_.restart();
        loop_.poll();
    }
    void move(duration by) {
        time_.move(by);
        settle();
    }
    void answer(word what) {
        service_.answer(what);
        settle();
    }
    std::shared_ptr<asking> renew() { return begin(keeper_.renew_now(one_)); }
    std::shared_ptr<asking> downgrade() { return begin(keeper_.downgrade(one_)); }
    std::shared_ptr<asking> begin(asio::awaitable<void> what) {
        auto one = std::make_shared<asking>();
        asio::co_spawn(loop_, std::move(what), [one](std::exception_ptr how) { (*one)(how); });
        settle();
        return one;
    }
    [[nodiscard]] std::size_t questions() const { return service_.asked.size(); }

    asio::io_context loop_;
    hand_moved time_;
    slow_backend service_{time_, loop_.get_executor()};
    counter renewals_;
    int losses_ = 0;
    std::vector<std::shared_ptr<core::lease>> orphans_;
    core::lease_keeper keeper_{
        time_,
        loop_.get_executor(),
        service_,
        renewals_,
        {.on_loss = [this](const std::shared_ptr<core::lease>&) { ++losses_; },
         .on_orphan =
             [this](const std::shared_ptr<core::lease>& one) {
                 keeper_.drop(one);
                 orphans_.push_back(one);
             },
         .on_renewal = [](const std::shared_ptr<core::lease>&) {}}};
    std::shared_ptr<core::lease> one_ = keep_lease();
};

TEST_F(KeeperOnDemand, RenewsAtOnceAndTheRhythmGoesOnFromThere) {
    move(15s);
    EXPECT_EQ(questions(), 0U);
    const auto asked = renew();
    EXPECT_EQ(questions(), 1U);
    EXPECT_FALSE(asked->over);
    answer(word::yes);
    EXPECT_TRUE(asked->over);
    EXPECT_EQ(asked->failed, std::nullopt);
    EXPECT_EQ(one_->deadline(), time_.now() + ttl - drift(ttl));
    move(ttl / 3 - ttl / 6 - 1s);
    EXPECT_EQ(questions(), 1U) << "what was planned before is not asked";
    move(ttl / 6 + 1s);
    EXPECT_EQ(questions(), 2U);
}

// The rhythm's own question may have been sent long before the caller's: only one that is sent
// after the call says that the hold lasts a ttl from the call.
TEST_F(KeeperOnDemand, RenewalInFlightIsNoAnswer) {
    move(ttl / 3);
    ASSERT_EQ(questions(), 1U);
    move(5s);
    const auto asked = renew();
    EXPECT_EQ(questions(), 1U) << "one question about a hold at a time";
    answer(word::yes);
    EXPECT_EQ(questions(), 2U);
    EXPECT_FALSE(asked->over);
    answer(word::yes);
    EXPECT_TRUE(asked->over);
    EXPECT_EQ(one_->deadline(), time_.now() + ttl - drift(ttl));
}

// In one instant, so that no answer moves the deadline: it is an answer all the same.
TEST_F(KeeperOnDemand, SeveralWhoAskAreAllAnswered) {
    const auto first = renew(), second = renew(), third = renew();
    for (std::size_t sent = 1; sent <= 3; ++sent) {
        EXPECT_EQ(questions(), sent);
        answer(word::yes);
    }
    EXPECT_TRUE(first->over && second->over && third->over);
}

// Whatever ends a question: the lease does not wait for its answer for ever.
TEST_F(KeeperOnDemand, ARenewalThatFailsFromWithinIsAskedAgain) {
    move(ttl / 3);
    ASSERT_EQ(questions(), 1U);
    answer(word::no_memory);
    EXPECT_EQ(questions(), 1U) << "not in a loop without a pause";
    move(ttl / 20);
    ASSERT_EQ(questions(), 2U);
    answer(word::yes);
    EXPECT_EQ(one_->deadline(), time_.now() + ttl - drift(ttl));
    EXPECT_EQ(losses_, 0);
}

TEST_F(KeeperOnDemand, ADowngradeThatFailsFromWithinIsSaidAndTheHoldIsRenewed) {
    const auto asked = downgrade();
    ASSERT_EQ(questions(), 1U);
    answer(word::no_memory);
    EXPECT_EQ(asked->failed, errc::exhausted);
    move(ttl / 20);
    ASSERT_EQ(questions(), 2U);
    answer(word::yes);
    EXPECT_EQ(one_->state(), lock_state::held);
}

TEST_F(KeeperOnDemand, ARenewalWithoutAnAnswerIsAskedAgainAfterAPause) {
    const auto asked = renew();
    answer(word::silence);
    EXPECT_EQ(questions(), 1U) << "not in a loop without a pause";
    move(ttl / 20);
    EXPECT_GE(questions(), 2U);
    EXPECT_FALSE(asked->over);
    answer(word::yes);
    if (!asked->over) answer(word::yes);  // the rhythm's was first
    EXPECT_TRUE(asked->over);
    EXPECT_EQ(asked->failed, std::nullopt);
    EXPECT_EQ(losses_, 0);
}

// A lock that was handed over is ours for a window that is shorter than a twentieth of the ttl. One
// lost answer, or a server that is busy for a moment, must not cost it.
TEST_F(KeeperOnDemand, AHandOffIsConfirmedAgainWithinItsWindow) {
    constexpr auto window = 1200ms;
    const claim what{.name = "passed on", .owner = "heir", .ttl = ttl};
    core::lease_keeper::place kept(keeper_,
                                   std::make_shared<core::lease>(nullptr, time_, what, forever));
    auto granted = kept.keep(
        "heir", {.deadline = time_.now() + window, .proof = "window's proof", .confirm = true});
    const auto passed = std::exchange(granted.what, nullptr);
    std::size_t repetitions = 0;
    for (auto left = window; left > 100ms; left -= 10ms) {
        move(10ms);
        if (!service_.is_asked()) continue;
        ++repetitions;
        answer(word::silence);
    }
    EXPECT_GE(repetitions, 5U);
    EXPECT_LE(repetitions, 15U);
    ASSERT_EQ(passed->state(), lock_state::at_risk);
    for (int i = 0; i < 6 && !service_.is_asked(); ++i)
        move(10ms);
    ASSERT_TRUE(service_.is_asked()) << "the last moments of the window are not used";
    answer(word::yes);
    EXPECT_EQ(passed->deadline(), time_.now() + ttl - drift(ttl));
    EXPECT_EQ(losses_, 0);
    // From now on it is a lease like any other.
    const auto before = questions();
    move(ttl / 3);
    ASSERT_GT(questions(), before);
    while (service_.is_asked())
        answer(word::silence);
    const auto then = questions();
    move(ttl / 40);
    EXPECT_EQ(questions(), then);
    keeper_.drop(passed);
}

TEST_F(KeeperOnDemand, ARefusedRenewalIsALoss) {
    const auto asked = renew();
    answer(word::no);
    EXPECT_EQ(asked->failed, errc::lost);
    EXPECT_EQ(one_->why(), loss_reason::taken_over);
    EXPECT_EQ(losses_, 1);
}

TEST_F(KeeperOnDemand, ARenewalThatIsAnsweredTooLateIsALoss) {
    const auto asked = renew();
    move(ttl);
    EXPECT_EQ(one_->why(), loss_reason::expired);
    answer(word::yes);
    EXPECT_EQ(asked->failed, errc::lost);
    EXPECT_EQ(one_->state(), lock_state::lost);
    EXPECT_EQ(losses_, 1);
}

TEST_F(KeeperOnDemand, ARenewalOfWhatIsGivenBackMeanwhileFails) {
    const auto asked = renew(), behind = renew();
    ASSERT_TRUE(keeper_.drop(one_));
    settle();
    EXPECT_EQ(behind->failed, errc::lost) << "who only waits need not wait for the answer";
    answer(word::yes);
    EXPECT_EQ(asked->failed, errc::lost);
    EXPECT_EQ(questions(), 1U);
    EXPECT_EQ(losses_, 0) << "given back is not lost";
}

TEST_F(KeeperOnDemand, ADowngradeMakesItSharedAndLastsATtlMore) {
    move(15s);
    const auto asked = downgrade();
    EXPECT_EQ(one_->what().claim.mode, lock_mode::exclusive) << "before the service has said so";
    answer(word::yes);
    EXPECT_TRUE(asked->over);
    EXPECT_EQ(asked->failed, std::nullopt);
    EXPECT_EQ(one_->what().claim.mode, lock_mode::shared);
    EXPECT_EQ(one_->what().grant.proof, "shared proof");
    EXPECT_EQ(one_->deadline(), time_.now() + ttl - drift(ttl));
    EXPECT_EQ(service_.released, "") << "it is kept";
    move(ttl / 3);
    EXPECT_EQ(service_.asked.back(), "renew");
}

// 1. A renewal is under way. 2. Somebody wants a downgrade. If it were sent now, the renewal's
// answer, by the old proof, could come after it and be read as a loss.
TEST_F(KeeperOnDemand, ADowngradeWaitsForTheRenewalInFlight) {
    move(ttl / 3);
    const auto asked = downgrade();
    EXPECT_EQ(service_.asked, std::vector<std::string>{"renew"});
    answer(word::yes);
    EXPECT_EQ(service_.asked.back(), "downgrade");
    answer(word::yes);
    EXPECT_TRUE(asked->over);
    EXPECT_EQ(losses_, 0);
}

TEST_F(KeeperOnDemand, ADowngradeWithoutAnAnswerIsAskedAgainAndNoRenewalComesBetween) {
    move(ttl / 3 - 1s);
    const auto asked = downgrade();
    answer(word::silence);
    EXPECT_EQ(questions(), 1U) << "not in a loop without a pause";
    move(ttl / 20);
    EXPECT_EQ(service_.asked, (std::vector<std::string>{"downgrade", "downgrade"}));
    answer(word::yes);
    EXPECT_TRUE(asked->over);
    EXPECT_EQ(one_->what().claim.mode, lock_mode::shared);
}

TEST_F(KeeperOnDemand, ARefusedDowngradeIsALoss) {
    const auto asked = downgrade();
    answer(word::no);
    EXPECT_EQ(asked->failed, errc::lost);
    EXPECT_EQ(one_->why(), loss_reason::taken_over);
    EXPECT_EQ(one_->what().claim.mode, lock_mode::exclusive);
}

TEST_F(KeeperOnDemand, ADowngradeThatIsNeverAnsweredEndsWithTheLease) {
    const auto asked = downgrade();
    move(ttl);
    answer(word::silence);
    EXPECT_EQ(asked->failed, errc::lost);
    EXPECT_EQ(questions(), 1U);
    EXPECT_EQ(losses_, 1);
}

// 1. A downgrade is under way. 2. The lock is given back, by the proof of the exclusive hold. 3.
// The service has made it shared by then: it must be given back by its new proof.
TEST_F(KeeperOnDemand, ADowngradeOfWhatIsGivenBackMeanwhileIsUndone) {
    const auto asked = downgrade();
    ASSERT_TRUE(keeper_.drop(one_));
    answer(word::yes);
    EXPECT_EQ(service_.released, "shared proof");
    EXPECT_EQ(asked->failed, errc::lost);
}

// The same, and the downgrade's answer is lost: it is asked again, since the service may have the
// hold as a shared one until its ttl ends. Not for longer than that.
TEST_F(KeeperOnDemand, ADowngradeWhoseAnswerIsLostIsUndoneWhereTheHoldIsGivenBackMeanwhile) {
    const auto asked = downgrade();
    ASSERT_TRUE(keeper_.drop(one_));
    answer(word::silence);
    EXPECT_FALSE(asked->over);
    move(ttl / 20);
    EXPECT_EQ(service_.asked, (std::vector<std::string>{"downgrade", "downgrade"}));
    answer(word::yes);
    EXPECT_EQ(service_.released, "shared proof");
    EXPECT_EQ(asked->failed, errc::lost);
}

TEST_F(KeeperOnDemand, ADowngradeOfWhatIsGivenBackIsNotAskedForLongerThanTheLease) {
    const auto asked = downgrade();
    ASSERT_TRUE(keeper_.drop(one_));
    for (int i = 0; i < 40 && !asked->over; ++i) {
        if (service_.is_asked()) answer(word::silence);
        move(ttl / 20);
    }
    EXPECT_EQ(asked->failed, errc::lost);
    EXPECT_LE(questions(), 21U);
    EXPECT_EQ(service_.released, "");
}

// Whichever allocation fails: no question is left in flight that was never asked, for the hold
// would not be renewed any more.
TEST_F(KeeperOnDemand, AQuestionThatCannotBeginLeavesTheHoldToItsRhythm) {
    for (const bool lowers : {false, true}) {
        bool failed = true;
        for (long at = 0; failed; ++at) {
            ASSERT_LT(at, 500);
            failing_memory::fail_once_at(at);
            try {
                (void)(lowers ? downgrade() : renew());
            } catch (const std::bad_alloc&) {}  // it is its beginning that failed
            failed = failing_memory::fail_no_more();
            settle();
            for (int i = 0; i < 12; ++i) {
                while (service_.is_asked())
                    answer(word::yes);
                move(ttl / 20);
            }
            while (service_.is_asked())
                answer(word::yes);
            ASSERT_EQ(one_->state(), lock_state::held) << "allocation " << at;
            ASSERT_GT(one_->deadline(), time_.now() + ttl / 2) << "allocation " << at;
        }
    }
}

}  // namespace
}  // namespace pawl
