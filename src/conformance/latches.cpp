#include "lists.hpp"

#include <pawl/blocking_latch.hpp>

#include <array>

namespace pawl::conformance {

namespace {

using blocking::barrier;
using blocking::latch;

bool with_latches(const promises& promised) { return promised.latches; }
bool with_barriers(const promises& promised) { return promised.barriers; }
bool with_latches_and_processes(const promises& promised) {
    return promised.latches && promised.across_processes;
}

[[nodiscard]] bool latch_has_waiters(latch& eyes, std::uint64_t count) {
    return eventually([&] { return eyes.inspect().waiters == count; });
}

void a_latch_opens_at_zero(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), first(here.where), second(here.where);
    latch mine(locks, "it"), one(first, "it"), two(second, "it");
    require(mine.try_set(4), "a new latch cannot be set");
    std::atomic<int> gone_on = 0;
    aside a([&] { gone_on += one.wait_for(patience) ? 1 : 100; });
    aside b([&] { gone_on += two.wait_for(patience) ? 1 : 100; });
    require(latch_has_waiters(mine, 2), "the waiters are not to be seen");
    for (const std::uint64_t left : {3U, 2U, 1U}) {
        require_equal(mine.count_down(), left, "what is left");
        require(!one.try_wait() && !two.wait_for(0s), "it is open before it is at 0");
        require_equal(gone_on.load(), 0, "who went on before it was at 0");
    }
    require_equal(mine.count_down(), std::uint64_t{0}, "what is left");
    a.get();
    b.get();
    require_equal(gone_on.load(), 2, "who went on when it was at 0");
    require(one.try_wait(), "it is not open at 0");
    require_equal(mine.inspect().count, std::uint64_t{0}, "the count at 0");
}

void a_latch_is_set_only_at_zero(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    latch mine(locks, "it"), theirs(other, "it");
    require(mine.try_set(2), "a new latch cannot be set");
    require(!theirs.try_set(9), "a latch was set while it was counting");
    require_equal(theirs.count_down(), std::uint64_t{1}, "what is left");
    require(!mine.try_set(9), "a latch was set while it was counting");
    require_equal(mine.count_down(7), std::uint64_t{0}, "what is left after more than was missing");
    require(theirs.try_set(3), "a latch at 0 cannot be set again");
    require_equal(mine.count_down(2), std::uint64_t{1}, "what is left in the second generation");
    require_equal(latch(locks, "another").try_set(1), true, "setting another one");
    require_equal(mine.inspect().count, std::uint64_t{1}, "the count beside another latch");
}

// 1. One arrives, and has yet to begin to wait. 2. The last one comes, and it is set again at once.
// 3. The first waits for a generation that is over, and must not be kept for the next one.
void a_latch_set_again_lets_the_old_waiters_go(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    latch mine(locks, "it"), theirs(other, "it");
    require(mine.try_set(2), "a new latch cannot be set");
    for (int round = 0; round < 100; ++round) {
        std::stop_source stop;
        std::atomic<bool> went_on = false;
        aside arriving([&] {
            theirs.arrive_and_wait(stop.get_token());
            went_on = true;
        });
        require(eventually([&] { return mine.inspect().count == 1; }), "nobody arrived");
        require_equal(mine.count_down(), std::uint64_t{0}, "what is left");
        require(mine.try_set(2), "a latch at 0 cannot be set again");
        if (!eventually([&] { return went_on.load(); })) stop.request_stop();
        arriving.get();
    }
}

void waiters_of_a_latch_are_pushed(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    latch mine(locks, "it");
    require(mine.try_set(2), "a new latch cannot be set");
    require(!mine.wait_for(0s), "it is open before it is at 0");
    std::vector<std::unique_ptr<blocking::client>> clients;
    std::vector<std::unique_ptr<aside>> waiting;
    std::atomic<int> gone_on = 0;
    for (int i = 0; i < 5; ++i) {
        auto& its = *clients.emplace_back(std::make_unique<blocking::client>(here.where));
        waiting.push_back(std::make_unique<aside>([&gone_on, &its] {
            latch one(its, "it");
            if (one.wait_for(patience)) ++gone_on;
        }));
    }
    require(latch_has_waiters(mine, 5), "the waiters are not to be seen");
    require_equal(mine.count_down(), std::uint64_t{1}, "what is left");
    std::vector<statistics> before;
    for (const auto& each : clients) {
        // Asked behind the waiter: its first look is over when these are answered.
        for (int i = 0; i < 2; ++i)
            require(!latch(*each, "it").try_wait(), "it is open at 1");
        before.push_back(each->statistics());
    }
    require_equal(mine.count_down(), std::uint64_t{0}, "what is left");
    for (auto& each : waiting)
        each->get();
    require_equal(gone_on.load(), 5, "who went on");
    for (std::size_t i = 0; i < clients.size(); ++i) {
        const auto after = clients[i]->statistics();
        require(after.pushes > before[i].pushes, "a waiter was not told by a push");
        // It may look once because of the push, and say that it leaves.
        require(after.requests <= before[i].requests + 2, "a waiter asked instead of listening");
    }
    require(latch_has_waiters(mine, 0), "a waiter is left behind");
}

void a_latch_wait_has_an_end(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    latch mine(locks, "it"), theirs(other, "it");
    require(mine.try_set(1), "a new latch cannot be set");
    require(!theirs.wait_for(50ms), "it went on although nobody counted");
    require(!theirs.wait_for(-1s), "it went on although nobody counted");
    require(!theirs.wait_until(boot_clock::now() + 20ms), "it went on although nobody counted");
    std::stop_source stop;
    std::optional<errc> why;
    aside waiting([&] { why = failure_of([&] { theirs.wait(stop.get_token()); }); });
    require(latch_has_waiters(mine, 1), "the waiter is not to be seen");
    stop.request_stop();
    waiting.get();
    require_equal(why, errc::cancelled, "a cancelled wait");
    require(latch_has_waiters(mine, 0), "a waiter that was cancelled is left behind");
    aside arriving([&] { theirs.arrive_and_wait(); });
    arriving.get();
    require_equal(mine.inspect().count, std::uint64_t{0}, "the count after the last arrival");
}

void bad_latches_are_refused(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    latch mine(locks, "it"), nameless(locks, ""), hasty(locks, "it", {.ttl = 1ms});
    require_equal(failure_of([&] { mine.try_set(0); }), errc::bad_option, "a count of 0");
    require_equal(failure_of([&] { mine.count_down(0); }), errc::bad_option, "a step of 0");
    require_equal(failure_of([&] { hasty.try_set(1); }), errc::bad_option, "a ttl of 1 ms");
    require_equal(failure_of([&] { nameless.try_set(1); }), errc::bad_name, "no name");
    require_equal(failure_of([&] { (void)latch(locks, "a\nb").inspect(); }), errc::bad_name,
                  "a name of two lines");
    require_equal(failure_of([&] { (void)barrier(locks, "it", 0).arrive(); }), errc::bad_option,
                  "a barrier of nobody");
}

void an_unknown_latch_is_an_error(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    latch mine(locks, "it"), theirs(other, "it");
    require(!mine.inspect().known, "a latch is known that nobody has set");
    require_equal(failure_of([&] { mine.wait(); }), errc::lost, "waiting for an unknown one");
    require_equal(failure_of([&] { (void)mine.try_wait(); }), errc::lost, "looking at it");
    require_equal(failure_of([&] { mine.count_down(); }), errc::lost, "counting it down");
    require(!mine.reset(), "it could be reset");
    require(mine.try_set(1), "it cannot be set");
    std::optional<errc> why;
    aside waiting([&] { why = failure_of([&] { (void)theirs.wait_for(patience); }); });
    require(latch_has_waiters(mine, 1), "the waiter is not to be seen");
    require(mine.reset(), "there was nothing to reset");
    waiting.get();
    require_equal(why, errc::lost, "a wait for a latch that was reset");
}

// Set again after a reset, it is another one: who waited for the first is told, not kept.
void a_latch_is_forgotten_after_its_ttl(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    latch mine(locks, "it", {.ttl = 1s}), theirs(other, "it");
    require(mine.try_set(1), "a new latch cannot be set");
    std::optional<errc> why;
    aside waiting([&] { why = failure_of([&] { (void)theirs.wait_for(patience); }); });
    require(eventually([&] { return !mine.inspect().known; }), "it is not forgotten");
    require(mine.try_set(1), "it cannot be set after it was forgotten");
    waiting.get();
    require_equal(why, errc::lost, "a wait for a latch that was forgotten");
}

void a_latch_counts_other_processes(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    latch mine(locks, "it");
    std::vector<agent> crowd;
    for (int i = 0; i < 6; ++i)
        crowd.emplace_back(here);
    for (int round = 0; round < 5; ++round) {
        require(mine.try_set(3), "the latch cannot be set");
        for (std::size_t i = 3; i < 6; ++i)
            crowd[i].tell("latch_wait it");
        require(latch_has_waiters(mine, 3), "the waiters are not to be seen");
        for (std::size_t i = 0; i < 3; ++i)
            require_equal(crowd[i].ask("latch_down it"), "left " + std::to_string(2 - i),
                          "what another process counted");
        for (std::size_t i = 3; i < 6; ++i)
            require_equal(crowd[i].answer(), std::string("open"),
                          "what another process waited for");
        require(latch_has_waiters(mine, 0), "a waiter is left behind");
    }
}

constexpr std::uint32_t parties = 8;
constexpr std::size_t turns = 1000;

// Nobody goes on before all have come, and nobody is forgotten: a lost wake-up would cost seconds.
void a_barrier_turns_a_thousand_times(fixture& of) {
    const world here = of.fresh();
    std::vector<std::unique_ptr<blocking::client>> clients;
    for (int i = 0; i < 4; ++i)
        clients.push_back(std::make_unique<blocking::client>(here.where));
    std::array<std::atomic<std::uint32_t>, turns> arrived{};
    std::atomic<int> too_early = 0;
    std::vector<std::unique_ptr<aside>> crowd;
    for (std::size_t i = 0; i < parties; ++i)
        crowd.push_back(std::make_unique<aside>([&, i] {
            barrier all(*clients[i % 4], "it", parties);
            for (auto& turn : arrived) {
                ++turn;
                const auto mine = all.arrive();
                require(all.wait_for(mine, patience), "a wake-up was lost");
                if (turn != parties) ++too_early;
            }
        }));
    for (auto& each : crowd)
        each->get();
    require_equal(too_early.load(), 0, "who went on before all had come");
    require_equal(barrier(*clients[0], "it", parties).inspect().count, std::uint64_t{parties},
                  "what the next turn begins with");
}

void a_barrier_knows_its_parties(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    barrier two(locks, "it", 2), three(locks, "it", 3);
    const auto turn = two.arrive();
    require_equal(failure_of([&] { (void)three.arrive(); }), errc::bad_option,
                  "arriving with another number");
    require(!two.wait_for(turn, 0s), "a turn is over although one is missing");
    require_equal(two.inspect().count, std::uint64_t{1}, "how many are missing");
    two.arrive_and_wait();
    require(two.wait_for(turn, 0s), "a turn that is over is waited for");
    latch hand(locks, "by hand");
    require(hand.try_set(5), "a new latch cannot be set");
    require_equal(failure_of([&] { (void)barrier(locks, "by hand", 5).arrive(); }),
                  errc::bad_option, "arriving at a latch");
    require_equal(hand.inspect().count, std::uint64_t{5}, "the latch after that");
}

constexpr promise list[] = {
    {"a_latch_opens_at_zero", with_latches, a_latch_opens_at_zero},
    {"a_latch_is_set_only_at_zero", with_latches, a_latch_is_set_only_at_zero},
    {"a_latch_set_again_lets_the_old_waiters_go", with_barriers,
     a_latch_set_again_lets_the_old_waiters_go},
    {"waiters_of_a_latch_are_pushed", with_latches, waiters_of_a_latch_are_pushed},
    {"a_latch_wait_has_an_end", with_latches, a_latch_wait_has_an_end},
    {"bad_latches_are_refused", with_latches, bad_latches_are_refused},
    {"a_latch_counts_other_processes", with_latches_and_processes, a_latch_counts_other_processes},
    {"an_unknown_latch_is_an_error", with_barriers, an_unknown_latch_is_an_error},
    {"a_latch_is_forgotten_after_its_ttl", with_barriers, a_latch_is_forgotten_after_its_ttl},
    {"a_barrier_turns_a_thousand_times", with_barriers, a_barrier_turns_a_thousand_times},
    {"a_barrier_knows_its_parties", with_barriers, a_barrier_knows_its_parties},
};

}  // namespace

std::span<const promise> latch_promises() noexcept { return list; }

}  // namespace pawl::conformance
