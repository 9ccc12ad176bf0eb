#include "lists.hpp"

#include <algorithm>

namespace pawl::conformance {

namespace {

constexpr lock_options options{.ttl = long_ttl, .wait = patience};
constexpr try_options once{.ttl = long_ttl};

bool all_free(blocking::client& eyes, const std::vector<std::string>& names) {
    return std::all_of(names.begin(), names.end(), [&](const std::string& each) {
        const auto found = eyes.inspect(each);
        return !found.held_by && found.waiters == 0;
    });
}

void several_are_taken_as_one(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    (void)locks.acquire("first of all", options).release();  // a server may have to be taught first
    const auto before = locks.statistics().requests;
    auto all = locks.acquire_all({"c", "a", "b", "a"}, options);
    require_equal(all.size(), std::size_t{3}, "the locks of four names with one twice");
    for (const std::string name : {"a", "b", "c"}) {
        require(!other.try_acquire(name, once).owns_lock(), name + " is not taken");
        require_equal(all.token(name), other.inspect(name).held_by->token, "the token of " + name);
    }
    require(all.owns_lock() && !all.lost().stop_requested(), "all are taken but not held");
    require(!all.token("d"), "a name that is not among them has a token");
    require_equal(all.release(), release_result::released, "release of all");
    require_equal(all.state(), lock_state::released, "the state after it");
    // A release that does not hand over may have to tidy up after itself.
    const std::uint64_t each = of.promised().hands_over ? 2 : 3;
    require(locks.statistics().requests <= before + 3 * each,
            "more than " + std::to_string(each) + " requests for each of three locks");
    require(all_free(other, {"a", "b", "c"}), "something is left behind");
}

void several_are_renewed_as_one(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), eyes(here.where);
    auto all = locks.acquire_all({"a", "b"}, options);
    const time_point asked = boot_clock::now();
    all.renew();
    require(all.safe_until() >= asked + long_ttl - drift(long_ttl), "one of them was not renewed");
    require(eyes.force_release("b"), "force_release of the second said that nobody had it");
    require_equal(failure_of([&] { all.renew(); }), errc::lost, "renew after the loss of one");
    require(is_free(eyes, "b"), "renew made a lock");
}

bool at_once(const promises& promised) { return promised.several; }

void several_free_ones_are_one_request(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    (void)locks.acquire_all({"a", "b"}, options).release();  // a server may have to be taught first
    const auto before = locks.statistics().requests;
    auto all = locks.acquire_all({"a", "b", "c", "d"}, options);
    require_equal(locks.statistics().requests, before + 1, "requests for four free locks");
    (void)all.release();
    auto busy = other.acquire("d", options);
    const auto then = locks.statistics().requests;
    require(!locks.try_acquire_all({"a", "b", "c", "d"}, once).owns_lock(),
            "a busy lock was taken");
    require_equal(locks.statistics().requests, then + 1, "requests to find one of four busy");
    require(all_free(other, {"a", "b", "c"}), "a try left something behind");
}

void one_that_is_busy_leaves_none(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    auto busy = other.acquire("b", options);
    require(!locks.try_acquire_all({"a", "b", "c"}, once).owns_lock(),
            "a busy lock was taken with others");
    require(eventually([&] { return all_free(other, {"a", "c"}); }), "a try left something behind");
    const auto why = failure_of([&] {
        (void)locks.acquire_all({"a", "b", "c"}, {.ttl = long_ttl, .wait = 50ms});
    });
    require_equal(why, errc::timed_out, "a bounded wait for all");
    require(eventually([&] {
                return all_free(other, {"a", "c"});
            }),
            "a bounded wait left something behind");
    require(eventually([&] { return other.inspect("b").waiters == 0; }), "a place in line is left");
    require_equal(busy.release(), release_result::released, "release of the busy one");
}

// Two of three are ours, the third is somebody else's: there the cancellation comes.
void cancelled_before_the_last_leaves_none(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    for (int round = 0; round < 10; ++round) {
        auto busy = other.acquire("c", options);
        std::stop_source stop;
        std::optional<errc> why;
        aside waiting([&] {
            why = failure_of([&] {
                (void)locks.acquire_all({"a", "b", "c"}, options, stop.get_token());
            });
        });
        require(has_waiters(other, "c", 1), "nobody waits for the third");
        require(
            !other.try_acquire("a", once).owns_lock() && !other.try_acquire("b", once).owns_lock(),
            "the first two are not taken");
        // In some rounds the third is given and cancelled at the same time.
        aside stopping([&] { stop.request_stop(); });
        if (round % 2 == 1) (void)busy.release();
        stopping.get();
        waiting.get();
        require(why == errc::cancelled || round % 2 == 1, "a cancelled wait went on");
        if (busy.owns_lock()) (void)busy.release();
        require(eventually([&] {
                    return all_free(other, {"a", "b", "c"});
                }),
                "a cancelled wait left something behind");
    }
}

// One takes a, b, c, the other says c, b, a: sorted, neither can have what the other waits for.
void opposite_orders_do_not_block(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    turnstile gate;
    const auto pass = [&](blocking::client& on, const std::vector<std::string>& names) {
        for (int round = 0; round < 25; ++round) {
            auto all = on.acquire_all(names, options);
            gate.enter();
            std::this_thread::yield();
            gate.leave();
            (void)all.release();
        }
    };
    aside one([&] { pass(locks, {"a", "b", "c"}); });
    aside two([&] { pass(other, {"c", "b", "a"}); });
    one.get();
    two.get();
    require(!gate.ever_shared(), "two held the same three locks");
    require(all_free(locks, {"a", "b", "c"}), "something is left behind");
}

void the_loss_of_one_is_the_loss_of_all(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), operators(here.where);
    auto all = locks.acquire_all({"a", "b", "c"}, {.ttl = 3s, .wait = patience});
    std::atomic<int> told = 0;
    const std::stop_callback on_loss(all.lost(), [&] { ++told; });
    require(operators.force_release("b"), "force_release of one of them found nobody");
    require(eventually([&] { return told == 1; }), "the loss of one did not fire `lost` of all");
    require_equal(all.state(), lock_state::lost, "the state of all");
    const time_point until = all.safe_until();
    require(until <= boot_clock::now(), "safe_until of all is in the future");
    require(all.why_lost() != loss_reason::none, "the loss has no reason");
    require(!operators.try_acquire("a", once).owns_lock(),
            "the others were given up before the work ended");
    require(all.release() != release_result::released, "release of all says `released`");
    require(all_free(operators, {"a", "b", "c"}), "something is left behind");
}

