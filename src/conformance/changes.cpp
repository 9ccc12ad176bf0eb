// What becomes of a hold: renewed now, downgraded, taken by force; and what is not there at all.
#include "lists.hpp"

namespace pawl::conformance {

namespace {

using blocking::held_lock;

constexpr lock_options writing{.ttl = long_ttl, .wait = patience};
constexpr lock_options reading{.ttl = long_ttl, .wait = patience, .mode = lock_mode::shared};
constexpr try_options try_reading{.ttl = long_ttl, .mode = lock_mode::shared};
constexpr try_options try_writing{.ttl = long_ttl};

bool with_downgrades(const promises& promised) { return promised.downgrades && promised.shared; }
bool with_downgrades_in_line(const promises& promised) {
    return with_downgrades(promised) && promised.one_line;
}
bool with_sharing(const promises& promised) { return promised.shared; }
bool with_permits_in_line(const promises& promised) {
    return promised.permits && promised.one_line;
}
bool without_downgrades(const promises& promised) { return !promised.downgrades; }
bool without_sharing(const promises& promised) { return !promised.shared; }
bool without_permits(const promises& promised) { return !promised.permits; }
bool without_strict_fairness(const promises& promised) { return !promised.strictly_fair; }

void renew_moves_the_end(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    auto lock = locks.acquire("it", writing);
    for (int i = 0; i < 3; ++i) {
        const time_point before = lock.safe_until();
        const time_point asked = boot_clock::now();
        lock.renew();
        require(lock.safe_until() > before, "renew did not move safe_until");
        require(lock.safe_until() >= asked + long_ttl - drift(long_ttl),
                "safe_until is not a ttl from the renewal");
    }
    require_equal(lock.state(), lock_state::held, "the state after a renewal");
    require_equal(lock.release(), release_result::released, "release");
}

// Not even with a loss that nobody has told it of yet.
void renew_after_a_loss_throws(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), eyes(here.where);
    auto lock = locks.acquire("it", writing);
    require(eyes.force_release("it"), "force_release of a held lock said that nobody had it");
    require_equal(failure_of([&] { lock.renew(); }), errc::lost, "renew after a forced release");
    require_equal(lock.state(), lock_state::lost, "the state after that");
    require_equal(failure_of([&] { lock.renew(); }), errc::lost, "renew of a lost lock");
    require(is_free(eyes, "it"), "renew made a lock");
}

// The line is R1, W, R2: R1 comes in, W keeps out, and R2 stands behind W.
void a_downgrade_lets_readers_in(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    auto lock = mine.acquire("it", writing);
    const fencing_token token = lock.token();
    held_lock first, writer, last;
    aside reads([&] { first = other.acquire("it", reading); });
    require(has_waiters(mine, "it", 1), "the reader is not to be seen waiting");
    aside writes([&] { writer = other.acquire("it", writing); });
    require(has_waiters(mine, "it", 2), "the writer is not to be seen waiting");
    aside reads_late([&] { last = other.acquire("it", reading); });
    require(has_waiters(mine, "it", 3), "the late reader is not to be seen waiting");
    lock.downgrade();
    reads.get_soon("the reader's turn");
    require_equal(lock.token(), token, "the token after a downgrade");
    require_equal(first.token(), token, "the token of a reader beside it");
    require_equal(lock.state(), lock_state::held, "the state after a downgrade");
    const lock_info found = other.inspect("it");
    require(found.held_by && found.others.size() == 1 && found.waiters == 2,
            "not two readers, and two who wait");
    require(found.held_by->mode == lock_mode::shared && found.others[0].mode == lock_mode::shared,
            "a hold that was downgraded is not shown as shared");
    lock.downgrade();
    require_equal(lock.release(), release_result::released, "release after a downgrade");
    require_equal(first.release(), release_result::released, "release of the reader beside it");
    writes.get_soon("the writer's turn");
    require(writer.token() > token || !token, "the next writer's token is not later");
    require_equal(writer.release(), release_result::released, "the writer's release");
    reads_late.get_soon("the late reader's turn");
}

void a_downgraded_hold_is_renewed_and_lost_as_any(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    auto lock = mine.acquire("it", {.ttl = 2s, .wait = soon});
    const time_point before = lock.safe_until();
    lock.downgrade();
    require(lock.safe_until() > before, "a downgrade did not renew");
    const auto why = failure_of([&] { (void)other.acquire("it", {.ttl = 2s, .wait = 3s}); });
    require_equal(why, errc::timed_out, "waiting for a downgraded hold for longer than its ttl");
    auto beside = other.try_acquire("it", try_reading);
    require(static_cast<bool>(beside), "no reader comes in beside a downgraded hold");
    lock.renew();
    require(other.force_release("it"), "force_release of a shared lock said that nobody had it");
    require(eventually([&] { return lock.lost().stop_requested(); }),
            "a downgraded hold was not told of its loss");
    require_equal(failure_of([&] { lock.renew(); }), errc::lost, "renew of a lost reader");
}

void a_downgrade_after_a_loss_throws(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    auto lock = mine.acquire("it", writing);
    require(other.force_release("it"), "force_release of a held lock said that nobody had it");
    auto next = other.acquire("it", writing);
    require_equal(failure_of([&] { lock.downgrade(); }), errc::lost, "downgrade after a loss");
    require_equal(next.state(), lock_state::held, "the next holder");
    require(!mine.try_acquire("it", try_reading).owns_lock(),
            "a reader came in beside the next holder");
}

// Also of one that was shared before, where there is nothing to ask the service.
void a_downgrade_of_a_reader_that_is_over_throws(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    auto lock = locks.acquire("it", reading);
    lock.downgrade();
    require_equal(lock.state(), lock_state::held, "a reader after a downgrade");
    require_equal(lock.release(), release_result::released, "release after a downgrade");
    require_equal(failure_of([&] { lock.downgrade(); }), errc::lost, "downgrade after the release");
}

// All of them, at once, and the line is served. A loss that is not pushed comes with the next
// renewal.
void force_takes_it_from_all(fixture& of, lock_options options) {
    if (!of.promised().loss_is_pushed) options.ttl = 3s;
    const world here = of.fresh();
    blocking::client one(here.where), two(here.where), eyes(here.where);
    std::vector<held_lock> out;
    for (int i = 0; i < 3; ++i)
        out.push_back((i % 2 == 0 ? one : two).acquire("it", options));
    held_lock next;
    aside waits([&] { next = eyes.acquire("it", writing); });
    require(has_waiters(one, "it", 1), "the waiter is not to be seen");
    require(eyes.force_release("it"), "force_release of a held lock said that nobody had it");
    waits.get_soon("the waiter's turn");
    for (auto& each : out) {
        require(eventually([&] { return each.lost().stop_requested(); }),
                "a holder was not told of the forced release");
        require(each.release() != release_result::released, "a holder's lock was there after it");
    }
    require_equal(next.state(), lock_state::held, "the next holder");
    require_equal(eyes.inspect("it").others.size(), std::size_t{0}, "the others beside it");
}

void force_takes_it_from_all_readers(fixture& of) { force_takes_it_from_all(of, reading); }

void force_takes_it_from_all_who_have_permits(fixture& of) {
    force_takes_it_from_all(
        of, {.ttl = long_ttl, .wait = patience, .mode = lock_mode::permits, .permits = 2, .of = 6});
}

void a_service_without(fixture& of, const lock_options& options, const std::string& what) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    require_equal(failure_of([&] { (void)locks.acquire("it", options); }), errc::unsupported, what);
    require(is_free(locks, "it"), "what is not there left something behind");
}

