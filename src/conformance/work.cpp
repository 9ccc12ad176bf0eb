#include "lists.hpp"

namespace pawl::conformance {

namespace {

using blocking::held_lock;

void work_has_the_lock_while_it_runs(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    const int answer = with_lock(mine, "it", {.ttl = long_ttl}, [&](held_lock& lock) {
        require(lock.owns_lock(), "the work's handle is not held");
        require(!other.try_acquire("it", {.ttl = long_ttl}).owns_lock(),
                "two had the lock while work ran");
        return 42;
    });
    require_equal(answer, 42, "what the work returned");
    require(is_free(other, "it"), "the lock is not free when with_lock has returned");
}

void work_that_throws_gives_it_back(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    bool caught = false;
    try {
        with_lock(mine, "it", {.ttl = long_ttl}, [](held_lock&) { throw broken("by the work"); });
    } catch (const broken& how) {
        caught = std::string_view(how.what()) == "by the work";
    }
    require(caught, "the work's exception did not come through");
    require(is_free(other, "it"), "the lock is not free when with_lock has thrown");
}

void work_is_skipped_when_busy(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    bool called = false;
    {
        auto lock = other.acquire("it", {.ttl = long_ttl});
        const auto found = try_with_lock(mine, "it", {.ttl = long_ttl}, [&](held_lock&) {
            called = true;
            return 1;
        });
        require(!found && !called, "work ran under a lock that somebody else has");
        require_equal(lock.state(), lock_state::held, "the holder afterwards");
        (void)lock.release();
    }
    require(
        try_with_lock(mine, "it", {.ttl = long_ttl}, [&](held_lock&) { called = true; }) && called,
        "work was skipped although the lock was free");
}

// The handle may be given back inside the work; with_lock then has nothing left to do.
void work_may_give_it_back_itself(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where);
    with_lock(mine, "it", {.ttl = long_ttl}, [&](held_lock& lock) {
        require_equal(lock.release(), release_result::released, "release inside the work");
        require(!lock.owns_lock(), "a released handle says that it owns the lock");
    });
    require(is_free(mine, "it"), "the lock is not free");
}

void polling_gets_it_without_standing_in_line(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    auto lock = other.acquire("it", {.ttl = long_ttl});
    held_lock next;
    aside asking([&] {
        const polling often{.tries = 3000, .interval = 5ms, .growth = 1};
        next = mine.try_acquire("it", {.ttl = long_ttl, .retry = often});
    });
    require_equal(waiters_of(other, "it"), std::uint64_t{0}, "waiters while somebody polls");
    require_equal(lock.release(), release_result::released, "release");
    asking.get();
    require(static_cast<bool>(next), "somebody who polls did not get a free lock");
}

void polling_ends_after_its_tries(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    auto lock = other.acquire("it", {.ttl = long_ttl});
    const polling thrice{.tries = 3, .interval = 4ms, .growth = 2, .longest = 6ms};
    require(!mine.try_acquire("it", {.ttl = long_ttl, .retry = thrice}).owns_lock(),
            "a lock was given to somebody who polls although it is held");
    require_equal(lock.state(), lock_state::held, "the holder afterwards");
}

void cancelled_polling_ends_at_once(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    auto lock = other.acquire("it", {.ttl = long_ttl});
    std::stop_source stop;
    std::optional<errc> why;
    aside asking([&] {
        const polling hourly{.tries = 9, .interval = 1h, .longest = 1h};
        why = failure_of([&] {
            (void)mine.try_acquire("it", {.ttl = long_ttl, .retry = hourly}, stop.get_token());
        });
    });
    stop.request_stop();
    asking.get();
    require_equal(why, errc::cancelled, "cancelled polling");
}

void senseless_polling_is_refused(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    for (const polling& each :
         {polling{.tries = 0}, polling{.tries = 2, .interval = 0ms},
          polling{.tries = 2, .interval = 2s, .longest = 1s}, polling{.tries = 2, .growth = 0.5}})
        require_equal(failure_of([&] { (void)locks.try_acquire("it", {.retry = each}); }),
                      errc::bad_option, "polling out of its range");
}

// Two items on one of four stripes: two buyers who begin elsewhere find them, the third finds none.
void an_empty_stripe_leads_to_the_next(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    const striped stripes("stock", 4);
    std::vector<int> goods(4);
    goods[(stripes.index_of("buyer") + 3) % 4] = 2;
    int seen = 0;
    const auto take = [&](held_lock& lock, std::size_t index) {
        ++seen;
        require(lock.name() == stripes.name_of(index), "the work has another stripe's lock");
        return goods[index] > 0 && goods[index]-- > 0;
    };
    const lock_options options{.ttl = long_ttl, .wait = patience};
    require(with_any_stripe(locks, stripes, "buyer", options, take), "the first buyer got nothing");
    require(with_any_stripe(locks, stripes, "buyer", options, take), "the second got nothing");
    require(!with_any_stripe(locks, stripes, "buyer", options, take), "the third got something");
    require_equal(seen, 12, "stripes that were looked at");
    require(locks.list().empty(), "a stripe is left locked");
}

constexpr promise list[] = {
    {"work_has_the_lock_while_it_runs", everybody, work_has_the_lock_while_it_runs},
    {"work_that_throws_gives_it_back", everybody, work_that_throws_gives_it_back},
    {"work_is_skipped_when_busy", everybody, work_is_skipped_when_busy},
    {"work_may_give_it_back_itself", everybody, work_may_give_it_back_itself},
    {"polling_gets_it_without_standing_in_line", everybody,
     polling_gets_it_without_standing_in_line},
    {"polling_ends_after_its_tries", everybody, polling_ends_after_its_tries},
    {"cancelled_polling_ends_at_once", everybody, cancelled_polling_ends_at_once},
    {"an_empty_stripe_leads_to_the_next", everybody, an_empty_stripe_leads_to_the_next},
    {"senseless_polling_is_refused", everybody, senseless_polling_is_refused},
};

}  // namespace

std::span<const promise> work_promises() noexcept { return list; }

}  // namespace pawl::conformance
