// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "renewals.hpp"

#include <algorithm>
#include <exception>
#include <string>

namespace asio = boost::asio;

namespace pawl::redis {

void add_to_group(std::vector<renewal_group>& groups, const topology& servers, std::string_view key,
                  std::size_t index) {
    const auto* server_link = &servers.link_of(key);
    const auto group = servers.has_slots()
                           ? groups.end()
                           : std::ranges::find(groups, server_link, &renewal_group::server_link);
    auto& target = group == groups.end() ? groups.emplace_back(server_link) : *group;
    target.indices.push_back(index);
}

asio::awaitable<answer> send_renewals(server_access& access, topology& servers,
                                      std::string_view key, const renewal_call& call,
                                      time_point give_up_at) {
    auto& texts = access.texts_at_servers();
    const auto compose_call = [&](const link& asked) {
        auto command = call.command({});
        if (!texts.contains(asked, call.code())) command.send_text();
        return command;
    };
    auto result = co_await follow_key(servers, key, give_up_at, compose_call);
    texts.add(*result.from, call.code());
    co_return result;
}

asio::awaitable<void> renewals::renew(topology& servers, std::string_view key,
                                      const renewal_call& call, renewal_batch& batch,
                                      std::span<const std::size_t> indices) {
    auto give_up_at = access_.now();
    for (const auto index : indices)
        give_up_at = std::max(give_up_at, batch.renewals()[index].useful_until);
    // A connection may have to be made first. The lease counts from the earliest time at which the
    // request can have been sent.
    const auto sent_at = access_.now();
    try {
        const auto reply = co_await send_renewals(access_, servers, key, call, give_up_at);
        if (reply.type == reply::kind::error) co_return;
        const auto outcomes = call.read(reply);
        for (std::size_t i = 0; i < indices.size(); ++i) {
            const auto& each = batch.renewals()[indices[i]];
            const bool has_ended = outcomes[i] == renewal::outcome::refused ||
                                   outcomes[i] == renewal::outcome::missing;
            const auto outcome =
                has_ended ? refusal_of(servers, key, reply, each, outcomes[i]) : outcomes[i];
            batch.settle(indices[i], outcome, sent_at + each.ttl - drift(each.ttl));
        }
    } catch (const std::exception& e) {
        access_.log(std::string("a renewal was not answered: ") + e.what());
    }
}

// The watch knows the client's own links, not those over which a hold is made durable.
renewal::outcome renewals::refusal_of(const topology& servers, std::string_view key,
                                      const answer& from, const renewal& refused,
                                      renewal::outcome refusal) const {
    const auto& watched =
        &servers == &access_.servers() ? *from.from : access_.servers().link_of(key);
    return watch_.was_confirmed_before_failover(watched, refused) ? renewal::outcome::failed_over
                                                                  : refusal;
}

}  // namespace pawl::redis
