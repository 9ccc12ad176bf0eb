#include "world.hpp"

#include "core/clock_token.hpp"
#include "core/permits.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::memory {
namespace {

// The alarm belongs to the waiter's strand, and we may be on another.
void ring(const std::shared_ptr<world::waiter>& one) {
    asio::post(one->by->strand, [weak = std::weak_ptr(one)] {
        if (const auto alive = weak.lock()) alive->alarm.ring();
    });
}

}  // namespace

std::optional<grant> world::take(const claim& what, const std::shared_ptr<session>& by) {
    const auto now = by->time->now();
    const std::lock_guard lock(mutex_);
    check_permits(what);
    const auto at = slots_.try_emplace(what.name).first;
    settle(at->second, now);
    // Nobody passes those who wait.
    if (!at->second.line.empty() || !fits(at->second, what)) return std::nullopt;
    return give(at->second, what, by, now);
}

world::outlook world::join(const std::shared_ptr<waiter>& one) {
    const auto now = one->by->time->now();
    const std::lock_guard lock(mutex_);
    check_permits(one->what);
    auto& at = slots_.try_emplace(one->what.name).first->second;
    at.line.push_back(one);
    settle(at, now);
    serve(at, now);
    return outlook_of(at, one);
}

world::outlook world::look(const std::shared_ptr<waiter>& one) {
    const auto now = one->by->time->now();
    const std::lock_guard lock(mutex_);
    if (one->given) return {one->given, {}};
    if (one->too_many) {
        auto anew = one->what;
        anew.of = 0;  // it was right when it was said
        check_permits(anew);
    }
    auto& at = slots_.try_emplace(one->what.name).first->second;
    if (std::exchange(one->too_many, false)) at.line.push_back(one);  // there are more again
    settle(at, now);
    serve(at, now);
    return outlook_of(at, one);
}

void world::leave(const std::shared_ptr<waiter>& one, bool wanted) noexcept {
    const auto now = one->by->time->now();
    const std::lock_guard lock(mutex_);
    const auto found = slots_.find(one->what.name);
    if (found == slots_.end()) return;
    auto& at = found->second;
    const auto here = std::find(at.line.begin(), at.line.end(), one);
    try {
        if (here != at.line.end()) {
            const bool was_first = here == at.line.begin();
            at.line.erase(here);
            // Those behind may fit now; the first in line keeps the timer for the next lease.
            if (was_first) serve(at, now);
            if (was_first && !at.line.empty()) ring(at.line.front());
        } else if (const auto* mine = find(at, one->what.owner); !wanted && mine != nullptr) {
            drop(at, *mine, now);
        }
    } catch (const std::bad_alloc&) {}  // those behind are served with the next request
    tidy(found);
}

void world::renew(std::span<renewal> batch, time_point now) {
    const std::lock_guard lock(mutex_);
    for (auto& line : batch) {
        const auto at = slots_.find(line.what->claim.name);
        line.result = renewal::outcome::refused;
        if (at == slots_.end()) continue;
        settle(at->second, now);
        if (auto* held = find(at->second, line.what->claim.owner); held != nullptr) {
            held->expires = now + line.ttl;
            line.deadline = held->expires - drift(line.ttl);
            line.result = renewal::outcome::extended;
        }
        tidy(at);
    }
}

release_result world::release(const claim& what, time_point now) {
    const std::lock_guard lock(mutex_);
    const auto at = slots_.find(what.name);
    if (at == slots_.end()) return release_result::expired;
    settle(at->second, now);
    const auto& held = at->second.held;
    auto result = release_result::expired;
    if (const auto* mine = find(at->second, what.owner); mine != nullptr) {
        drop(at->second, *mine, now);
        result = release_result::released;
    } else if (!held.empty() && (what.mode == lock_mode::exclusive || held[0].mode != what.mode)) {
        result = release_result::taken_over;
    }
    tidy(at);
    return result;
}

std::optional<grant> world::downgrade(const claim& what, time_point now) {
    const std::lock_guard lock(mutex_);
    const auto at = slots_.find(what.name);
    if (at == slots_.end()) return std::nullopt;
    settle(at->second, now);
    std::optional<grant> result;
    if (auto* mine = find(at->second, what.owner); mine != nullptr) {
        mine->mode = lock_mode::shared;
        mine->expires = now + what.ttl;
        result = grant{mine->expires - drift(what.ttl),
                       what.fenced ? mine->token : fencing_token{},
                       {},
                       false};
        serve(at->second, now);
    }
    tidy(at);
    return result;
}

void world::resize(std::string_view name, std::uint32_t permits, time_point now) {
    const std::lock_guard lock(mutex_);
    permits_.insert_or_assign(std::string(name), permits);
    const auto at = slots_.find(name);
    if (at == slots_.end()) return;
    settle(at->second, now);
    serve(at->second, now);
    tidy(at);
}

bool world::force_release(std::string_view name, time_point now) {
    const std::lock_guard lock(mutex_);
    const auto at = slots_.find(name);
    if (at == slots_.end()) return false;
    settle(at->second, now);
    const auto victims = std::exchange(at->second.held, {});
    for (const auto& each : victims)
        tell_forced(each);
    serve(at->second, now);
    tidy(at);
    return !victims.empty();
}