// 1. a is ours, we wait for b. 2. An operator takes a away. 3. b comes: both or none, so none.
// "y" is ours, "z" is somebody else's: there y's loss comes, and z stays where it is.
void a_loss_ends_the_wait_for_the_rest(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    auto busy = other.acquire("z", options);
    std::optional<errc> why;
    aside waiting([&] {
        why = failure_of([&] {
            (void)locks.acquire_all({"x", "y", "z"}, {.ttl = 3s, .wait = patience});
        });
    });
    require(has_waiters(other, "z", 1), "nobody waits for the last");
    require(other.force_release("y"), "force_release of the second said that nobody had it");
    waiting.get_soon("the end of the wait");
    require(why == errc::lost, "the wait did not end with the loss of what was there already");
    require(eventually([&] { return all_free(other, {"x", "y"}); }), "the rest was not given back");
    require(eventually([&] { return other.inspect("z").waiters == 0; }), "a place in line is left");
    require_equal(busy.state(), lock_state::held, "the lock that was waited for");
}

void lost_before_the_last_came_leaves_none(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    auto busy = other.acquire("b", options);
    std::optional<errc> why;
    aside waiting([&] {
        why = failure_of([&] {
            (void)locks.acquire_all({"a", "b"}, {.ttl = 1s, .wait = patience});
        });
    });
    require(has_waiters(other, "b", 1), "nobody waits for the second");
    require(other.force_release("a"), "force_release of the first found nobody");
    require(eventually([&] { return locks.statistics().losses == 1; }), "the loss was not told");
    (void)busy.release();
    waiting.get();
    require_equal(why, errc::lost, "all, of which the first was lost in time");
    require(eventually([&] { return all_free(other, {"a", "b"}); }), "something is left behind");
}

void senseless_sets_are_refused(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    const auto refused = [&](std::vector<std::string> names) {
        return failure_of([&] { (void)locks.acquire_all(std::move(names), options); });
    };
    require_equal(refused({}), errc::bad_option, "no names at all");
    require_equal(refused(std::vector<std::string>(257, "a")), errc::bad_option, "257 names");
    require_equal(refused({"a", ""}), errc::bad_name, "an empty name behind a good one");
    require(is_free(locks, "a"), "a refused set left a lock");
}

constexpr promise list[] = {
    {"several_are_taken_as_one", everybody, several_are_taken_as_one},
    {"several_are_renewed_as_one", everybody, several_are_renewed_as_one},
    {"several_free_ones_are_one_request", at_once, several_free_ones_are_one_request},
    {"one_that_is_busy_leaves_none", everybody, one_that_is_busy_leaves_none},
    {"cancelled_before_the_last_leaves_none", everybody, cancelled_before_the_last_leaves_none},
    {"opposite_orders_do_not_block", everybody, opposite_orders_do_not_block},
    {"the_loss_of_one_is_the_loss_of_all", everybody, the_loss_of_one_is_the_loss_of_all},
    {"a_loss_ends_the_wait_for_the_rest", everybody, a_loss_ends_the_wait_for_the_rest},
    {"lost_before_the_last_came_leaves_none", everybody, lost_before_the_last_came_leaves_none},
    {"senseless_sets_are_refused", everybody, senseless_sets_are_refused},
};

}  // namespace

std::span<const promise> several_promises() noexcept { return list; }

}  // namespace pawl::conformance