void sharing_is_unsupported(fixture& of) { a_service_without(of, reading, "a shared lock"); }

void permits_are_unsupported(fixture& of) {
    a_service_without(of, {.mode = lock_mode::permits, .of = 3}, "permits");
    blocking::client locks(of.fresh().where);
    require_equal(failure_of([&] { locks.resize("it", 3); }), errc::unsupported, "resize");
}

void strict_fairness_is_unsupported(fixture& of) {
    a_service_without(of, {.fair = true}, "a strictly fair lock");
}

void downgrades_are_unsupported(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    auto lock = locks.acquire("it", writing);
    require_equal(failure_of([&] { lock.downgrade(); }), errc::unsupported, "a downgrade");
    require_equal(lock.state(), lock_state::held, "the state after that");
    require(!other.try_acquire("it", try_writing).owns_lock(), "the lock is free after that");
}

constexpr promise list[] = {
    {"renew_moves_the_end", everybody, renew_moves_the_end},
    {"renew_after_a_loss_throws", everybody, renew_after_a_loss_throws},
    {"a_downgrade_lets_readers_in", with_downgrades_in_line, a_downgrade_lets_readers_in},
    {"a_downgraded_hold_is_renewed_and_lost_as_any", with_downgrades,
     a_downgraded_hold_is_renewed_and_lost_as_any},
    {"a_downgrade_after_a_loss_throws", with_downgrades, a_downgrade_after_a_loss_throws},
    {"a_downgrade_of_a_reader_that_is_over_throws", with_downgrades,
     a_downgrade_of_a_reader_that_is_over_throws},
    {"force_takes_it_from_all_readers", with_sharing, force_takes_it_from_all_readers},
    {"force_takes_it_from_all_who_have_permits", with_permits_in_line,
     force_takes_it_from_all_who_have_permits},
    {"sharing_is_unsupported", without_sharing, sharing_is_unsupported},
    {"permits_are_unsupported", without_permits, permits_are_unsupported},
    {"strict_fairness_is_unsupported", without_strict_fairness, strict_fairness_is_unsupported},
    {"downgrades_are_unsupported", without_downgrades, downgrades_are_unsupported},
};

}  // namespace

std::span<const promise> change_promises() noexcept { return list; }

}  // namespace pawl::conformance
