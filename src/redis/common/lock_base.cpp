// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_base.hpp"

#include <algorithm>
#include <utility>

namespace asio = boost::asio;

namespace pawl::redis {

lock_base::lock_base(const options& server_options, backend_context context,
                     const topology_factory& connect, const std::string& channel,
                     const limits& bounds)
    : server_access(server_options, std::move(context), connect, *this, channel, bounds),
      tasks_(context_),
      watch_(context_),
      connect_(connect) {}

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

}  // namespace pawl::redis
