// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The steps of the protocol over the rows of one lock: for stores whose rows the client reads and
// writes itself, in a local transaction. A step has no co_await, so it cannot wait for a server.
#pragma once

#include "../util/plus.hpp"
#include "../util/spi.hpp"
#include "attempt_result.hpp"
#include "permits.hpp"
#include "queue_policy.hpp"

#include <algorithm>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace pawl::core {

// A waiter in the queue, or a claim that may join it. `Client` is the store's name for the client.
template <class Client>
struct waiter_row : lock_share {
    std::string owner;
    Client client;
    identity process;
    duration ttl{};
    bool has_expired = false;  // it was not refreshed in time
};

template <class Client>
struct holder_row : lock_share {
    std::string owner;
    Client client;
    identity process;
    std::chrono::system_clock::time_point since{};
    time_point expires{};
    fencing_token token;
};

// The rows of one lock, as one client uses them in one transaction. A function may throw; then the
// transaction has no effect.
template <class Rows>
concept lease_rows = requires(
    Rows rows, const Rows& read, const claim& requested, const std::string& owner,
    const typename Rows::client_type& client, const waiter_row<typename Rows::client_type>& waiter,
    const holder_row<typename Rows::client_type>& holder, time_point expires) {
    // The first lease of a waiter that was granted the lock, which it must renew. Without such
    // a window: duration::max().
    { Rows::claim_window } -> std::convertible_to<duration>;
    // The live holders, read once. `lease_table` keeps this list up to date; the functions
    // below write its changes to the store.
    { rows.holders() } -> std::same_as<std::vector<holder_row<typename Rows::client_type>>&>;
    rows.insert_holder(holder);
    rows.erase_holder(owner);
    rows.downgrade_holder(holder);
    rows.erase_expired_holders();
    // Extends a live hold of this owner and mode. False: there is none.
    { rows.renew_holder(owner, lock_mode{}, expires) } -> std::same_as<bool>;
    // A pointer or an optional, empty without waiters.
    { *rows.first_waiter() } -> std::convertible_to<waiter_row<typename Rows::client_type>>;
    // Puts the waiter at the end of the queue.
    rows.enqueue(waiter);
    // False: the owner is not in the queue.
    { rows.refresh_waiter(owner) } -> std::same_as<bool>;
    // Leaves the queue, if the owner is in it.
    rows.erase_waiter(owner);
    // Throws if the store has not removed it: else the queue would be served for ever.
    rows.erase_first_waiter(waiter);
    { rows.count_waiters() } -> std::convertible_to<std::uint64_t>;
    // The semaphore's total; 0 if it is not set.
    { rows.total_permits() } -> std::same_as<std::uint32_t>;
    rows.set_total_permits(std::uint32_t{});
    // The row of this client's claim.
    { rows.row_of(requested) } -> std::same_as<waiter_row<typename Rows::client_type>>;
    // False: the client has certainly ended.
    { rows.is_alive(client) } -> std::same_as<bool>;
    // False: this transaction is not durable enough for a new token.
    { read.may_grant() } -> std::same_as<bool>;
    // Larger than every token of the lock before.
    { rows.next_token() } -> std::same_as<fencing_token>;
    { read.wall_clock() } -> std::same_as<std::chrono::system_clock::time_point>;
    // The message is sent after the transaction: the claim has left the queue, with the lock or
    // with an error; or the hold was ended by force.
    rows.notify_waiter(waiter);
    rows.notify_loss(holder);
};

// Used for one step of one transaction. `rows` outlives it.
//
// `refresh`, `leave` and `release` return an empty optional if the queue must be served in a
// transaction that `may_grant`; the caller then repeats the step in such a transaction. The other
// steps, except `renew`, `downgrade` and `describe`, need such a transaction at once.
template <lease_rows Rows>
class lease_table {
    using waiter = waiter_row<typename Rows::client_type>;
    using holder_record = holder_row<typename Rows::client_type>;

public:
    lease_table(Rows& rows, time_point now) noexcept : rows_(rows), now_(now) {}

    // Acquires the lock, or joins the queue if `may_wait`. Throws errc::bad_option for permits that
    // can never be granted; so does `refresh`.
    attempt_result acquire(const claim& requested, bool may_wait) {
        return attempt(requested, may_wait, queue_place::none);
    }

