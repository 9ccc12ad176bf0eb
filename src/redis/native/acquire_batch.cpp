// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Several locks in one request: all of them or none.
#include "locks.hpp"

#include "../common/server_access.hpp"
#include "../common/values.hpp"
#include "../transport/server_errors.hpp"
#include "calls/acquire_calls.hpp"
#include "wrong_type.hpp"

#include <algorithm>
#include <list>
#include <memory>

namespace asio = boost::asio;

namespace pawl::redis::native {
namespace {

struct batched_attempt {
    batched_attempt(std::shared_ptr<owner_record> owners_record, undo_queue::undo undo,
                    duration lease)
        : record(std::move(owners_record)), undo_guard(std::move(undo), lease) {}

    std::shared_ptr<owner_record> record;
    acquire_attempt undo_guard;
};

}  // namespace

bool locks::can_batch(std::span<const std::string> names) const {
    if (names.empty()) return true;
    const auto first = scripts_.scheme().keys_of(names.front());
    return std::ranges::all_of(names, [&](const std::string& each) {
        return servers_->may_share_request(first.lock(), scripts_.scheme().keys_of(each).lock());
    });
}

asio::awaitable<std::vector<grant>> locks::acquire_batch(std::span<const claim> requested,
                                                         time_point give_up_at) {
    std::list<batched_attempt> attempts;
    std::vector<grant> grants;
    try {
        const auto deadline = reply_deadline(give_up_at > now(), give_up_at);
        const auto first_keys = scripts_.scheme().keys_of(requested.front().name);
        if (!servers_->link_of(first_keys.lock()).connected())
            co_await connected_link_of(*servers_, first_keys.lock(), deadline);
        acquire_batch_call call{
            milliseconds_text(requested.front().ttl), requested.front().fenced, {}};
        grants.reserve(requested.size());
        for (const auto& each : requested) {
            const auto record = records_.make_record(each.name, each.owner);
            attempts.emplace_back(record, records_.leave_of(record), each.ttl);
            auto& entry = grants.emplace_back();
            entry.stored_value = make_value(record->value_prefix(), scripts_.wall_ms());
            call.locks.push_back({record->lock_keys, entry.stored_value});
        }
        time_point sent_at;
        const auto compose_call = [&](const link& asked) {
            check_room_for_undo(asked);
            for (auto& attempt : attempts)
                attempt.undo_guard.about_to_send(undos_.of(asked));
            sent_at = now();
            return call.command(scripts_.words_at(asked));
        };
        const auto server_reply =
            co_await follow_key(*servers_, first_keys.lock(), deadline, compose_call);
        if (server_reply.type == reply::kind::error) {
            // The script uses two keys of each lock, and any of them may be of another type.
            std::vector<typed_key> used_keys;
            for (auto& attempt : attempts) {
                if (proves_no_change(server_reply.text))
                    attempt.undo_guard.set_state(acquire_attempt::state::settled);
                const auto typed = typed_keys_of(attempt.record->lock_keys);
                used_keys.insert(used_keys.end(), typed.begin(), typed.begin() + 2);
            }
            co_await throw_if_key_error(*servers_, server_reply, used_keys, reply_deadline());
        }
        const auto tokens = call.read(server_reply);
        for (auto& attempt : attempts)
            attempt.undo_guard.set_state(acquire_attempt::state::settled);
        if (tokens.empty()) grants.clear();
        for (std::size_t i = 0; i < grants.size(); ++i) {
            grants[i].deadline = sent_at + requested[i].ttl - drift(requested[i].ttl);
            grants[i].token = tokens[i];
        }
    } catch (const connection_lost& e) {
        throw could_not_be_requested("The locks", e.what());
    }
    co_return grants;
}

}  // namespace pawl::redis::native
