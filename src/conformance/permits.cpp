// Semaphores.
#include "lists.hpp"

namespace pawl::conformance {

namespace {

using blocking::held_lock;

constexpr lock_options some(std::uint32_t permits, std::uint32_t of = 0) {
    return {.ttl = long_ttl,
            .wait = patience,
            .mode = lock_mode::permits,
            .permits = permits,
            .of = of};
}
constexpr try_options try_some(std::uint32_t permits, std::uint32_t of = 0) {
    return {.ttl = long_ttl, .mode = lock_mode::permits, .permits = permits, .of = of};
}

bool with_permits(const promises& promised) { return promised.permits; }
bool with_permits_in_line(const promises& promised) {
    return promised.permits && promised.one_line;
}
bool with_permits_and_processes(const promises& promised) {
    return promised.permits && promised.across_processes;
}
bool with_fenced_permits(const promises& promised) { return promised.permits && promised.fencing; }
bool with_both_modes(const promises& promised) {
    return promised.permits && promised.shared && promised.one_line;
}

// Counts the permits that are out, and remembers the most.
class scales {
public:
    void add(int permits) {
        const int now = out_ += permits;
        for (int most = most_; most < now;)
            if (most_.compare_exchange_weak(most, now)) break;
    }
    void take_off(int permits) { out_ -= permits; }
    [[nodiscard]] int most() const { return most_; }

private:
    std::atomic<int> out_ = 0, most_ = 0;
};

void never_more_permits_than_there_are(fixture& of) {
    const world here = of.fresh();
    scales out;
    std::vector<std::unique_ptr<aside>> crowd;
    for (int i = 0; i < 6; ++i)
        crowd.push_back(std::make_unique<aside>([&, i] {
            blocking::client locks(here.where);
            for (int round = 0; round < 25; ++round) {
                const int permits = 1 + (round + i) % 3;
                auto hold = locks.acquire("it", some(static_cast<std::uint32_t>(permits), 3));
                out.add(permits);
                std::this_thread::yield();
                out.take_off(permits);
                require_equal(hold.release(), release_result::released, "release in the crowd");
            }
        }));
    for (auto& each : crowd)
        each->get();
    require(out.most() <= 3, "more permits were out than there are");
    blocking::client eyes(here.where);
    require(has_waiters(eyes, "it", 0) && is_free(eyes, "it"), "something is left of the crowd");
}

// -1: nobody knows.
std::int64_t free_permits(blocking::client& eyes) {
    const lock_info found = eyes.inspect("it");
    return found.free_permits ? std::int64_t{*found.free_permits} : -1;
}

void permits_are_held_together(fixture& of) {
    const world here = of.fresh();
    blocking::client one(here.where), two(here.where);
    require_equal(free_permits(one), std::int64_t{-1}, "the free permits of what is no semaphore");
    auto first = one.acquire("it", some(2, 4));
    auto second = two.acquire("it", some(1));
    auto third = one.try_acquire("it", try_some(1));
    require(first.owns_lock() && second.owns_lock() && third, "permits that are free are not had");
    require(!two.try_acquire("it", try_some(1)).owns_lock(), "a permit was had that is not there");
    const lock_info found = two.inspect("it");
    require_equal(found.permits, std::uint32_t{4}, "how many permits there are");
    require(found.held_by && found.others.size() == 2, "three holders are not to be seen as three");
    std::uint32_t out = found.held_by->permits;
    for (const holder& each : found.others)
        out += each.permits;
    require_equal(out, std::uint32_t{4}, "the permits that are out, as inspect has them");
    require_equal(free_permits(two), std::int64_t{0}, "the free permits when all are out");
    require(found.held_by->mode == lock_mode::permits, "a holder of permits is not shown as one");
    require_equal(first.release(), release_result::released, "release of two permits");
    require_equal(free_permits(two), std::int64_t{2}, "the free permits of four, with two out");
    const auto listed = two.list("it");
    require(listed.size() == 1 && listed.front().free_permits == 2U, "the list counts others");
    auto two_again = two.try_acquire("it", try_some(2));
    require(static_cast<bool>(two_again), "two permits did not come back together");
    require(!one.try_acquire("it", try_some(1)).owns_lock(), "more came back than were given back");
}

// A has 2 of 3, B waits for 3, C asks for 1, which there is: it stands behind B.
void many_permits_are_not_starved_by_few(fixture& of) {
    const world here = of.fresh();
    blocking::client one(here.where), two(here.where);
    auto first = one.acquire("it", some(2, 3));
    held_lock big, small;
    aside asks_much([&] { big = two.acquire("it", some(3)); });
    require(has_waiters(one, "it", 1), "who asks for three is not to be seen waiting");
    require(!one.try_acquire("it", try_some(1)).owns_lock(),
            "one permit passed who waits for three");
    aside asks_little([&] { small = one.acquire("it", some(1)); });
    require(has_waiters(one, "it", 2), "who asks for one does not wait behind the other");
    require_equal(first.release(), release_result::released, "release of the first two");
    asks_much.get_soon("the turn of who asks for three");
    require_equal(waiters_of(one, "it"), std::uint64_t{1}, "who waits for the three");
    require_equal(big.release(), release_result::released, "release of all three");
    asks_little.get_soon("the turn of who asks for one");
    require(small.owns_lock(), "who asked for one never got it");
}

void a_killed_holders_permits_come_back(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    agent holder(here);
    (void)token_in(holder.ask("take permits it 2000 forever 2 3"));
    auto beside = locks.acquire("it", some(1));
    require(!locks.try_acquire("it", try_some(1)).owns_lock(),
            "a permit was had that is not there");
    holder.process().kill9();
    auto back = locks.acquire(
        "it", {.ttl = long_ttl, .wait = 2s + grace, .mode = lock_mode::permits, .permits = 2});
    require(back.owns_lock() && beside.owns_lock(), "the living holder lost its permit");
}

void more_permits_let_waiters_in_at_once(fixture& of) {
    const world here = of.fresh();
    blocking::client one(here.where), two(here.where);
    auto all = one.acquire("it", some(2, 2));
    held_lock first, second;
    aside waits([&] { first = one.acquire("it", some(1)); });
    aside also_waits([&] { second = two.acquire("it", some(1)); });
    require(has_waiters(one, "it", 2), "the waiters are not to be seen");
    one.resize("it", 4);
    waits.get_soon("the turn of the first waiter");
    also_waits.get_soon("the turn of the second waiter");
    require(all.owns_lock() && first.owns_lock() && second.owns_lock(), "not all have theirs");
    require_equal(one.inspect("it").permits, std::uint32_t{4}, "how many there are after resize");
    require(!two.try_acquire("it", try_some(1)).owns_lock(), "a fifth of four permits was had");
}

void fewer_permits_wait_for_those_that_are_out(fixture& of) {
    const world here = of.fresh();
    blocking::client one(here.where), two(here.where);
    std::vector<held_lock> out;
    for (int i = 0; i < 4; ++i)
        out.push_back(one.acquire("it", some(1, 4)));
    two.resize("it", 2);
    held_lock next;
    aside waits([&] { next = two.acquire("it", some(1)); });
    require(has_waiters(one, "it", 1), "the waiter is not to be seen");
    for (int still = 3; still >= 2; --still) {
        require_equal(out.back().release(), release_result::released, "release");
        out.pop_back();
        require_equal(waiters_of(one, "it"), std::uint64_t{1}, "the waiters while enough are out");
        require(!one.try_acquire("it", try_some(1)).owns_lock(),
                "a permit was had that is no more");
    }
    require_equal(out.back().release(), release_result::released, "release");
    waits.get_soon("the waiter's turn");
    require(next.owns_lock() && !one.try_acquire("it", try_some(1)).owns_lock(),
            "not two of two are out");
}

// B waits for 3 of 3, and then there are only 2: B can never be served, and C behind it must be.
void who_waits_for_more_than_there_are_is_told(fixture& of) {
    const world here = of.fresh();
    blocking::client one(here.where), two(here.where);
    auto first = one.acquire("it", some(1, 3));
    aside asks_much([&] {
        const auto why = failure_of([&] { (void)two.acquire("it", some(3)); });
        require_equal(why, errc::bad_option, "waiting for more permits than there are by now");
    });
    require(has_waiters(one, "it", 1), "who asks for three is not to be seen waiting");
    held_lock small;
    aside asks_little([&] { small = one.acquire("it", some(1)); });
    require(has_waiters(one, "it", 2), "who asks for one does not wait behind the other");
    one.resize("it", 2);
    asks_much.get_soon("the refusal");
    asks_little.get_soon("the turn of who asks for one");
    require(first.owns_lock() && small.owns_lock(), "who asked for one never got it");
    require(has_waiters(one, "it", 0), "a waiter is left");
}

void wrong_permits_leave_nothing_behind(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    const auto refused = [&](const lock_options& options, const std::string& what) {
        const auto once = [&] { (void)locks.acquire("it", options); };
        require_equal(failure_of(once), errc::bad_option, what);
    };
    refused(some(1), "a semaphore that nobody has described");
    refused(some(0, 5), "no permits at all");
    refused(some(6, 5), "six permits of five");
    require_equal(failure_of([&] { locks.resize("it", 0); }), errc::bad_option, "resize to none");
    const lock_info before = locks.inspect("it");
    require(!before.held_by && before.permits == 0 && before.waiters == 0,
            "an error left something behind");
    auto hold = locks.acquire("it", some(2, 5));
    refused(some(1, 8), "eight permits where there are five");
    refused(some(6), "six permits where there are five");
    const lock_info after = locks.inspect("it");
    require(after.permits == 5 && after.others.empty() && after.waiters == 0,
            "an error left something behind");
    auto rest = locks.try_acquire("it", try_some(3, 5));
    require(hold.owns_lock() && rest, "the permits that are left cannot be had");
}

void the_number_of_permits_outlives_the_holders(fixture& of) {
    const world here = of.fresh();
    {
        blocking::client locks(here.where);
        (void)locks.acquire("it", some(1, 2)).release();
        locks.resize("other", 3);
    }
    blocking::client locks(here.where);
    require_equal(locks.inspect("it").permits, std::uint32_t{2}, "how many there are");
    require_equal(free_permits(locks), std::int64_t{2}, "the free permits when none is out");
    auto all = locks.acquire("it", some(2));
    require(!locks.try_acquire("it", try_some(1)).owns_lock(), "a third of two permits was had");
    require_equal(failure_of([&] { (void)locks.try_acquire("it", try_some(1, 3)); }),
                  errc::bad_option, "another number than the one that is kept");
    auto three = locks.acquire("other", some(3));
    require(all.owns_lock() && three.owns_lock(), "resize did not say how many there are");
}

void each_hold_of_permits_has_a_later_token(fixture& of) {
    const world here = of.fresh();
    blocking::client one(here.where), two(here.where);
    fencing_token newest;
    std::vector<held_lock> out;
    for (int i = 0; i < 6; ++i) {
        out.push_back((i % 2 == 0 ? one : two).acquire("it", some(1, 3)));
        require(out.back().token() > newest, "a hold's token is not later than the one before");
        newest = out.back().token();
        if (out.size() == 3) out.erase(out.begin());
    }
    out.clear();
    if (!of.promised().one_line) return;
    auto alone = one.acquire("it", {.ttl = long_ttl, .wait = patience});
    require(alone.token() > newest, "an exclusive hold's token is not later than the permits'");
}

void the_modes_keep_each_other_out(fixture& of) {
    const world here = of.fresh();
    blocking::client one(here.where), two(here.where);
    constexpr try_options reading{.ttl = long_ttl, .mode = lock_mode::shared};
    constexpr try_options writing{.ttl = long_ttl};
    {
        auto hold = one.acquire("it", some(1, 2));
        require(!two.try_acquire("it", reading).owns_lock(),
                "a reader came in beside a holder of permits");
        require(!two.try_acquire("it", writing).owns_lock(),
                "a writer came in beside a holder of permits");
    }
    {
        auto reads = two.acquire("it", {.ttl = long_ttl, .wait = soon, .mode = lock_mode::shared});
        require(!one.try_acquire("it", try_some(1)).owns_lock(),
                "a permit was had beside a reader");
        require_equal(free_permits(one), std::int64_t{0}, "the free permits beside a reader");
    }
    auto writes = one.acquire("it", {.ttl = long_ttl, .wait = soon});
    require(!one.try_acquire("it", try_some(1)).owns_lock(), "a permit was had beside a writer");
}

constexpr promise list[] = {
    {"never_more_permits_than_there_are", with_permits, never_more_permits_than_there_are},
    {"permits_are_held_together", with_permits, permits_are_held_together},
    {"many_permits_are_not_starved_by_few", with_permits_in_line,
     many_permits_are_not_starved_by_few},
    {"a_killed_holders_permits_come_back", with_permits_and_processes,
     a_killed_holders_permits_come_back},
    {"more_permits_let_waiters_in_at_once", with_permits, more_permits_let_waiters_in_at_once},
    {"fewer_permits_wait_for_those_that_are_out", with_permits,
     fewer_permits_wait_for_those_that_are_out},
    {"who_waits_for_more_than_there_are_is_told", with_permits_in_line,
     who_waits_for_more_than_there_are_is_told},
    {"wrong_permits_leave_nothing_behind", with_permits, wrong_permits_leave_nothing_behind},
    {"the_number_of_permits_outlives_the_holders", with_permits,
     the_number_of_permits_outlives_the_holders},
    {"each_hold_of_permits_has_a_later_token", with_fenced_permits,
     each_hold_of_permits_has_a_later_token},
    {"the_modes_keep_each_other_out", with_both_modes, the_modes_keep_each_other_out},
};

}  // namespace

std::span<const promise> permits_promises() noexcept { return list; }

}  // namespace pawl::conformance
