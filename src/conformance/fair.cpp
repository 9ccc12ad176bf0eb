// Strictly fair locks: whoever asked earlier, in any process, goes first.
#include "lists.hpp"

#include <mutex>

namespace pawl::conformance {

namespace {

using blocking::held_lock;

constexpr lock_options fairly{.ttl = long_ttl, .wait = patience, .fair = true};

bool strictly(const promises& promised) { return promised.strictly_fair; }
bool strictly_with_processes(const promises& promised) {
    return promised.strictly_fair && promised.across_processes;
}
// Where the line is the service's own, a dead waiter is no matter of leases.
bool strictly_in_one_line(const promises& promised) {
    return strictly_with_processes(promised) && promised.one_line;
}
bool strictly_with_sharing(const promises& promised) {
    return promised.strictly_fair && promised.shared;
}

// Three clients with four waiters each, lined up in turns: what a client has at hand when its own
// hold ends must not go before the others.
void the_order_of_arrival_is_kept(fixture& of) {
    require_order_of_arrival(of.fresh(), 3, 12, fairly);
}

// Twice round: each stands in line anew as soon as it was served.
void processes_take_turns(fixture& of) {
    const world here = of.fresh();
    blocking::client eyes(here.where);
    auto lock = eyes.acquire("it", fairly);
    std::vector<std::unique_ptr<agent>> crowd;
    for (std::uint64_t i = 0; i < 5; ++i) {
        crowd.push_back(std::make_unique<agent>(here));
        crowd.back()->tell("take fair it 60000 forever");
        require(has_waiters(eyes, "it", i + 1), "a waiter is not to be seen");
    }
    fencing_token newest = lock.token();
    require_equal(lock.release(), release_result::released, "release");
    for (int round = 0; round < 2; ++round)
        for (auto& each : crowd) {
            const fencing_token its = token_in(each->answer());
            require(its > newest || !its, "a later turn has no later token");
            newest = its;
            require_equal(each->ask("release it"), std::string("release released"), "release");
            each->tell("take fair it 60000 forever");
            require(has_waiters(eyes, "it", 4), "who was served does not stand in line anew");
        }
}

// The holder dies, and its lease ends while newcomers ask all the time.
void a_newcomer_never_passes_a_waiter(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), newcomers(here.where);
    agent holder(here);
    (void)token_in(holder.ask("take fair it 1500 forever"));
    held_lock next;
    std::atomic<bool> got = false;
    aside waits([&] {
        next = locks.acquire("it", fairly);
        got = true;
    });
    require(has_waiters(newcomers, "it", 1), "the waiter is not to be seen");
    holder.process().kill9();
    constexpr lock_options at_once{.ttl = long_ttl, .wait = 0s, .fair = true};
    const bool served = eventually([&] {
        const auto why = failure_of([&] { (void)newcomers.acquire("it", at_once).release(); });
        require(why == errc::timed_out, "a newcomer took the lock before who waited for it");
        return got.load();
    });
    require(served, "the waiter was not served");
    waits.get();
}

// The first in line was killed, the second is stopped: the third has it long before any ttl ends.
void dead_waiters_are_passed_over(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where);
    auto lock = mine.acquire("it", fairly);
    agent killed(here), stopped(here), alive(here);
    std::uint64_t waiters = 0;
    for (agent* each : {&killed, &stopped, &alive}) {
        each->tell("take fair it 60000 forever");
        require(has_waiters(mine, "it", ++waiters), "a waiter is not to be seen");
    }
    killed.process().kill9();
    stopped.process().stop();
    require_equal(lock.release(), release_result::released, "release");
    const fencing_token its = token_in(alive.answer());
    stopped.process().proceed();
    require(!stopped.process().read_line(1500ms).has_value(),
            "a waiter that slept through its turn took it");
    require_equal(alive.ask("release it"), std::string("release released"), "release");
    require(token_in(stopped.answer()) > its || !its, "the late waiter's token is not later");
}

// Readers and writers in one line: W1, two readers, W2, a reader.
void readers_and_writers_stand_in_one_line(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    auto lock = mine.acquire("it", fairly);
    std::mutex guard;
    std::string order;
    std::vector<std::unique_ptr<aside>> crowd;
    const std::string line = "WrrWr";
    for (std::size_t i = 0; i < line.size(); ++i) {
        crowd.push_back(std::make_unique<aside>([&, i] {
            auto options = fairly;
            if (line[i] == 'r') options.mode = lock_mode::shared;
            auto turn = (i % 2 == 0 ? mine : other).acquire("it", options);
            const std::scoped_lock alone(guard);
            order += line[i];
        }));
        require(has_waiters(mine, "it", i + 1), "a waiter is not to be seen");
    }
    require_equal(lock.release(), release_result::released, "release");
    for (auto& each : crowd)
        each->get();
    require_equal(order, line, "the order in which they were served");
}

constexpr promise list[] = {
    {"the_order_of_arrival_is_kept", strictly, the_order_of_arrival_is_kept},
    {"processes_take_turns", strictly_with_processes, processes_take_turns},
    {"a_newcomer_never_passes_a_waiter", strictly_with_processes, a_newcomer_never_passes_a_waiter},
    {"dead_waiters_are_passed_over", strictly_in_one_line, dead_waiters_are_passed_over},
    {"readers_and_writers_stand_in_one_line", strictly_with_sharing,
     readers_and_writers_stand_in_one_line},
};

}  // namespace

std::span<const promise> fair_promises() noexcept { return list; }

}  // namespace pawl::conformance
