// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "sessions.hpp"

#include "errors.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace asio = boost::asio;

namespace pawl::consul {
namespace {

// A hold that was just granted needs time for its first renewal.
bool is_fresh(const session& present, time_point now) noexcept {
    return !present.is_over && now < present.confirmed_at + present.ttl / 2;
}

std::string session_name(const identity& process) {
    return "pawl " + process.host + " " + std::to_string(process.pid);
}

}  // namespace

// The only request for the session of a ttl.
class sessions::turn {
public:
    explicit turn(place& at) noexcept : place_(at) { place_.is_busy = true; }
    ~turn() {
        place_.is_busy = false;
        for (auto* each : place_.waiters)
            each->notify();
    }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

private:
    place& place_;
};

sessions::sessions(api& server, const key_scheme& keys, const backend_context& context)
    : server_(server), keys_(keys), context_(context), name_(session_name(context.process)) {}

asio::awaitable<void> sessions::wait_for_turn(place& at, time_point give_up_at) {
    core::wakeup wakeup(*context_.time, context_.strand);
    struct entry {
        std::list<core::wakeup*>& waiters;
        const std::list<core::wakeup*>::iterator position;
        ~entry() { waiters.erase(position); }
    } const waiting{at.waiters, at.waiters.insert(at.waiters.end(), &wakeup)};
    while (at.is_busy) {
        if (context_.time->now() >= give_up_at)
            throw error(errc::unreachable,
                        server_.client().subject() + " has not made or renewed a session in time.");
        co_await wakeup.wait_until(give_up_at);
    }
}

// The map's places stay where they are; a place is forgotten only while nobody uses it.
void sessions::make_room() {
    const auto is_unused = [](const auto& each) {
        const auto& at = each.second;
        return !at.is_busy && at.waiters.empty() && at.present.use_count() <= 1;
    };
    if (places_.size() >= most_sessions) std::erase_if(places_, is_unused);
    if (places_.size() >= most_sessions)
        throw error(errc::exhausted, "This client has locks with " + std::to_string(most_sessions) +
                                         " different ttls, and each needs a session of Consul; use "
                                         "fewer different ttls.");
}

asio::awaitable<std::shared_ptr<session>> sessions::get(duration ttl, time_point give_up_at) {
    if (!places_.contains(ttl)) make_room();
    auto& at = places_[ttl];
    for (;;) {
        if (at.present && is_fresh(*at.present, context_.time->now())) co_return at.present;
        if (at.is_busy) {
            co_await wait_for_turn(at, give_up_at);
            continue;
        }
        const turn own(at);
        if (at.present && !at.present->is_over) {
            const auto renewed = at.present;
            co_await extend(*renewed, give_up_at);
        } else {
            at.present = co_await make(ttl, give_up_at);
        }
    }
}

asio::awaitable<std::shared_ptr<session>> sessions::make(duration ttl, time_point give_up_at) {
    auto made = std::make_shared<session>();
    made->ttl = ttl;
    made->confirmed_at = context_.time->now();
    made->id = co_await server_.create_session(name_, ttl, give_up_at);
    std::vector<operation> guard(1);
    guard[0].verb = "lock";
    guard[0].key = keys_.guard_key(made->id);
    guard[0].session = made->id;
    const auto locked = co_await server_.transact(std::move(guard), give_up_at);
    if (!locked.refusals.empty())
        throw refusal_error(locked.refusals.front(), server_.client().subject());
    if (!locked.entries.empty()) made->guard_index = locked.entries.front().modify_index;
    co_return made;
}

asio::awaitable<void> sessions::extend(session& renewed, time_point give_up_at) {
    const auto asked_at = context_.time->now();
    const bool is_known = co_await server_.renew_session(renewed.id, give_up_at);
    if (is_known)
        renewed.confirmed_at = asked_at;
    else
        renewed.is_over = true;
}

asio::awaitable<void> sessions::renew(std::shared_ptr<session> renewed, time_point give_up_at) {
    const auto began_at = context_.time->now();
    const auto position = places_.find(renewed->ttl);
    if (position == places_.end() || position->second.present != renewed) {
        if (!renewed->is_over) co_await extend(*renewed, give_up_at);
        co_return;
    }
    auto& at = position->second;
    while (!renewed->is_over && renewed->confirmed_at < began_at) {
        if (at.is_busy) {
            co_await wait_for_turn(at, give_up_at);
            continue;
        }
        const turn own(at);
        co_await extend(*renewed, give_up_at);
    }
}

asio::awaitable<void> sessions::destroy_all(time_point give_up_at) {
    std::vector<std::string> ids;
    for (auto& [ttl, at] : places_) {
        const auto ended = std::exchange(at.present, nullptr);
        if (ended && !std::exchange(ended->is_over, true)) ids.push_back(ended->id);
    }
    for (const auto& each : ids)
        co_await server_.destroy_session(each, give_up_at);
}

}  // namespace pawl::consul
