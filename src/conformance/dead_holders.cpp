#include "lists.hpp"

namespace pawl::conformance {

namespace {

constexpr duration ttl = 2s;

// SIGKILL: no destructor, no goodbye. The lease is all that frees the lock.
void a_killed_holder_frees_it_after_its_ttl(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    agent holder(here);
    const fencing_token first = holder.acquire("it", ttl);
    holder.process().kill9();
    auto next = locks.acquire("it", {.ttl = long_ttl, .wait = ttl + grace});
    require(!first || next.token() > first, "the next token is not later than the dead holder's");
}

void a_killed_holder_frees_it_for_who_already_waits(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), eyes(here.where);
    agent holder(here);
    (void)holder.acquire("it", ttl);
    std::atomic<bool> got = false;
    aside waiting([&] {
        auto next = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        got = true;
    });
    require(has_waiters(eyes, "it", 1), "a waiter is not to be seen");
    holder.process().kill9();
    require(eventually([&] { return got.load(); }, ttl + grace), "ttl + 2 s did not free it");
    waiting.get();
}

// SIGSTOP for longer than the ttl: somebody else gets the lock. The first thing that the old holder
// sees when it wakes is that it lost.
void a_stopped_holder_wakes_up_as_a_loser(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    agent holder(here);
    const fencing_token first = holder.acquire("it", ttl);
    require_equal(holder.ask("watch it"), std::string("watching"), "the holder");
    holder.process().stop();
    auto next = locks.acquire("it", {.ttl = long_ttl, .wait = ttl + grace});
    require(!first || next.token() > first,
            "the next token is not later than the stopped holder's");
    holder.process().proceed();
    const std::string woke = holder.answer();
    require(woke.starts_with("woke lost"), "a holder that was stopped for its ttl saw: " + woke);
    const std::string release = holder.ask("release it");
    require(release != "release released",
            "its release said that the lock had been its own until then");
    require_equal(next.state(), lock_state::held, "the new holder, after the old one's release");
}

// Nobody else wanted it meanwhile; it is lost all the same.
void a_stopped_holder_loses_even_a_lock_that_nobody_took(fixture& of) {
    const world here = of.fresh();
    blocking::client eyes(here.where);
    agent holder(here);
    (void)holder.acquire("it", ttl);
    require_equal(holder.ask("watch it"), std::string("watching"), "the holder");
    holder.process().stop();
    require(eventually([&] { return is_free(eyes, "it"); }, ttl + grace),
            "ttl + 2 s did not free it");
    holder.process().proceed();
    const std::string woke = holder.answer();
    require(woke.starts_with("woke lost"), "a holder that was stopped for its ttl saw: " + woke);
    require(eyes.try_acquire("it", {.ttl = long_ttl}).owns_lock(),
            "a holder that woke up took the lock back");
}

// Stopped for less than its ttl, a holder goes on as if nothing had been.
void a_short_stop_is_no_loss(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    agent holder(here);
    (void)holder.acquire("it", 5s);
    require_equal(holder.ask("watch it"), std::string("watching"), "the holder");
    holder.process().stop();
    std::this_thread::sleep_for(700ms);
    holder.process().proceed();
    const std::string woke = holder.answer();
    require(!woke.starts_with("woke lost"),
            "a holder that was stopped for 0.7 s of 5 s saw: " + woke);
    require_equal(holder.ask("release it"), std::string("release released"), "its release");
}

void a_process_that_ends_frees_it_at_once(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    agent holder(here);
    (void)holder.acquire("it", long_ttl);
    holder.process().close_input();
    const auto why =
        failure_of([&] { (void)locks.acquire("it", {.ttl = long_ttl, .wait = soon}); });
    require_equal(why, std::optional<errc>(),
                  "waiting for the lock of a process that ended as it should");
    require(holder.process().wait(10s).has_value(), "a process with a held lock did not end");
}

constexpr promise list[] = {
    {"a_killed_holder_frees_it_after_its_ttl", with_processes,
     a_killed_holder_frees_it_after_its_ttl},
    {"a_killed_holder_frees_it_for_who_already_waits", with_processes,
     a_killed_holder_frees_it_for_who_already_waits},
    {"a_stopped_holder_wakes_up_as_a_loser", with_processes, a_stopped_holder_wakes_up_as_a_loser},
    {"a_stopped_holder_loses_even_a_lock_that_nobody_took", with_processes,
     a_stopped_holder_loses_even_a_lock_that_nobody_took},
    {"a_short_stop_is_no_loss", with_processes, a_short_stop_is_no_loss},
    {"a_process_that_ends_frees_it_at_once", with_processes, a_process_that_ends_frees_it_at_once},
};

}  // namespace

std::span<const promise> dead_holder_promises() noexcept { return list; }

}  // namespace pawl::conformance
