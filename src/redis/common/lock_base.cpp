// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_base.hpp"

#include "../transport/options.hpp"
#include "../transport/server_errors.hpp"

#include "../../core/util/random.hpp"
#include "../../core/util/wakeup.hpp"

#include <algorithm>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {

lock_base::lock_base(const options& server_options, backend_context context,
                     const topology_factory& connect, const std::string& channel,
                     const limits& bounds)
    : options_(server_options),
      context_(std::move(context)),
      bounds_(bounds),
      servers_(connect(*this, channel)),
      undos_(servers_, context_, bounds_, options_.reply_timeout),
      tasks_(context_),
      watch_(context_),
      connect_(connect) {}

asio::awaitable<void> lock_base::pause(duration at_least, duration at_most) {
    core::wakeup pause_timer(time(), context_.strand);
    co_await pause_timer.wait_until(now() + core::random_between(time(), at_least, at_most));
}

asio::awaitable<void> lock_base::close(time_point give_up_at) {
    undos_.begin_shutdown();
    co_await tasks_.wait_until_idle(undos_, give_up_at);
    tasks_.end_pauses();
    undos_.stop();
    co_await servers_->close(give_up_at);
    if (acknowledgements_) co_await acknowledgements_->close(give_up_at);
    if (listing_servers_) co_await (*listing_servers_)->close(give_up_at);
    // On closed links every operation ends soon.
    co_await tasks_.wait_until_idle(undos_, time_point::max());
}

void lock_base::add_to_group(std::vector<renewal_group>& groups, const topology& servers,
                             std::string_view key, std::size_t index) {
    const auto* server_link = &servers.link_of(key);
    const auto group = servers.has_slots()
                           ? groups.end()
                           : std::ranges::find(groups, server_link, &renewal_group::server_link);
    auto& target = group == groups.end() ? groups.emplace_back(server_link) : *group;
    target.indices.push_back(index);
}

asio::awaitable<void> lock_base::renew_with_script(topology& servers, std::string_view key,
                                                   const renewal_call& call, renewal_batch& batch,
                                                   std::span<const std::size_t> indices) {
    auto give_up_at = now();
    for (const auto index : indices)
        give_up_at = std::max(give_up_at, batch.renewals()[index].useful_until);
    // A connection may have to be made first. The lease counts from the earliest time at which the
    // request can have been sent.
    const auto sent_at = now();
    try {
        const auto reply = co_await run_script(servers, key, call, no_words, give_up_at,
                                               prelude::none, nullptr, &known_scripts_);
        if (reply.type == reply::kind::error) co_return;
        const auto outcomes = call.read(reply);
        const auto& server_link = link_of(key);
        for (std::size_t i = 0; i < indices.size(); ++i) {
            const auto& requested = batch.renewals()[indices[i]];
            const bool has_ended = outcomes[i] == renewal::outcome::refused ||
                                   outcomes[i] == renewal::outcome::missing;
            const auto outcome =
                has_ended ? refusal_of(server_link, requested, outcomes[i]) : outcomes[i];
            batch.settle(indices[i], outcome, sent_at + requested.ttl - drift(requested.ttl));
        }
    } catch (const std::exception& e) {
        log(std::string("a renewal was not answered: ") + e.what());
    }
}

void lock_base::check_room_for_undo(const link& server_link) {
    if (!undos_.of(server_link).is_full()) return;
    throw error(errc::unavailable,
                std::to_string(bounds_.max_undos) +
                    " earlier requests had no answer and are still being undone; ask again when "
                    "the server answers.");
}

// A READONLY or MOVED reply does not end the repetition: the hold may still exist when the replica
// is a master again, or the slot is back.
asio::awaitable<void> lock_base::retry_release(std::string key, const request_sender& send,
                                               duration ttl) {
    const operation_guard operation(tasks_);
    const auto deadline = now() + ttl;
    core::back_off pauses(time(), bounds_.pauses());
    interruptible_pause retry_pause(tasks_);
    while (now() < deadline) {
        const bool is_open =
            co_await retry_pause.wait_until(std::min(deadline, now() + pauses.next_pause()));
        if (!is_open || made_in_.is_forked()) co_return;
        try {
            co_await connected_link_of(key, deadline);
            const auto reply = co_await send(deadline);
            if (reply.type != reply::kind::error || !may_succeed_later(reply.text)) co_return;
        } catch (const error&) {}
    }
}

bool is_wrong_type(const reply& reply) {
    return reply.type == reply::kind::error && reply.text.find("WRONGTYPE") != std::string::npos;
}

}  // namespace pawl::redis
