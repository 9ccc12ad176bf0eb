// Who holds a lock, who waits for it, and who comes in next.
#include "statements.hpp"
#include "store.hpp"

#include "core/clock_token.hpp"
#include "core/permits.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace pawl::sqlite {
namespace {

std::int64_t microseconds(std::chrono::system_clock::time_point when) {
    return std::chrono::duration_cast<std::chrono::microseconds>(when.time_since_epoch()).count();
}

// Whoever may write the file may write any number into it. What is no value of ours is taken for
// the nearest one, and an unknown mode for the one that keeps all others out.
lock_mode mode_in(const statement& row, int column) {
    switch (row.number(column)) {
    case static_cast<int>(lock_mode::shared): return lock_mode::shared;
    case static_cast<int>(lock_mode::permits): return lock_mode::permits;
    default: return lock_mode::exclusive;
    }
}

std::uint32_t count_in(const statement& row, int column) {
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(row.number(column), 0, std::numeric_limits<std::uint32_t>::max()));
}

std::chrono::system_clock::time_point wall_in(const statement& row, int column) {
    using std::chrono::system_clock;
    constexpr auto most =
        std::chrono::duration_cast<std::chrono::microseconds>(system_clock::duration::max())
            .count();
    const std::chrono::microseconds since_1970(std::clamp(row.number(column), -most, most));
    return system_clock::time_point(since_1970);
}

}  // namespace

const store::tenancy* store::tenants::find(std::string_view owner) const noexcept {
    const auto found = std::find_if(live.begin(), live.end(),
                                    [owner](const tenancy& each) { return each.owner == owner; });
    return found == live.end() ? nullptr : &*found;
}

time_point store::tenants::first_end() const noexcept {
    auto first = time_point::max();
    for (const auto& each : live)
        first = std::min(first, each.expires);
    return first;
}

store::tenancy store::tenancy_in(const statement& row, time_point now) const {
    tenancy found;
    found.owner = row.text(0);
    found.client = row.text(1);
    found.who = {row.text(2), row.number(3), row.text(4)};
    found.since = wall_in(row, 5);
    found.expires = instant(row.number(7));
    found.token = fencing_token(static_cast<std::uint64_t>(row.number(8)));
    found.mode = mode_in(row, 9);
    found.permits = count_in(row, 10);
    found.live = is_live(row.text(6), row.number(11), found.expires, now);
    return found;
}

// As PAWL_ROW_ENDED has it. A boot id alone proves no reboot, but a clock that is behind the row
// does: then the row's instants are of another clock.
bool store::is_live(std::string_view boot, std::int64_t set_at, time_point expires,
                    time_point now) const noexcept {
    return expires > now && (boot == boot_ || set_at <= stored(now));
}

// docs/decisions/003: above what the file has, what we know of, and the clock.
std::int64_t store::next_token() {
    const auto least = std::max(core::clock_token(time_.wall()), newest_token_ + 1);
    auto& counter = sql_->next_token.with(least);
    if (!counter.next()) database_->fail(SQLITE_CORRUPT);
    const auto next = counter.number(0);
    counter.run();
    if (next <= newest_token_ || next == std::numeric_limits<std::int64_t>::max())
        database_->fail(SQLITE_CORRUPT);
    newest_token_ = next;
    return next;
}

store::tenants store::find(const std::string& name, time_point now) {
    tenants found;
    auto& row = sql_->holders.with(what_.name_space, name);
    while (row.next()) {
        auto one = tenancy_in(row, now);
        if (one.live)
            found.live.push_back(std::move(one));
        else
            found.ended = true;
    }
    return found;
}

std::optional<store::tenancy> store::find(const std::string& name, const std::string& owner,
                                          time_point now) {
    auto& row = sql_->holder.with(what_.name_space, name, owner);
    if (!row.next()) return std::nullopt;
    auto found = tenancy_in(row, now);
    row.reset();
    return found;
}

// Readers of one phase have one token: a resource then accepts them all, whatever their order. A
// phase of which nobody lives may have come back with an older file, and its token is then too low.
std::optional<fencing_token> store::token_of_phase(const tenants& beside) {
    fencing_token newest;
    for (const auto& each : beside.live)
        newest = std::max(newest, each.token);
    for (const auto& each : beside.live)
        if (each.token == newest && bell_->look(each.client) != doorbell::presence::gone)
            return newest;
    return std::nullopt;
}

