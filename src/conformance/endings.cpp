#include "lists.hpp"

namespace pawl::conformance {

namespace {

void a_dropped_handle_frees_it(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    for (int i = 0; i < 20; ++i) {
        {
            auto lock = mine.acquire("it", {.ttl = long_ttl, .wait = patience});
        }
        auto next = other.acquire("it", {.ttl = long_ttl, .wait = soon});
        require(static_cast<bool>(next), "a dropped handle kept its lock");
    }
}

void assigning_over_a_handle_frees_it(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    auto lock = mine.acquire("it", {.ttl = long_ttl, .wait = patience});
    lock = mine.acquire("next", {.ttl = long_ttl, .wait = patience});
    require_equal(std::string(lock.name()), std::string("next"), "the name of the handle");
    auto freed = other.acquire("it", {.ttl = long_ttl, .wait = soon});
    require(!other.try_acquire("next", {.ttl = long_ttl}).owns_lock(), "the new lock is not held");
    lock = {};
    require(!lock, "a default-made handle is not empty");
}

void moving_a_handle_keeps_it(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    auto first = mine.acquire("it", {.ttl = long_ttl, .wait = patience});
    const fencing_token token = first.token();
    auto second = std::move(first);
    // NOLINTNEXTLINE(bugprone-use-after-move): this is what is asked
    require(!first, "a handle that was moved from is not empty");
    require_equal(second.token(), token, "the token of a moved handle");
    require(!other.try_acquire("it", {.ttl = long_ttl}).owns_lock(),
            "moving a handle freed its lock");
    require_equal(second.release(), release_result::released, "release of a moved handle");
}

void a_client_that_ends_frees_its_locks(fixture& of) {
    const world here = of.fresh();
    blocking::client other(here.where);
    {
        blocking::client mine(here.where);
        auto one = mine.acquire("one", {.ttl = long_ttl});
        auto two = mine.acquire("two", {.ttl = long_ttl});
    }
    require(other.acquire("one", {.ttl = long_ttl, .wait = soon}).owns_lock(), "`one` is held");
    require(other.acquire("two", {.ttl = long_ttl, .wait = soon}).owns_lock(), "`two` is held");
}

// The drain time is for what is under way, and there is nothing.
void an_idle_client_ends_at_once(fixture& of) {
    const world here = of.fresh();
    const time_point began = boot_clock::now();
    { const blocking::client never_used(here.where, {.drain = 60s}); }
    {
        blocking::client used(here.where, {.drain = 60s});
        (void)used.acquire("it", {.ttl = long_ttl}).release();
    }
    require(boot_clock::now() - began < soon, "a client with nothing to do took its drain time");
}

void a_handle_outlives_its_client_as_a_lost_one(fixture& of) {
    const world here = of.fresh();
    blocking::client other(here.where);
    std::optional<blocking::client> mine(std::in_place, here.where);
    auto lock = mine->acquire("it", {.ttl = 2s});
    mine.reset();
    require(lock.state() == lock_state::lost || lock.state() == lock_state::released,
            std::string("a handle whose client is gone is ") + to_string(lock.state()));
    require(lock.release() != release_result::unknown || lock.state() != lock_state::held,
            "release of a handle whose client is gone");
    require(other.acquire("it", {.ttl = long_ttl, .wait = 2s + grace}).owns_lock(),
            "the lock of a client that is gone is still held");
}

void a_waiting_caller_does_not_stop_the_others(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    auto lock = other.acquire("it", {.ttl = long_ttl});
    std::stop_source stop;
    aside waiting([&] {
        (void)failure_of([&] {
            (void)mine.acquire("it", {.ttl = long_ttl, .wait = patience}, stop.get_token());
        });
    });
    require(has_waiters(other, "it", 1), "a waiter is not to be seen");
    for (int i = 0; i < 20; ++i) {
        auto quick = mine.acquire("quick", {.ttl = 1s, .wait = soon});
        require_equal(quick.release(), release_result::released, "release beside a waiting caller");
    }
    stop.request_stop();
    waiting.get();
}

// A renewal must go on although no caller is inside the client: somebody has to drive it.
void renewal_needs_no_caller(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where);
    auto lock = mine.acquire("it", {.ttl = 1s});
    require(!eventually([&] { return lock.state() == lock_state::lost; }, 3s),
            "a lock whose client nobody called for 3 s, with a ttl of 1 s, was lost");
    require_equal(lock.release(), release_result::released, "release");
}

// fork(2) in the holder: the child has the handle, but not the lock; its release and its end change
// nothing.
void a_fork_owns_nothing(fixture& of) {
    const world here = of.fresh();
    blocking::client other(here.where);
    agent holder(here);
    (void)holder.acquire("it", 3s);
    const std::string twin = holder.ask("fork it");
    require(twin.starts_with("child lost forked"), "the fork of a holder saw: " + twin);
    require(!twin.ends_with(" released"), "the fork of a holder released its lock: " + twin);
    const auto why = failure_of([&] { (void)other.acquire("it", {.ttl = 1s, .wait = 4s}); });
    require_equal(why, errc::timed_out, "waiting for the lock of a holder whose fork has ended");
    const std::string state = holder.ask("state it");
    require(state == "state held", "the holder, after its fork ended: " + state);
    require_equal(holder.ask("release it"), std::string("release released"),
                  "the holder's own release");
}

// The holder's client is asynchronous, and the child runs its copy of the event loop: it lets go of
// its copy of the client, or uses it. Neither changes anything for the parent, which works on.
void require_nothing_of_a_looping_fork(fixture& of, const std::string& how,
                                       const std::string& childs_line) {
    const world here = of.fresh();
    blocking::client other(here.where);
    agent holder(here);
    const auto held = holder.ask("loop_fork " + how + " it 3000");
    require(held.starts_with("held "), "the asynchronous holder said: " + held);
    require_equal(holder.answer(), childs_line, "the child that goes to " + how + " its copy");
    require_equal(holder.ask("loop_work"), std::string("worked 50"), "the parent's own work");
    const auto why = failure_of([&] { (void)other.acquire("it", {.ttl = 1s, .wait = 4s}); });
    require_equal(why, errc::timed_out, "waiting for the lock of a holder whose fork runs a loop");
    require_equal(holder.ask("loop_state"), std::string("state held"), "the holder");
    require_equal(holder.ask("loop_release"), std::string("release released"),
                  "the holder's own release");
}

void a_fork_that_closes_its_copy_of_a_client_releases_nothing(fixture& of) {
    require_nothing_of_a_looping_fork(of, "close", "child lost forked");
}

void a_fork_that_uses_its_copy_of_a_client_is_refused(fixture& of) {
    require_nothing_of_a_looping_fork(of, "use", "child lost forked unknown 50");
}

// A child that goes on running the loop renews nothing.
void a_lock_ends_with_its_holder_although_a_fork_lives(fixture& of) {
    const world here = of.fresh();
    blocking::client other(here.where);
    agent holder(here);
    (void)holder.ask("loop_fork keep it 2000");
    require_equal(holder.answer(), std::string("child lost forked"), "the child");
    holder.process().kill9();
    auto freed = other.acquire("it", {.ttl = long_ttl, .wait = 2s + grace});
    require(freed.owns_lock(), "the lock of a killed holder is held while its fork lives");
}

constexpr promise list[] = {
    {"a_dropped_handle_frees_it", everybody, a_dropped_handle_frees_it},
    {"assigning_over_a_handle_frees_it", everybody, assigning_over_a_handle_frees_it},
    {"moving_a_handle_keeps_it", everybody, moving_a_handle_keeps_it},
    {"a_client_that_ends_frees_its_locks", everybody, a_client_that_ends_frees_its_locks},
    {"an_idle_client_ends_at_once", everybody, an_idle_client_ends_at_once},
    {"a_handle_outlives_its_client_as_a_lost_one", everybody,
     a_handle_outlives_its_client_as_a_lost_one},
    {"a_waiting_caller_does_not_stop_the_others", everybody,
     a_waiting_caller_does_not_stop_the_others},
    {"renewal_needs_no_caller", everybody, renewal_needs_no_caller},
    {"a_fork_owns_nothing", with_processes, a_fork_owns_nothing},
    {"a_fork_that_closes_its_copy_of_a_client_releases_nothing", with_processes,
     a_fork_that_closes_its_copy_of_a_client_releases_nothing},
    {"a_fork_that_uses_its_copy_of_a_client_is_refused", with_processes,
     a_fork_that_uses_its_copy_of_a_client_is_refused},
    {"a_lock_ends_with_its_holder_although_a_fork_lives", with_processes,
     a_lock_ends_with_its_holder_although_a_fork_lives},
};

}  // namespace

std::span<const promise> ending_promises() noexcept { return list; }

}  // namespace pawl::conformance
