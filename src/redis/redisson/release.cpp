// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "calls.hpp"

#include "../common/release_retry.hpp"
#include "../transport/server_errors.hpp"

#include "../../core/util/random.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis::redisson {

lock_object locks::object_of(const hold& held) const {
    return {held.claim, object_kind_of(held.claim, options_.object),
            naming_.names_of(held.claim.name), held.grant.stored_value};
}

asio::awaitable<void> locks::renew_at(topology& servers, renewal_batch& batch) {
    std::vector<lock_object> objects;
    objects.reserve(batch.renewals().size());
    std::vector<renewal_group> groups;
    for (std::size_t i = 0; i < batch.renewals().size(); ++i) {
        objects.push_back(object_of(*batch.renewals()[i].held));
        add_to_group(groups, servers, objects.back().keys.lock, i);
    }
    std::vector<asio::awaitable<void>> requests;
    for (auto& each : groups)
        requests.push_back(renew_group(servers, batch, objects, std::move(each)));
    co_await tasks_.run_all(std::move(requests));
}

asio::awaitable<void> locks::renew_group(topology& servers, renewal_batch& batch,
                                         std::span<const lock_object> objects,
                                         renewal_group group) {
    renew_call call(group.indices.size());
    for (const auto index : group.indices)
        call.add(objects[index], milliseconds_text(batch.renewals()[index].ttl));
    co_await renewals_.renew(servers, objects[group.indices.front()].keys.lock, call, batch,
                             group.indices);
}

release_call locks::make_release(const lock_object& object, std::string_view unlock_latch) const {
    // The unlock latch is Redisson's key for the result of a release: a repeated request reads its
    // result there. The latch outlives the attempts of `release`, whose result the caller gets.
    // With short timeouts these attempts last longer than the timeouts. `release_later` may repeat
    // after the latch has expired: it then finds that the hold is gone.
    const auto latch_lifetime =
        std::max<duration>(2 * (options_.reply_timeout + options_.connect_timeout), 1s);
    return {object, unlock_latch, milliseconds_text(latch_lifetime),
            milliseconds_text(queue_lease)};
}

asio::awaitable<reply> locks::send_release(const lock_object& object, std::string unlock_latch,
                                           time_point give_up_at) {
    const auto call = make_release(object, unlock_latch);
    auto server_reply = co_await run(object.keys, call, give_up_at);
    if (server_reply.type != reply::kind::error) (void)call.read(server_reply);
    co_return server_reply;
}

// The release is repeated after a lost reply. The unlock latch then has the first request's result.
asio::awaitable<release_result> locks::release(const hold& held) {
    const core::in_flight::guard operation(tasks_.operations());
    const auto object = object_of(held);
    const auto unlock_latch = object.keys.unlock_latch(core::random_hex(time(), 16));
    const auto give_up_at = release_deadline(held);
    auto result = release_result::unknown;
    core::back_off pauses(time(), bounds_.pauses());
    client_tasks::interruptible_pause retry_pause(tasks_);
    for (;;) {
        bool should_retry = false;
        try {
            const auto server_reply = co_await send_release(object, unlock_latch, give_up_at);
            if (is_wrong_type(server_reply))
                result = release_result::taken_over;
            else if (server_reply.type != reply::kind::error)
                result = make_release(object, unlock_latch).read(server_reply);
        } catch (const connection_lost&) {
            should_retry = !tasks_.is_closing();
        } catch (const error&) {}
        if (!should_retry || now() >= give_up_at) break;
        const bool is_open =
            co_await retry_pause.wait_until(std::min(give_up_at, now() + pauses.next_pause()));
        if (!is_open) break;
    }
    if (result == release_result::released)
        asio::co_spawn(context_.strand, delete_unlock_latch(object.keys.lock, unlock_latch),
                       asio::detached);
    else if (result == release_result::unknown && !tasks_.is_closing())
        asio::co_spawn(context_.strand, release_later(object, unlock_latch), asio::detached);
    co_return result;
}

asio::awaitable<void> locks::delete_unlock_latch(std::string key, std::string unlock_latch) {
    const core::in_flight::guard operation(tasks_.operations());
    try {
        const std::array<std::string_view, 2> words{"DEL", unlock_latch};
        co_await exec_at(*servers_, key, words, reply_deadline());
    } catch (const error&) {}  // the latch also expires by itself
}

asio::awaitable<void> locks::release_later(lock_object object, std::string unlock_latch) {
    const core::in_flight::guard operation(tasks_.operations());
    const request_sender send = [this, &object, &unlock_latch](time_point deadline) {
        return send_release(object, unlock_latch, deadline);
    };
    co_await retry_release(*this, tasks_, object.keys.lock, send, object.undo_period());
    if (!tasks_.is_closing())
        co_await delete_unlock_latch(object.keys.lock, std::move(unlock_latch));
}

lock_object locks::reader_object_of(const hold& held) const {
    auto shared = held;
    shared.claim.mode = lock_mode::shared;
    auto& owner = shared.grant.stored_value;
    if (owner.ends_with(":write")) owner.resize(owner.size() - 6);
    return object_of(shared);
}

asio::awaitable<std::optional<grant>> locks::downgrade(const hold& held) {
    const auto object = reader_object_of(held);
    const auto give_up_at = held.grant.deadline;
    co_await connected_link_of(*servers_, object.keys.lock, give_up_at);
    const downgrade_call call{object, held.grant.stored_value};
    // Copied before the request, so that a downgrade that was carried out cannot fail here.
    std::optional<grant> granted = held.grant;
    granted->stored_value = object.owner;
    const auto sent_at = now();
    try {
        const auto server_reply = co_await run(object.keys, call, give_up_at);
        if (is_wrong_type(server_reply)) co_return std::nullopt;
        throw_if_error(server_reply, object.keys.lock);
        const bool was_held = call.read(server_reply);
        if (!was_held) co_return std::nullopt;
    } catch (const connection_lost& e) {
        throw error(errc::unreachable, object.keys.lock + ": " + e.what());
    }
    granted->deadline = sent_at + object.ttl - drift(object.ttl);
    co_return granted;
}

}  // namespace pawl::redis::redisson
