#include "lists.hpp"

namespace pawl::conformance {

namespace {

void many_threads_share_a_client(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    std::atomic<int> served = 0;
    std::vector<std::unique_ptr<aside>> crowd;
    for (int i = 0; i < 32; ++i)
        crowd.push_back(std::make_unique<aside>([&, i] {
            const std::string own = "own/" + std::to_string(i);
            for (int round = 0; round < 10; ++round, ++served) {
                auto lock = locks.acquire(own, {.ttl = long_ttl, .wait = patience});
                auto shared = locks.acquire("shared/" + std::to_string(i % 4),
                                            {.ttl = long_ttl, .wait = patience});
                require_equal(shared.release(), release_result::released,
                              "release of a shared name");
                require_equal(lock.release(), release_result::released, "release of an own name");
            }
        }));
    for (auto& each : crowd)
        each->get();
    require_equal(served.load(), 320, "rounds of 32 threads");
    require(locks.list().empty(), "a lock is left when all are done");
}

void a_crowd_is_served_once_each(fixture& of) {
    const world here = of.fresh();
    blocking::client eyes(here.where);
    std::vector<std::unique_ptr<blocking::client>> clients;
    for (int i = 0; i < 5; ++i)
        clients.push_back(std::make_unique<blocking::client>(here.where));
    auto lock = eyes.acquire("it", {.ttl = long_ttl});
    turnstile gate;
    std::atomic<int> served = 0;
    std::vector<std::unique_ptr<aside>> crowd;
    for (std::size_t i = 0; i < 50; ++i)
        crowd.push_back(std::make_unique<aside>([&, i] {
            auto turn = clients[i % 5]->acquire("it", {.ttl = long_ttl, .wait = patience});
            gate.enter();
            ++served;
            gate.leave();
        }));
    require(eventually([&] { return waiters_of(eyes, "it") >= 5; }), "the crowd is not to be seen");
    require_equal(lock.release(), release_result::released, "release");
    for (auto& each : crowd)
        each->get();
    require(!gate.ever_shared(), "two of a crowd held the lock at once");
    require_equal(served.load(), 50, "how many of 50 were served");
    require(has_waiters(eyes, "it", 0), "waiters are left when all were served");
}

void a_thousand_locks_are_renewed(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    std::vector<blocking::held_lock> held;
    for (int i = 0; i < 1000; ++i)
        held.push_back(mine.acquire("many/" + std::to_string(i), {.ttl = 3s, .wait = soon}));
    const auto why = failure_of([&] { (void)other.acquire("many/500", {.ttl = 3s, .wait = 7s}); });
    require_equal(why, errc::timed_out,
                  "waiting for more than two ttls for one of 1,000 held locks");
    for (auto& lock : held) {
        require(lock.state() == lock_state::held || lock.state() == lock_state::at_risk,
                std::string(lock.name()) + " is " + to_string(lock.state()));
        require_equal(lock.release(), release_result::released,
                      "release of " + std::string(lock.name()));
    }
    require(other.list("many/").empty(), "a lock is left when all were released");
}

constexpr promise list[] = {
    {"many_threads_share_a_client", everybody, many_threads_share_a_client},
    {"a_crowd_is_served_once_each", everybody, a_crowd_is_served_once_each},
    {"a_thousand_locks_are_renewed", everybody, a_thousand_locks_are_renewed},
};

}  // namespace

std::span<const promise> crowd_promises() noexcept { return list; }

}  // namespace pawl::conformance