    // Keeps the place in the queue, and serves the queue if a lease has ended. A claim that has
    // left the queue without the lock, such as a dead waiter, joins it again.
    std::optional<attempt_result> refresh(const claim& requested) {
        if (const auto* own_hold = find(requested.owner); own_hold != nullptr)
            return granted_result(*own_hold, requested);
        const bool is_queued = rows_.refresh_waiter(requested.owner);
        if (is_queued && !can_serve_without(requested.owner))
            return waiting_result(requested.owner);
        if (!rows_.may_grant()) return std::nullopt;
        constexpr bool may_wait = true;
        return attempt(requested, may_wait, is_queued ? queue_place::kept : queue_place::lost);
    }

    // Leaves the queue. A grant that came meanwhile is returned if `keep_grant`, else passed on.
    std::optional<attempt_result> leave(const claim& requested, bool keep_grant) {
        rows_.erase_waiter(requested.owner);
        if (const auto* own_hold = find(requested.owner); keep_grant && own_hold != nullptr)
            return granted_result(*own_hold, requested);
        return release(requested) ? std::optional(attempt_result{}) : std::nullopt;
    }

    std::optional<release_result> release(const claim& requested) {
        if (!rows_.may_grant() && can_serve_without(requested.owner)) return std::nullopt;
        const bool was_held = find(requested.owner) != nullptr;
        if (was_held) {
            rows_.erase_holder(requested.owner);
            std::erase_if(rows_.holders(),
                          [&](const auto& each) { return each.owner == requested.owner; });
        }
        rows_.erase_expired_holders();
        const auto missing = result_of_missing_hold(requested.mode, present());
        if (rows_.may_grant()) serve();
        return was_held ? release_result::released : missing;
    }

    // False: the owner does not hold the lock in the claim's mode. In another mode, the client does
    // not know that its downgrade was carried out.
    bool renew(const claim& requested, duration ttl) {
        return rows_.renew_holder(requested.owner, requested.mode, plus(now_, ttl));
    }

    // Empty: the owner does not hold the lock. Only readers can join the holder, and they get its
    // token, so no token is issued.
    std::optional<attempt_result> downgrade(const claim& requested) {
        auto* const own_hold = find(requested.owner);
        if (own_hold == nullptr) return std::nullopt;
        own_hold->mode = lock_mode::shared;
        own_hold->expires = plus(now_, requested.ttl);
        const attempt_result result{attempt_result::kind::granted, own_hold->expires,
                                    own_hold->token};
        rows_.downgrade_holder(*own_hold);
        rows_.erase_expired_holders();
        serve();
        return result;
    }

    void resize(std::uint32_t permits) {
        rows_.set_total_permits(permits);
        rows_.erase_expired_holders();
        serve();
    }

    // Ends all holds, or with `expected` those with this token or smaller ones, if a hold has it.
    // False: there were none.
    bool force_release(fencing_token expected) {
        auto& holders = rows_.holders();
        const bool was_held = !holders.empty();
        const auto has_token = [&](const auto& each) { return each.token == expected; };
        if (was_held && expected && std::ranges::none_of(holders, has_token)) return false;
        std::erase_if(holders, [&](const auto& each) {
            if (expected && each.token > expected) return false;
            rows_.notify_loss(each);
            rows_.erase_holder(each.owner);
            return true;
        });
        rows_.erase_expired_holders();
        serve();
        return was_held;
    }

    // The holders, the oldest first, and the number of waiters.
    lock_info describe(std::string name) {
        lock_info info{std::move(name), {}, rows_.count_waiters()};
        info.permits = rows_.total_permits();
        std::ranges::stable_sort(rows_.holders(), {}, [](const auto& each) {
            return std::tuple(each.token, each.since);
        });
        for (const auto& each : rows_.holders()) {
            const holder shown{
                each.process.host,   each.process.pid, each.process.command,    each.since,
                each.expires - now_, each.token,       each.owner.substr(0, 8), 1,
                each.mode,           each.permits};
            if (info.held_by)
                info.others.push_back(shown);
            else
                info.held_by = shown;
        }
        return info;
    }

private:
    // The claim's place in the queue before a step.
    enum class queue_place : std::uint8_t { none, lost, kept };

    attempt_result attempt(const claim& requested, bool may_wait, queue_place place) {
        check_permits(requested, place);
        rows_.erase_expired_holders();
        // Waiters are served first, and the caller may be one of them. If there is an exclusive
        // holder, no claim fits, so the queue need not be read.
        const bool has_waiters = present().excludes_all() || serve(&requested.owner);
        const auto share = share_of(requested);
        if (find(requested.owner) == nullptr &&
            admits_newcomer(share, has_waiters, present(), total_permits_for(share)))
            grant(rows_.row_of(requested), requested.ttl);
        if (const auto* own_hold = find(requested.owner); own_hold != nullptr)
            return granted_result(*own_hold, requested);
        if (!may_wait) return {};
        if (place != queue_place::kept) rows_.enqueue(rows_.row_of(requested));
        return waiting_result(requested.owner);
    }

