#include "lists.hpp"

namespace pawl::conformance {

namespace {

using blocking::held_lock;
using blocking::lock_owner;

constexpr lock_options options{.ttl = long_ttl, .wait = patience};
constexpr try_options once{.ttl = long_ttl};

void an_owner_enters_again_without_asking(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    lock_owner me(locks);
    auto outer = me.acquire("it", options);
    const auto before = locks.statistics().requests;
    auto inner = me.acquire("it", options);
    auto third = me.try_acquire("it", once);
    require(inner.owns_lock() && third.owns_lock(), "an owner was not let in again");
    require_equal(locks.statistics().requests, before, "the requests after entering again");
    require_equal(inner.token(), outer.token(), "the token of the inner handle");
    require_equal(third.token(), outer.token(), "the token of the third handle");
}

void the_last_handle_gives_it_back(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    lock_owner me(locks);
    auto outer = me.acquire("it", options);
    { const auto inner = me.acquire("it", options); }
    auto second = me.acquire("it", options);
    require_equal(outer.release(), release_result::still_held, "release of the first of two");
    require_equal(outer.release(), release_result::still_held, "the same once more");
    require(!other.try_acquire("it", once).owns_lock(),
            "the lock was free while a handle was left");
    require_equal(second.release(), release_result::released, "release of the last handle");
    require(is_free(other, "it"), "the lock is not free after the last handle");
    auto fresh = me.acquire("it", options);
    require(!fresh.token() || fresh.token() > second.token(), "a new hold has no later token");
}

void owners_keep_each_other_out(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    lock_owner me(locks), you(locks);
    auto mine = me.acquire("it", options);
    require(!you.try_acquire("it", once).owns_lock(), "two owners of one client held a lock");
    require(!locks.try_acquire("it", once).owns_lock(), "the client took its owner's lock");
    held_lock yours;
    aside waiting([&] { yours = you.acquire("it", options); });
    require(has_waiters(locks, "it", 1), "the other owner does not wait");
    require(me.try_acquire("it", once).owns_lock(), "an owner was kept out by who waits for it");
    (void)mine.release();
    waiting.get();
    require(yours.owns_lock(), "the other owner did not get it");
}

// Copies in several threads are one owner: whoever comes while another of them is asking waits for
// that one, and shares what it gets.
void an_owner_may_be_many_threads(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    lock_owner me(locks);
    auto busy = other.acquire("it", options);
    std::vector<held_lock> handles(4);
    std::vector<std::unique_ptr<aside>> crowd;
    for (auto& each : handles)
        crowd.push_back(std::make_unique<aside>(
            [owner = me, &each]() mutable { each = owner.acquire("it", options); }));
    require(has_waiters(other, "it", 1), "one of them at most is to wait at the service");
    (void)busy.release();
    for (auto& each : crowd)
        each->get();
    for (const auto& each : handles)
        require_equal(each.token(), handles.front().token(), "the token of one of them");
    require_equal(locks.statistics().grants, std::uint64_t{1}, "grants for one owner");
    for (std::size_t i = 0; i < 3; ++i)
        handles[i] = {};
    require(!other.try_acquire("it", once).owns_lock(),
            "the lock was free while a handle was left");
    handles[3] = {};
    require(eventually([&] { return is_free(other, "it"); }), "the last handle did not free it");
}

// 1. The owner holds it. 2. An operator takes it away. 3. The owner enters again, before or after
// it has heard: it gets a handle that is lost as well, or errc::lost, and never a fresh hold beside
// the lost one. 4. It lets go of all and asks anew: a later token.
void entering_again_meets_the_loss(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), operators(here.where);
    lock_owner me(locks);
    for (int round = 0; round < 10; ++round) {
        auto outer = me.acquire("it", {.ttl = 3s, .wait = patience});
        const fencing_token first = outer.token();
        aside taking([&] { (void)operators.force_release("it"); });
        std::vector<held_lock> inner;
        std::optional<errc> why;
        while (!why && inner.size() < 100'000)
            why = failure_of([&] { inner.push_back(me.acquire("it", options)); });
        taking.get();
        require_equal(why, errc::lost, "entering a lock again that is lost");
        require(outer.lost().stop_requested(), "the outer handle was not told");
        for (const auto& each : inner) {
            require_equal(each.state(), lock_state::lost, "the state of an inner handle");
            require_equal(each.token(), first, "the token of an inner handle");
        }
        require(outer.release() != release_result::released, "a lost lock was `released`");
        inner.clear();
        auto next = me.acquire("it", options);
        require(!first || next.token() > first, "the hold after the loss has no later token");
    }
}

// The first of the owner is cancelled in line: the second takes its place.
void a_cancelled_twin_leaves_the_turn(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    lock_owner me(locks);
    auto busy = other.acquire("it", options);
    std::stop_source stop;
    std::optional<errc> why;
    held_lock mine;
    aside first(
        [&] { why = failure_of([&] { (void)me.acquire("it", options, stop.get_token()); }); });
    require(has_waiters(other, "it", 1), "the first does not wait");
    require(!me.try_acquire("it", once).owns_lock(),
            "a try was let in although nobody of its owner holds it");
    aside second([&] { mine = me.acquire("it", options); });
    stop.request_stop();
    first.get();
    require_equal(why, errc::cancelled, "the first, cancelled");
    (void)busy.release();
    second.get();
    require(mine.owns_lock(), "the second did not get it");
    mine = {};
    require(eventually([&] { return is_free(other, "it"); }), "something is left behind");
}

// It holds b, and takes a, b and c: b is entered again, and stays when the three are given back.
void an_owner_takes_several_with_what_it_has(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    lock_owner me(locks);
    auto mine = me.acquire("b", options);
    auto all = me.acquire_all({"c", "b", "a"}, options);
    require_equal(all.size(), std::size_t{3}, "the locks of three names");
    require_equal(all.token("b"), mine.token(), "the token of the one that was held");
    require(!other.try_acquire_all({"a", "d"}, once).owns_lock(), "another took one of them");
    auto again = me.try_acquire_all({"a", "c"}, once);
    require(again.owns_lock(), "an owner was kept out of its own locks");
    require_equal(all.release(), release_result::still_held, "release of the three");
    require(!other.try_acquire("a", once).owns_lock(), "a was free while a handle was left");
    require_equal(again.release(), release_result::released, "release of the last handles");
    require(is_free(other, "a") && is_free(other, "c"), "a or c is left behind");
    require(mine.owns_lock() && !other.try_acquire("b", once).owns_lock(),
            "b was given back with the others");
    require_equal(mine.release(), release_result::released, "release of b");
}

// c is somebody else's: a is given back, b stays with its owner.
void several_that_fail_leave_an_owner_what_it_had(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    lock_owner me(locks);
    auto mine = me.acquire("b", options);
    auto busy = other.acquire("c", options);
    require(!me.try_acquire_all({"a", "b", "c"}, once).owns_lock(),
            "a busy lock was taken with others");
    const auto why = failure_of([&] {
        (void)me.acquire_all({"a", "b", "c"}, {.ttl = long_ttl, .wait = 50ms});
    });
    require_equal(why, errc::timed_out, "a bounded wait for all");
    require(eventually([&] { return is_free(other, "a"); }), "a is left behind");
    require(mine.owns_lock() && !other.try_acquire("b", once).owns_lock(),
            "b was given back with a");
    require_equal(mine.release(), release_result::released, "release of b");
    require(eventually([&] { return is_free(other, "b"); }), "a handle of b is left behind");
}

// b is lost while its owner holds it: a fresh one beside it would be no better.
void several_meet_the_loss_of_what_an_owner_has(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), operators(here.where);
    lock_owner me(locks);
    auto mine = me.acquire("b", {.ttl = 3s, .wait = patience});
    require(operators.force_release("b"), "force_release found nobody");
    require(eventually([&] { return mine.lost().stop_requested(); }), "the loss was not told");
    const auto why = failure_of([&] { (void)me.acquire_all({"a", "b"}, options); });
    require_equal(why, errc::lost, "taking several with one that is lost");
    require(eventually([&] { return is_free(operators, "a"); }), "a is left behind");
    mine = {};
    require(me.acquire_all({"a", "b"}, options).owns_lock(), "nothing is to be had afterwards");
}

// Two of three, then all three: the first ones would have to be given back before.
void an_owner_gets_no_fewer_permits_than_it_asks_for(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    lock_owner me(locks);
    const auto some = [](std::uint32_t permits) {
        return lock_options{.ttl = long_ttl,
                            .wait = patience,
                            .mode = lock_mode::permits,
                            .permits = permits,
                            .of = 3};
    };
    auto two = me.acquire("it", some(2));
    require(me.acquire("it", some(1)).owns_lock(), "an owner of two was not given one of them");
    const auto more = failure_of([&] { (void)me.acquire("it", some(3)); });
    require_equal(more, errc::bad_option, "asking for three with two");
    const auto alone = failure_of([&] { (void)me.acquire("it", options); });
    require_equal(alone, errc::bad_option, "asking for the whole with two");
    require_equal(two.release(), release_result::released, "release of the two");
    require(me.acquire("it", some(3)).owns_lock(), "three are not to be had afterwards");
}

// One handle stands in line, another one of the same owner asks again and again.
void an_owner_that_asks_again_finds_what_its_twin_got(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    lock_owner me(locks);
    auto busy = other.acquire("it", options);
    held_lock stood, asked;
    aside waiting([&] { stood = me.acquire("it", options); });
    require(has_waiters(other, "it", 1), "nobody stands in line");
    std::atomic<bool> begun = false;
    aside asking([&] {
        const try_options often{.ttl = long_ttl,
                                .retry = {.tries = 1000, .interval = 10ms, .growth = 1}};
        begun = true;
        asked = me.try_acquire("it", often);
    });
    require(eventually([&] { return begun.load(); }), "nobody asks");
    require_equal(busy.release(), release_result::released, "release of the busy one");
    waiting.get_soon("the owner's turn");
    asking.get_soon("the answer to who asks again");
    require(static_cast<bool>(asked), "who asks again was given nothing");
    require_equal(asked.token(), stood.token(), "the token of the twin");
}

bool has_permits(const promises& promised) { return promised.permits; }

constexpr promise list[] = {
    {"an_owner_enters_again_without_asking", everybody, an_owner_enters_again_without_asking},
    {"the_last_handle_gives_it_back", everybody, the_last_handle_gives_it_back},
    {"owners_keep_each_other_out", everybody, owners_keep_each_other_out},
    {"an_owner_may_be_many_threads", everybody, an_owner_may_be_many_threads},
    {"entering_again_meets_the_loss", with_pushed_loss, entering_again_meets_the_loss},
    {"a_cancelled_twin_leaves_the_turn", everybody, a_cancelled_twin_leaves_the_turn},
    {"an_owner_takes_several_with_what_it_has", everybody, an_owner_takes_several_with_what_it_has},
    {"several_that_fail_leave_an_owner_what_it_had", everybody,
     several_that_fail_leave_an_owner_what_it_had},
    {"an_owner_gets_no_fewer_permits_than_it_asks_for", has_permits,
     an_owner_gets_no_fewer_permits_than_it_asks_for},
    {"an_owner_that_asks_again_finds_what_its_twin_got", everybody,
     an_owner_that_asks_again_finds_what_its_twin_got},
    {"several_meet_the_loss_of_what_an_owner_has", everybody,
     several_meet_the_loss_of_what_an_owner_has},
};

}  // namespace

std::span<const promise> owner_promises() noexcept { return list; }

}  // namespace pawl::conformance
