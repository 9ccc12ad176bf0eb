// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "calls/release_calls.hpp"

#include <vector>

namespace asio = boost::asio;

namespace pawl::redis::native {

asio::awaitable<void> locks::renew_at(topology& servers, renewal_batch& batch) {
    std::vector<keys> all_keys;
    all_keys.reserve(batch.renewals().size());
    std::vector<renewal_group> exclusive;
    std::vector<renewal_group> non_exclusive;
    for (std::size_t i = 0; i < batch.renewals().size(); ++i) {
        const auto& held = batch.renewals()[i].held->claim;
        auto& groups = held.mode == lock_mode::exclusive ? exclusive : non_exclusive;
        const auto& lock_keys = all_keys.emplace_back(scripts_.scheme().keys_of(held.name));
        add_to_group(groups, servers, lock_keys.lock(), i);
    }
    std::vector<asio::awaitable<void>> requests;
    for (auto& each : exclusive)
        requests.push_back(renew_group<renew_call>(servers, batch, all_keys, std::move(each)));
    for (auto& each : non_exclusive)
        requests.push_back(
            renew_group<renew_non_exclusive_call>(servers, batch, all_keys, std::move(each)));
    co_await tasks_.run_all(std::move(requests));
}

template <class Call>
asio::awaitable<void> locks::renew_group(topology& servers, renewal_batch& batch,
                                         std::span<const keys> all_keys, renewal_group group) {
    Call call(group.indices.size());
    for (const auto index : group.indices) {
        const auto& each = batch.renewals()[index];
        call.add(all_keys[index], each.held->grant.stored_value, milliseconds_text(each.ttl));
    }
    co_await renewals_.renew(servers, all_keys[group.indices.front()].lock(), call, batch,
                             group.indices);
}

}  // namespace pawl::redis::native
