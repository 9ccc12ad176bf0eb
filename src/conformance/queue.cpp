#include "lists.hpp"

namespace pawl::conformance {

namespace {

bool first_come_first_served(const promises& promised) {
    return promised.order == fairness::first_in_first_out;
}
bool with_queue_over_processes(const promises& promised) {
    return promised.across_processes && first_come_first_served(promised);
}

bool with_hand_over(const promises& promised) { return promised.hands_over; }

// Each waiter is a client of its own.
void the_queue_is_served_in_order(fixture& of) {
    require_order_of_arrival(of.fresh(), 7, 6, {.ttl = long_ttl, .wait = patience});
}

// SIGKILL of the first in the queue; the release must reach the second.
void a_killed_waiter_is_passed_over(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), eyes(here.where);
    auto lock = mine.acquire("it", {.ttl = 2s});
    agent first(here), second(here);
    first.tell("acquire it 2000 forever");
    require(has_waiters(eyes, "it", 1), "a waiter is not to be seen");
    second.tell("acquire it 2000 forever");
    require(has_waiters(eyes, "it", 2), "the second waiter is not to be seen");
    first.process().kill9();
    const fencing_token mine_was = lock.token();
    require_equal(lock.release(), release_result::released, "release");
    require(token_in(second.answer(2s + grace)) > mine_was || !mine_was,
            "the next token is not later");
}

// SIGSTOP of the first in the queue. When it wakes up, it must not believe that the lock is its
// own, and goes on waiting until it really is.
void a_stopped_waiter_is_passed_over(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), eyes(here.where);
    auto lock = mine.acquire("it", {.ttl = 2s});
    agent first(here), second(here);
    first.tell("acquire it 2000 forever");
    require(has_waiters(eyes, "it", 1), "a waiter is not to be seen");
    second.tell("acquire it 2000 forever");
    require(has_waiters(eyes, "it", 2), "the second waiter is not to be seen");
    first.process().stop();
    require_equal(lock.release(), release_result::released, "release");
    const fencing_token seconds = token_in(second.answer(2s + grace));
    first.process().proceed();
    require(!first.process().read_line(1500ms).has_value(),
            "a waiter that slept through its turn took it");
    const std::string state = second.ask("state it");
    require(state == "state held", "the holder, after the stopped waiter woke up: " + state);
    require_equal(second.ask("release it"), std::string("release released"), "release");
    require(token_in(first.answer()) > seconds || !seconds, "the late waiter's token is not later");
}

// Between the release and the waiter's turn nobody comes in, however quick he is.
void a_release_gives_it_to_who_waits(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    for (int round = 0; round < 20; ++round) {
        auto lock = mine.acquire("it", {.ttl = long_ttl, .wait = patience});
        std::atomic<bool> tried = false;
        aside waiting([&] {
            auto turn = other.acquire("it", {.ttl = long_ttl, .wait = patience});
            require(eventually([&] { return tried.load(); }), "the one who came in between hangs");
        });
        require(has_waiters(mine, "it", 1), "a waiter is not to be seen");
        require_equal(lock.release(), release_result::released, "release");
        const bool came_in = mine.try_acquire("it", {.ttl = long_ttl}).owns_lock();
        tried = true;
        waiting.get();
        require(!came_in, "the holder took back what it had released to a waiter");
    }
}

// Nobody else waits: the lock must come free, and then be had.
void a_lone_killed_waiter_blocks_nobody(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), eyes(here.where);
    auto lock = mine.acquire("it", {.ttl = 2s});
    agent waiter(here);
    waiter.tell("acquire it 2000 forever");
    require(has_waiters(eyes, "it", 1), "a waiter is not to be seen");
    waiter.process().kill9();
    require_equal(lock.release(), release_result::released, "release");
    auto next = eyes.acquire("it", {.ttl = 2s, .wait = 2s + grace});
    require(static_cast<bool>(next), "a dead waiter blocks the lock");
}

void the_count_of_waiters_returns_to_nothing(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    auto lock = mine.acquire("it", {.ttl = long_ttl, .wait = patience});
    std::vector<std::unique_ptr<aside>> crowd;
    for (int i = 0; i < 10; ++i)
        crowd.push_back(std::make_unique<aside>([&] {
            const auto why =
                failure_of([&] { (void)other.acquire("it", {.ttl = 2s, .wait = 500ms}); });
            require_equal(why, errc::timed_out, "a wait on a held lock");
        }));
    require(eventually([&] { return waiters_of(mine, "it") >= 1; }), "no waiter is to be seen");
    for (auto& each : crowd)
        each->get();
    require(has_waiters(mine, "it", 0), "waiters that timed out are still counted");
}

void killed_waiters_are_forgotten(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where);
    auto lock = mine.acquire("it", {.ttl = long_ttl, .wait = patience});
    {
        agent one(here), two(here);
        one.tell("acquire it 60000 forever");
        two.tell("acquire it 60000 forever");
        require(has_waiters(mine, "it", 2), "waiters of other processes are not to be seen");
    }
    require(has_waiters(mine, "it", 0), "killed waiters are still counted");
}

constexpr promise list[] = {
    {"the_queue_is_served_in_order", first_come_first_served, the_queue_is_served_in_order},
    {"a_killed_waiter_is_passed_over", with_queue_over_processes, a_killed_waiter_is_passed_over},
    {"a_stopped_waiter_is_passed_over", with_queue_over_processes, a_stopped_waiter_is_passed_over},
    {"a_release_gives_it_to_who_waits", with_hand_over, a_release_gives_it_to_who_waits},
    {"a_lone_killed_waiter_blocks_nobody", with_processes, a_lone_killed_waiter_blocks_nobody},
    {"the_count_of_waiters_returns_to_nothing", everybody, the_count_of_waiters_returns_to_nothing},
    {"killed_waiters_are_forgotten", with_processes, killed_waiters_are_forgotten},
};

}  // namespace

std::span<const promise> queue_promises() noexcept { return list; }

}  // namespace pawl::conformance