void store::put(const std::string& name, tenancy lock, tenants& beside, time_point now) {
    const auto shared = lock.mode == lock_mode::shared ? token_of_phase(beside) : std::nullopt;
    lock.token = shared ? *shared : fencing_token(static_cast<std::uint64_t>(next_token()));
    sql_->put
        .with(what_.name_space, name, lock.owner, lock.client, lock.who.host, lock.who.pid,
              lock.who.command, microseconds(lock.since), boot_, stored(lock.expires),
              static_cast<std::int64_t>(lock.token.value()), static_cast<std::int64_t>(lock.mode),
              std::int64_t{lock.permits}, stored(now))
        .write_row();
    beside.live.push_back(std::move(lock));
}

void store::evict(const std::string& name, tenants& held, time_point now) {
    if (!std::exchange(held.ended, false)) return;
    sql_->drop_ended.with(boot_, stored(now), what_.name_space, name).run();
}

void store::enqueue(const claim& what, time_point now) {
    sql_->enqueue
        .with(what_.name_space, what.name, what.owner, bell_->address(), what_.who.host,
              what_.who.pid, what_.who.command, boot_, std::int64_t{what.ttl.count()},
              stored(now + waiter_lease), static_cast<std::int64_t>(what.mode),
              std::int64_t{what.mode == lock_mode::permits ? what.permits : 0}, stored(now))
        .write_row();
}

std::optional<store::waiter> store::first(const std::string& name, time_point now) {
    auto& row = sql_->first.with(what_.name_space, name);
    if (!row.next()) return std::nullopt;
    waiter found{row.text(0),
                 row.text(1),
                 {row.text(2), row.number(3), row.text(4)},
                 duration(row.number(6)),
                 is_live(row.text(5), row.number(10), instant(row.number(7)), now),
                 mode_in(row, 8),
                 count_in(row, 9)};
    row.reset();
    return found;
}

bool store::is_dead(const waiter& one) {
    return !one.in_time || bell_->look(one.client) == doorbell::presence::gone;
}

std::uint32_t store::permits_of(const std::string& name) {
    auto& row = sql_->permits.with(what_.name_space, name);
    const auto found = row.next() ? count_in(row, 0) : 0;
    row.reset();
    return found;
}

void store::check_permits(claim what, bool again) {
    if (what.mode != lock_mode::permits) return;
    const auto kept = permits_of(what.name);
    if (again && kept != 0) what.of = 0;
    const auto all = core::permits_in_all(what, kept);
    if (kept == 0)
        sql_->set_permits.with(what_.name_space, what.name, std::int64_t{all}).write_row();
}

bool store::fits(const std::string& name, lock_mode mode, std::uint32_t permits,
                 const tenants& held) {
    if (!held.live.empty() && (mode == lock_mode::exclusive || held.live[0].mode != mode))
        return false;
    if (mode != lock_mode::permits) return true;
    const auto out =
        std::accumulate(held.live.begin(), held.live.end(), std::uint64_t{permits},
                        [](std::uint64_t sum, const tenancy& each) { return sum + each.permits; });
    return out <= permits_of(name);
}

bool store::too_many(const std::string& name, const waiter& one) {
    return one.mode == lock_mode::permits && one.permits > permits_of(name);
}

bool store::may_serve(const std::string& name, const tenants& held, time_point now) {
    if (!held.live.empty() && held.live[0].mode == lock_mode::exclusive) return false;
    const auto next = first(name, now);
    return next &&
           (is_dead(*next) || too_many(name, *next) || fits(name, next->mode, next->permits, held));
}

bool store::serve(const std::string& name, tenants& held, time_point now, const claim* asking) {
    while (auto next = first(name, now)) {
        const bool asks = asking != nullptr && next->owner == asking->owner;
        const bool dead = !asks && is_dead(*next);
        const bool never = !dead && too_many(name, *next);
        if (!dead && !never && !fits(name, next->mode, next->permits, held)) return true;
        sql_->leave.with(next->owner).write_row();
        if (dead) continue;
        // Who can never be served looks, and is told then.
        if (!asks) rings_.emplace_back(next->client, ring{ring::kind::granted, next->owner, name});
        if (never) continue;
        const auto ttl = asks ? next->ttl : std::min(next->ttl, claim_window);
        put(name,
            {std::move(next->owner),
             std::move(next->client),
             std::move(next->who),
             time_.wall(),
             after(now, ttl),
             {},
             next->mode,
             next->permits,
             true},
            held, now);
    }
    return false;
}

standing store::waiting(const claim& what, const tenants& held, time_point now) {
    const auto next = first(what.name, now);
    return {
        standing::kind::waiting, held.first_end(), {}, false, next && next->owner == what.owner};
}

}  // namespace pawl::sqlite
