#include "lists.hpp"

#include <pawl/blocking_election.hpp>

namespace pawl::conformance {

namespace {

using blocking::election;

constexpr lock_options options{.ttl = long_ttl, .wait = patience};

void one_leads_until_it_resigns(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    election mine(locks, "it", options), yours(other, "it", options);
    auto term = mine.campaign();
    require_equal(yours.leader().held_by->token, term.token(), "the term that others see");
    blocking::held_lock next;
    aside campaigning([&] { next = yours.campaign(); });
    require(has_waiters(locks, "it", 1), "a candidate does not stand in line");
    require_equal(term.release(), release_result::released, "a resignation");
    campaigning.get();
    require(next.owns_lock(), "the next candidate does not lead");
    require(!term.token() || next.token() > term.token(), "the next term has no later token");
}

void an_election_outlives_the_move_of_its_client(fixture& of) {
    const world here = of.fresh();
    std::optional<blocking::client> first(here.where);
    election mine(*first, "it", options);
    const blocking::client second(std::move(*first));
    first.reset();
    auto term = mine.campaign();
    require_equal(mine.leader().held_by->token, term.token(), "the term that is seen");
}

// 1. It leads. 2. It is put down by force. 3. Observers see the next leader, it hears of its loss.
void a_leader_put_down_is_followed(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where), eyes(here.where);
    election mine(locks, "it", {.ttl = 3s, .wait = patience}), yours(other, "it", options);
    election seen(eyes, "it");
    auto term = mine.campaign();
    blocking::held_lock next;
    aside campaigning([&] { next = yours.campaign(); });
    require(has_waiters(eyes, "it", 1), "a candidate does not stand in line");
    lock_info change;
    aside observing([&] {
        change = seen.wait_change(term.token(), 5ms);
        // Where a release frees the lock before the next one takes it, nobody leads in between.
        if (!change.held_by) change = seen.wait_change({}, 5ms);
    });
    require(eyes.force_release("it"), "nobody led");
    observing.get();
    campaigning.get();
    require(change.held_by && change.held_by->token == next.token(),
            "an observer did not see the next leader");
    require(eventually([&] { return term.lost().stop_requested(); }),
            "the old leader was not told");
}

void observers_see_that_nobody_leads(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), eyes(here.where);
    election mine(locks, "it", options), seen(eyes, "it");
    auto term = mine.campaign();
    require_equal(seen.wait_change({}, 5ms).held_by->token, term.token(), "the first leader");
    lock_info change;
    aside observing([&] { change = seen.wait_change(term.token(), 5ms); });
    (void)term.release();
    observing.get();
    require(!change.held_by, "a leader is seen after the only one resigned");
    std::stop_source stop;
    std::optional<errc> why;
    aside waiting(
        [&] { why = failure_of([&] { (void)seen.wait_change({}, 1h, stop.get_token()); }); });
    stop.request_stop();
    waiting.get();
    require_equal(why, errc::cancelled, "a cancelled observer");
    require_equal(failure_of([&] { (void)seen.wait_change({}, 0ms); }), errc::bad_option,
                  "looking without a pause");
}

constexpr promise list[] = {
    {"one_leads_until_it_resigns", everybody, one_leads_until_it_resigns},
    {"an_election_outlives_the_move_of_its_client", everybody,
     an_election_outlives_the_move_of_its_client},
    {"a_leader_put_down_is_followed", everybody, a_leader_put_down_is_followed},
    {"observers_see_that_nobody_leads", everybody, observers_see_that_nobody_leads},
};

}  // namespace

std::span<const promise> election_promises() noexcept { return list; }

}  // namespace pawl::conformance
