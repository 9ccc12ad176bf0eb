// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "acquire.hpp"

#include "../lease/renewal_times.hpp"
#include "../util/back_off.hpp"
#include "../util/duration_text.hpp"
#include "../util/random.hpp"
#include "attempt_pauses.hpp"
#include "validate.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>

namespace asio = boost::asio;

namespace pawl::core {
namespace {

// One attempt of a poll.
asio::awaitable<lease_handle> attempt(const engine::ptr& engine,
                                      const std::shared_ptr<lock_owner_state>& owner,
                                      const std::string& name, const request& asked) {
    if (asked.caller_value)
        return engine->acquire_as(name, *asked.caller_value, asked.options, asked.is_adopting);
    request single_try(asked.options, polling{});
    return engine->acquire(name, std::move(single_try), owner);
}

// True if the acquire is a loop of attempts: a try with several tries, or an acquire under a
// caller's value, which never waits at the service.
bool is_polled(const request& asked) {
    return asked.caller_value || (asked.try_policy && asked.try_policy->tries != 1);
}

// Polls as the try policy says, or until `options.wait` is over.
asio::awaitable<lease_handle> poll(engine::ptr engine, std::shared_ptr<lock_owner_state> owner,
                                   std::string name, request request) {
    const auto retry = request.try_policy.value_or(polling{});
    check_polling(retry);
    const auto give_up_at =
        request.try_policy ? time_point::max() : plus(engine->time().now(), request.options.wait);
    wakeup pause(engine->time(), engine->strand());
    back_off pauses(engine->time(), {retry.interval, retry.longest, retry.growth});
    auto outage = engine->make_outage();
    for (std::uint32_t attempts = 1;; ++attempts) {
        lease_handle handle;
        std::optional<error> failure;
        try {
            handle = co_await attempt(engine, owner, name, request);
        } catch (const error& e) {
            failure = e;
        }
        if (failure) {
            // A poll with a try policy does not wait for a service that is away.
            const bool is_over = request.try_policy || engine->time().now() >= give_up_at;
            if (is_over && request.caller_value)
                throw engine->with_limit(*failure, request, give_up_at);
            if (is_over || !failure->is_transient()) throw error(*failure);
            co_await outage.pause(*failure, give_up_at);
            continue;
        }
        if (handle.held_lease || (request.try_policy && attempts >= retry.tries)) co_return handle;
        const auto now = engine->time().now();
        if (now >= give_up_at) throw engine->timeout_error(name, request);
        co_await pause.wait_until(std::min(give_up_at, plus(now, pauses.next_pause())));
    }
}

void check_names(const std::vector<std::string>& names) {
    if (names.empty())
        throw error(errc::bad_option, "The list of names is empty; name 1 to 256 locks.");
    if (names.size() > 256)
        throw error(errc::bad_option, "The list has " + std::to_string(names.size()) +
                                          " names; name at most 256 locks.");
    for (const auto& each : names)
        check_name(each);
}

// Also shortly before the deadline: the keeper reports the loss then.
bool is_lost(const lease& lease, time_point now) {
    return lease.state() == lock_state::lost || now >= loss_time(lease);
}

// The error for the first lost lock, if there is one. The requests for the later locks, or a slow
// answer, may have taken longer than the lease of an earlier lock.
std::optional<error> first_loss(const engine& engine, const std::vector<lease_handle>& handles) {
    for (const auto& each : handles)
        if (is_lost(*each.held_lease, engine.time().now()))
            return error(errc::lost, "The lock '" + each.held_lease->granted_hold().claim.name +
                                         "' was lost before the last one was granted; try again.");
    return std::nullopt;
}

// Waits for the next of several locks. The loss of a lock that is already held ends the wait.
asio::awaitable<lease_handle> acquire_next(engine::ptr engine,
                                           std::shared_ptr<lock_owner_state> owner,
                                           std::string name, request request,
                                           const std::vector<lease_handle>& handles) {
    const auto cancellation = std::make_shared<asio::cancellation_signal>();
    const auto cancel = [cancellation, strand = engine->strand()] {
        try {
            asio::post(strand,
                       [cancellation] { cancellation->emit(asio::cancellation_type::terminal); });
        } catch (...) {}  // without memory, the loss is found when the wait ends
    };
    std::list<std::stop_callback<decltype(cancel)>> callbacks;
    for (const auto& each : handles)
        callbacks.emplace_back(each.held_lease->lost(), cancel);
    const auto state = co_await asio::this_coro::cancellation_state;
    if (auto caller_slot = state.slot(); caller_slot.is_connected())
        caller_slot.assign(
            [cancellation](asio::cancellation_type type) { cancellation->emit(type); });
    auto handle = co_await asio::co_spawn(
        engine->strand(), engine->acquire(std::move(name), std::move(request), std::move(owner)),
        asio::bind_cancellation_slot(cancellation->slot(), asio::use_awaitable));
    co_return handle;
}

// Releases in the background, the last lock first.
void release_all(engine& engine, std::vector<lease_handle>& handles) {
    for (auto each = handles.rbegin(); each != handles.rend(); ++each)
        engine.release({std::move(each->held_lease), each->number}, {});
}

// Acquires all locks in one request if all are free. Empty: not all are free, or the service is
// away or unavailable and there is time for another attempt.
asio::awaitable<std::vector<lease_handle>> try_batch(engine::ptr engine,
                                                     const std::vector<std::string>& names,
                                                     request request, time_point give_up_at) {
    std::vector<lease_handle> handles;
    try {
        handles = co_await engine->acquire_batch(names, request.options, give_up_at);
    } catch (const error& e) {
        if (!e.is_transient()) throw;
        if (engine->time().now() >= give_up_at) throw engine->with_limit(e, request, give_up_at);
    }
    co_return handles;
}

// A lock_owner may already hold some of the locks, so its requests are sent one by one.
bool can_use_batch(const engine& engine, const std::shared_ptr<lock_owner_state>& owner,
                   const std::vector<std::string>& names, const request& request) {
    const bool is_plain = request.options.mode == lock_mode::exclusive && !request.options.fair;
    return !owner && names.size() > 1 && is_plain &&
           (!request.try_policy || request.try_policy->tries == 1) &&
           engine.can_acquire_batch(names);
}

}  // namespace

request to_request(const try_options& options) {
    return request(detail::to_lock_options(options), options.retry);
}

lock_owner_state::lock_owner_state(const engine& engine)
    : waiting_room_(engine.time(), engine.strand()) {}

lease_handle lock_owner_state::reenter(const std::string& name, const lock_options& options) const {
    const auto entry = held_.find(name);
    const auto lease = entry == held_.end() ? nullptr : entry->second.lock();
    if (!lease || !lease->has_handles()) return {};
    if (lease->state() == lock_state::lost)
        throw error(errc::lost, "The lock '" + name +
                                    "' was lost while this owner held it; destroy or release its "
                                    "handles before the next acquire.");
    const auto& held_claim = lease->granted_hold().claim;
    if (held_claim.mode != lock_mode::exclusive && held_claim.mode != options.mode)
        throw error(errc::bad_option,
                    "This owner holds '" + name +
                        "' in another mode, and would wait for itself; release it first.");
    if (held_claim.mode == lock_mode::permits && options.permits > held_claim.permits)
        throw error(errc::bad_option, "This owner holds " + std::to_string(held_claim.permits) +
                                          " permits of '" + name + "' and requests " +
                                          std::to_string(options.permits) +
                                          "; release them first, or use another owner.");
    return lease_handle(lease, lease->add_handle());
}

void lock_owner_state::remember(const std::string& name, const std::shared_ptr<lease>& lease) {
    std::erase_if(held_, [](const auto& each) { return each.second.expired(); });
    held_[name] = lease;
}

claim engine::make_claim(std::string name, const lock_options& options) const {
    const auto capabilities = backend_->capabilities();
    check_ttl(options.ttl, capabilities);
    check_durability(options.durable, capabilities);
    return {.name = std::move(name),
            .owner = make_owner(),
            .ttl = service_ttl(std::min<duration>(options.ttl, options.max_hold), capabilities),
            .mode = options.mode,
            .fenced = options.fenced,
            .fair = options.fair,
            .permits = options.permits,
            .total_permits = options.total_permits};
}

std::string engine::make_owner() const { return random_hex(time(), 16); }

// When a request that is sent now gives up. A single attempt does not wait.
time_point engine::end_of_wait(const request& asked) const {
    const auto now = time().now();
    return asked.try_policy ? now : plus(now, asked.options.wait);
}

error engine::timeout_error(const std::string& name, const request& asked) const {
    const auto wait = asked.stated_wait;
    const auto limit = wait > duration{} ? "within " + duration_text(wait) : "in one attempt";
    const auto reason = backend_->unreachable_reason(name);
    // The service's own message is a sentence, which has its advice already.
    const auto advice = reason.ends_with('.')
                            ? ""
                            : "; check that the service runs there and that the URL is right.";
    if (!reason.empty())
        return {errc::unreachable, "The lock '" + name + "' was not acquired " + limit +
                                       ", and the service is away: " + reason + advice};
    const auto permits = asked.options.permits;
    const auto state = asked.options.mode != lock_mode::permits
                           ? "The lock '" + name + "' was not free "
                       : permits == 1 ? "The semaphore '" + name + "' had no free permit "
                                      : "The semaphore '" + name + "' had fewer than " +
                                            std::to_string(permits) + " free permits ";
    return {errc::timed_out,
            state + limit + "; wait longer, or see who has it with `pawl status '" + name + "'`."};
}

error engine::with_limit(const error& failure, const request& asked, time_point give_up_at) const {
    const bool is_attempt = asked.try_policy || asked.stated_wait == duration{};
    // Too few nodes may answer, or too many refuse, long before the limit of an attempt.
    const bool is_out_of_time = !is_attempt || time().now() >= plus(give_up_at, options_.try_limit);
    const bool is_silence = failure.reason() == errc::unreachable ||
                            (failure.reason() == errc::no_quorum && is_out_of_time);
    if (!is_silence) return failure;
    const auto limit =
        is_attempt ? " An attempt has " + duration_text(options_.try_limit) + " (try_limit)."
                   : " The wait was " + duration_text(asked.stated_wait) + ".";
    return {failure.reason(), failure.what() + limit};
}

// A lock_owner sends one request for a name at a time. Its later requests find the lock and enter
// it again.
asio::awaitable<lease_handle> engine::acquire_for(std::shared_ptr<lock_owner_state> owner,
                                                  std::string name, request asked) {
    check_name(name);
    check_options(asked.options);
    const auto give_up_at = end_of_wait(asked);
    waiting_room::waiter place(owner->room(), name);
    bool is_first = place.is_first();
    if (!is_first && asked.try_policy) co_return lease_handle{};
    if (!is_first) is_first = co_await place.wait_until_first(give_up_at);
    if (!is_first) throw timeout_error(name, asked);
    const auto durable = asked.options.durable;
    auto handle = owner->reenter(name, asked.options);
    if (handle.held_lease) {
        // The hold may be less durable than this entry requires.
        if (durable != durability::primary)
            co_await confirm_durability({&handle, 1}, durable, give_up_at);
        co_return handle;
    }
    handle = co_await acquire_unpolled(name, std::move(asked), give_up_at);
    if (handle.held_lease) owner->remember(name, handle.held_lease);
    co_return handle;
}

// Not a coroutine: the wait begins at the call, although the event loop may be busy.
asio::awaitable<lease_handle> engine::acquire(std::string name, request asked,
                                              std::shared_ptr<lock_owner_state> owner) {
    if (is_polled(asked))
        return poll(shared_from_this(), std::move(owner), std::move(name), std::move(asked));
    if (owner) return acquire_for(std::move(owner), std::move(name), std::move(asked));
    const auto wait_ends_at = end_of_wait(asked);
    return acquire_unpolled(std::move(name), std::move(asked), wait_ends_at);
}

asio::awaitable<lease_handle> engine::acquire_unpolled(std::string name, request asked,
                                                       time_point wait_ends_at) {
    auto give_up_at = wait_ends_at;
    const auto& options = asked.options;
    check_name(name);
    check_options(options);
    const bool single_attempt = asked.try_policy.has_value();
    check_mode(options, *backend_);
    throw_if_closed();
    auto reservation = reserve_lease(make_claim(name, options), options.max_hold);
    // These requests do not wait in the waiting room: a single attempt does not wait at all; the
    // others queue at the service.
    const bool bypasses_room =
        single_attempt || options.fair || options.mode != lock_mode::exclusive;
    std::optional<waiting_room::waiter> waiter;
    if (!bypasses_room) waiter.emplace(waiting_room_, name);
    // Lets `warn_of_own_waiters` see a waiter without a room; an empty name makes no entry.
    const waiting_names::entry entry(waiting_names_,
                                     bypasses_room && !single_attempt ? name : std::string());
    bool is_first = !waiter || waiter->is_first();
    if (!is_first) is_first = co_await waiter->wait_until_first(give_up_at);
    if (!is_first) throw timeout_error(name, asked);
    std::unique_ptr<attempt_pauses> pauses;  // few acquires need them
    for (;;) {
        const auto began = time().now();
        // The wait for the first place or a pause may have been long. For the backend, a
        // `give_up_at` that has passed means a single attempt, which may take the whole try_limit.
        if (!single_attempt && options.wait > duration{})
            give_up_at = std::max(give_up_at, plus(began, std::chrono::milliseconds(1)));
        std::optional<error> failure;
        std::optional<grant> granted;
        try {
            granted = co_await live_backend().acquire(reservation.requested(), give_up_at);
        } catch (const error& e) {
            failure = e;
        }
        made_in_.throw_if_forked();
        if (granted) {
            auto handle = keep(reservation, std::move(*granted));
            if (options.durable != durability::primary)
                co_await confirm_durability({&handle, 1}, options.durable, give_up_at);
            co_return handle;
        }
        if (!failure && single_attempt) co_return lease_handle{};
        const auto now = time().now();
        if (now >= wait_ends_at && failure) throw with_limit(*failure, asked, wait_ends_at);
        if (now >= wait_ends_at) throw timeout_error(name, asked);
        if (failure && !failure->is_transient()) throw error(*failure);
        // A service that hands locks over has a queue, in which the next attempt waits.
        const bool is_repeated_at_once =
            !failure && !reservation.requested().was_taken && backend_->capabilities().hands_over;
        if (!is_repeated_at_once && !pauses)
            pauses = std::make_unique<attempt_pauses>(time(), strand_, options_.log);
        if (failure)
            co_await pauses->after_failure(*failure, now - began, wait_ends_at);
        else if (!is_repeated_at_once)
            co_await pauses->while_taken(wait_ends_at);
        throw_if_closed();
        const bool was_taken = !failure || reservation.requested().was_taken;
        reservation.begin_attempt(make_owner(), was_taken);
    }
}

asio::awaitable<lease_handle> try_acquire_for(engine::ptr engine,
                                              std::shared_ptr<lock_owner_state> owner,
                                              std::string name, duration wait,
                                              lock_options options) {
    if (options.wait != forever)
        throw error(errc::bad_option, "The acquire of '" + name +
                                          "' has two waits; leave `wait` out of the options.");
    options.wait = std::max(wait, duration{});
    try {
        auto handle = co_await engine->acquire(std::move(name), request(options), std::move(owner));
        co_return handle;
    } catch (const error& e) {
        if (e.reason() != errc::timed_out) throw;
    }
    co_return lease_handle{};
}

asio::awaitable<std::vector<lease_handle>> acquire_all(engine::ptr engine,
                                                       std::shared_ptr<lock_owner_state> owner,
                                                       std::vector<std::string> names,
                                                       request request) {
    check_names(names);
    check_options(request.options);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    const auto give_up_at = plus(engine->time().now(), request.options.wait);
    // The remaining wait must not become 0: the backend would get a `give_up_at` that has passed,
    // and make one attempt, which may take the whole try_limit.
    const auto shortest_wait =
        std::min<duration>(request.options.wait, std::chrono::milliseconds(1));
    const auto cancellation = co_await asio::this_coro::cancellation_state;
    std::vector<lease_handle> handles;
    if (can_use_batch(*engine, owner, names, request)) {
        handles = co_await try_batch(engine, names, request, give_up_at);
        if (handles.empty() && request.try_policy) co_return handles;
    }
    handles.reserve(names.size());
    try {
        while (handles.size() < names.size()) {
            if (give_up_at != time_point::max())
                request.options.wait = std::max(shortest_wait, give_up_at - engine->time().now());
            const auto& name = names[handles.size()];
            lease_handle handle;
            if (handles.empty())
                handle = co_await engine->acquire(name, request, owner);
            else
                handle = co_await acquire_next(engine, owner, name, request, handles);
            if (!handle.held_lease) {
                release_all(*engine, handles);
                co_return std::vector<lease_handle>{};
            }
            handles.push_back(std::move(handle));
        }
        if (const auto lost = first_loss(*engine, handles)) throw error(*lost);
    } catch (...) {
        const auto lost = first_loss(*engine, handles);
        release_all(*engine, handles);
        if (lost && cancellation.cancelled() == asio::cancellation_type::none) throw error(*lost);
        throw;
    }
    co_return handles;
}

asio::awaitable<lock_info> wait_change(engine::ptr engine, std::string name, fencing_token seen,
                                       duration interval) {
    if (interval < std::chrono::milliseconds(1))
        throw error(errc::bad_option, "The interval between two inspections must be 1 ms or more.");
    wakeup pause(engine->time(), engine->strand());
    for (;;) {
        auto info = co_await engine->inspect(name);
        const auto token = info.held_by ? info.held_by->token : fencing_token{};
        if (token != seen) co_return info;
        co_await pause.wait_until(plus(engine->time().now(), interval));
    }
}

}  // namespace pawl::core