    // The queue, as `serve_queue` needs it. `caller` is null or the owner whose client runs this
    // step: it is alive, and gets its whole ttl without a notification.
    struct served_queue {
        lease_table& table;
        const std::string* caller;

        auto first() const { return table.rows_.first_waiter(); }
        static lock_share share_of(const waiter& first) { return first; }
        bool is_dead(const waiter& first) const {
            return !is_caller(first) && table.is_dead(first);
        }
        std::uint32_t total_permits(const waiter& first) const {
            return table.total_permits_for(first);
        }
        void grant(const waiter& first) {
            table.grant(first,
                        is_caller(first) ? first.ttl : std::min(first.ttl, Rows::claim_window));
            remove_and_notify(first);
        }
        // The woken waiter refreshes, and its refresh throws the error.
        void refuse(const waiter& first) { remove_and_notify(first); }
        void discard(const waiter& first) { table.rows_.erase_first_waiter(first); }

    private:
        bool is_caller(const waiter& first) const {
            return caller != nullptr && first.owner == *caller;
        }
        // By value: the row is removed.
        void remove_and_notify(waiter first) {
            table.rows_.erase_first_waiter(first);
            if (!is_caller(first)) table.rows_.notify_waiter(first);
        }
    };

    // Grants the lock to the first waiters as long as they fit. True: a waiter is left.
    bool serve(const std::string* caller = nullptr) {
        served_queue queue{*this, caller};
        return serve_queue(queue, present());
    }
    // True if `serve` would remove the first waiter from the queue, if this owner had no hold.
    bool can_serve_without(std::string_view owner) {
        occupancy others;
        for (const auto& each : rows_.holders())
            if (each.owner != owner) others.add(each);
        if (others.excludes_all()) return false;
        const auto first = rows_.first_waiter();
        return first && step_of(*first, is_dead(*first), others, total_permits_for(*first)) !=
                            queue_step::wait;
    }
    void grant(const waiter& granted, duration ttl) {
        auto& holders = rows_.holders();
        // The holders may come from an older copy of the store. If none of them is alive, their
        // token may be too low.
        const auto shared_token = reader_token(granted.mode, holders, [this](const auto& each) {
            return rows_.is_alive(each.client);
        });
        holder_record record{granted,
                             granted.owner,
                             granted.client,
                             granted.process,
                             rows_.wall_clock(),
                             plus(now_, ttl),
                             shared_token ? *shared_token : rows_.next_token()};
        rows_.insert_holder(record);
        holders.push_back(std::move(record));
    }

    occupancy present() { return occupancy_of(rows_.holders()); }
    holder_record* find(std::string_view owner) {
        auto& holders = rows_.holders();
        const auto position = std::ranges::find(holders, owner, &holder_record::owner);
        return position == holders.end() ? nullptr : &*position;
    }
    bool is_dead(const waiter& first) { return first.has_expired || !rows_.is_alive(first.client); }

    // A claim that can never be granted leaves no trace. The first claim that names a total sets
    // it.
    void check_permits(claim requested, queue_place place) {
        if (requested.mode != lock_mode::permits) return;
        const auto known_total = rows_.total_permits();
        // The total was checked when the claim joined the queue.
        if (place != queue_place::none && known_total != 0) requested.total_permits = 0;
        const auto total = check_total(requested, known_total);
        if (known_total == 0) rows_.set_total_permits(total);
    }
    // 0 without reading the store if the share is not of permits.
    std::uint32_t total_permits_for(const lock_share& share) {
        return share.mode == lock_mode::permits ? rows_.total_permits() : 0;
    }

    attempt_result granted_result(const holder_record& own_hold, const claim& requested) const {
        const bool needs_renewal =
            Rows::claim_window != duration::max() && own_hold.expires < plus(now_, requested.ttl);
        return {attempt_result::kind::granted, own_hold.expires, own_hold.token, needs_renewal};
    }
    attempt_result waiting_result(std::string_view owner) {
        const auto first = rows_.first_waiter();
        return {attempt_result::kind::waiting,
                first_expiry(rows_.holders()),
                {},
                false,
                first && first->owner == owner};
    }

    Rows& rows_;
    const time_point now_;
};

}  // namespace pawl::core
