#include "world.hpp"

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
    const auto at = slots_.try_emplace(what.name).first;
    settle(at->second, now);
    if (at->second.held) return std::nullopt;
    return give(at->second, what, by, now);
}

world::outlook world::join(const std::shared_ptr<waiter>& one) {
    const auto now = one->by->time->now();
    const std::lock_guard lock(mutex_);
    auto& at = slots_.try_emplace(one->what.name).first->second;
    at.line.push_back(one);
    settle(at, now);
    if (!at.held) pass_on(at, now);
    return outlook_of(at, one);
}

world::outlook world::look(const std::shared_ptr<waiter>& one) {
    const auto now = one->by->time->now();
    const std::lock_guard lock(mutex_);
    if (one->given) return {one->given, {}};
    auto& at = slots_.find(one->what.name)->second;
    settle(at, now);
    return outlook_of(at, one);
}

void world::leave(const std::shared_ptr<waiter>& one, bool wanted) {
    const auto now = one->by->time->now();
    const std::lock_guard lock(mutex_);
    const auto at = slots_.find(one->what.name);
    if (at == slots_.end()) return;
    auto& [held, line] = at->second;
    const auto here = std::find(line.begin(), line.end(), one);
    if (here != line.end()) {
        const bool was_first = here == line.begin();
        line.erase(here);
        // The first in line keeps the timer for the holder's lease.
        if (was_first && !line.empty()) ring(line.front());
    } else if (!wanted && held && held->owner == one->what.owner) {
        pass_on(at->second, now);
    }
    tidy(at);
}

void world::renew(std::span<renewal> batch, time_point now) {
    const std::lock_guard lock(mutex_);
    for (auto& line : batch) {
        const auto at = slots_.find(line.what->claim.name);
        line.result = renewal::outcome::refused;
        if (at == slots_.end()) continue;
        settle(at->second, now);
        auto& held = at->second.held;
        if (held && held->owner == line.what->claim.owner) {
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
    auto result = release_result::expired;
    if (const auto& held = at->second.held; held && held->owner == what.owner) {
        pass_on(at->second, now);
        result = release_result::released;
    } else if (held) {
        result = release_result::taken_over;
    }
    tidy(at);
    return result;
}

bool world::force_release(std::string_view name, time_point now) {
    const std::lock_guard lock(mutex_);
    const auto at = slots_.find(name);
    if (at == slots_.end()) return false;
    settle(at->second, now);
    const bool was_held = at->second.held.has_value();
    if (was_held) {
        const auto& victim = *at->second.held;
        if (const auto told = victim.by.lock()) {
            asio::post(told->strand, [weak = victim.by, owner = victim.owner] {
                if (const auto alive = weak.lock()) {
                    ++alive->count->pushes;
                    alive->listener->lost(owner, loss_reason::forced);
                }
            });
        }
        pass_on(at->second, now);
    }
    tidy(at);
    return was_held;
}

lock_info world::inspect(std::string_view name, time_point now) {
    const std::lock_guard lock(mutex_);
    const auto at = slots_.find(name);
    if (at == slots_.end()) return {std::string(name), {}, 0};
    settle(at->second, now);
    const auto info = describe(at->first, at->second, now);
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
        if (here->second.held) found.push_back(describe(here->first, here->second, now));
        tidy(here);
    }
    return found;
}

grant world::give(slot& to, const claim& what, const std::shared_ptr<session>& by, time_point now) {
    const fencing_token token(++last_token_);
    to.held = tenure{what.owner, token, now + what.ttl, by->time->wall(), by->who, by};
    return {now + what.ttl - drift(what.ttl), what.fenced ? token : fencing_token{}, {}, false};
}

void world::pass_on(slot& from, time_point now) {
    from.held.reset();
    if (from.line.empty()) return;
    const auto next = from.line.front();
    from.line.pop_front();
    next->given = give(from, next->what, next->by, now);
    ring(next);
    if (!from.line.empty()) ring(from.line.front());
}

void world::settle(slot& one, time_point now) {
    if (one.held && one.held->expires <= now) pass_on(one, now);
}

void world::tidy(slots::iterator at) {
    if (!at->second.held && at->second.line.empty()) slots_.erase(at);
}

world::outlook world::outlook_of(const slot& at, const std::shared_ptr<waiter>& one) const {
    if (one->given) return {one->given, {}};
    const bool first = !at.line.empty() && at.line.front() == one;
    return {{}, first && at.held ? at.held->expires : time_point::max()};
}

lock_info world::describe(const std::string& name, const slot& at, time_point now) {
    lock_info info{name, {}, at.line.size()};
    if (at.held) {
        const auto& [owner, token, expires, since, who, by] = *at.held;
        info.held_by =
            holder{who.host, who.pid, who.command, since, expires - now, token, owner.substr(0, 8)};
    }
    return info;
}

}  // namespace pawl::memory