void world::tell_forced(const tenure& victim) {
    const auto told = victim.by.lock();
    if (!told) return;
    asio::post(told->strand, [weak = victim.by, owner = victim.owner] {
        if (const auto alive = weak.lock()) {
            ++alive->count->pushes;
            alive->listener->lost(owner, loss_reason::forced);
        }
    });
}

lock_info world::inspect(std::string_view name, time_point now) {
    const std::lock_guard lock(mutex_);
    const auto at = slots_.find(name);
    if (at == slots_.end()) return describe(name, {}, now);
    settle(at->second, now);
    const auto info = describe(name, at->second, now);
    tidy(at);
    return info;
}

std::vector<lock_info> world::list(std::string_view prefix, time_point now) {
    const std::lock_guard lock(mutex_);
    std::vector<lock_info> found;
    for (auto at = slots_.lower_bound(prefix);
         at != slots_.end() && at->first.starts_with(prefix);) {
        const auto here = at++;
        settle(here->second, now);
        if (!here->second.held.empty()) found.push_back(describe(here->first, here->second, now));
        tidy(here);
    }
    return found;
}

world::tenure* world::find(slot& at, const std::string& owner) {
    const auto found = std::find_if(at.held.begin(), at.held.end(),
                                    [&owner](const tenure& each) { return each.owner == owner; });
    return found == at.held.end() ? nullptr : &*found;
}

// What was never possible leaves no trace; the first who says how many there are is believed.
void world::check_permits(const claim& what) {
    if (what.mode != lock_mode::permits) return;
    const auto kept = permits_.find(what.name);
    const auto all = core::permits_in_all(what, kept == permits_.end() ? 0 : kept->second);
    if (kept == permits_.end()) permits_.emplace(what.name, all);
}

bool world::fits(const slot& at, const claim& what) const {
    if (what.mode != lock_mode::permits)
        return at.held.empty() ||
               (what.mode == lock_mode::shared && at.held[0].mode == lock_mode::shared);
    std::uint64_t out = what.permits;
    for (const auto& each : at.held) {
        if (each.mode != lock_mode::permits) return false;
        out += each.permits;
    }
    return out <= permits_.find(what.name)->second;
}

// Readers of one phase have one token: a resource then accepts them all, whatever their order.
grant world::give(slot& to, const claim& what, const std::shared_ptr<session>& by, time_point now) {
    const bool joins = what.mode == lock_mode::shared && !to.held.empty();
    if (!joins) {
        const auto clock = static_cast<std::uint64_t>(core::clock_token(by->time->wall()));
        last_token_ = std::max(last_token_ + 1, clock);
    }
    const auto token = joins ? to.held[0].token : fencing_token(last_token_);
    to.held.push_back({what.owner, token, now + what.ttl, by->time->wall(), by->who, by, what.mode,
                       what.mode == lock_mode::permits ? what.permits : 0});
    return {now + what.ttl - drift(what.ttl), what.fenced ? token : fencing_token{}, {}, false};
}

void world::drop(slot& at, const tenure& one, time_point now) {
    at.held.erase(at.held.begin() + (&one - at.held.data()));
    serve(at, now);
}

void world::serve(slot& at, time_point now) {
    bool moved = false;
    while (!at.line.empty()) {
        const auto next = at.line.front();
        const bool asks_permits = next->what.mode == lock_mode::permits;
        next->too_many =
            asks_permits && next->what.permits > permits_.find(next->what.name)->second;
        if (!next->too_many && !fits(at, next->what)) break;
        if (!next->too_many) next->given = give(at, next->what, next->by, now);
        at.line.pop_front();
        ring(next);
        moved = true;
    }
    if (moved && !at.line.empty()) ring(at.line.front());
}

void world::settle(slot& at, time_point now) {
    if (std::erase_if(at.held, [now](const tenure& each) { return each.expires <= now; }) > 0)
        serve(at, now);
}

void world::tidy(slots::iterator at) {
    if (at->second.held.empty() && at->second.line.empty()) slots_.erase(at);
}

world::outlook world::outlook_of(const slot& at, const std::shared_ptr<waiter>& one) const {
    if (one->given) return {one->given, {}};
    auto look_at = time_point::max();
    if (!at.line.empty() && at.line.front() == one)
        for (const auto& each : at.held)
            look_at = std::min(look_at, each.expires);
    return {{}, look_at};
}

lock_info world::describe(std::string_view name, const slot& at, time_point now) const {
    lock_info info{std::string(name), {}, at.line.size()};
    if (const auto kept = permits_.find(name); kept != permits_.end()) info.permits = kept->second;
    for (const auto& [owner, token, expires, since, who, by, mode, permits] : at.held) {
        const holder one{who.host,           who.pid, who.command, since,  expires - now, token,
                         owner.substr(0, 8), 1,       mode,        permits};
        if (info.held_by)
            info.others.push_back(one);
        else
            info.held_by = one;
    }
    return info;
}

}  // namespace pawl::memory
