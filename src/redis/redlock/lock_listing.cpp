// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_listing.hpp"

#include "node_failures.hpp"

#include "../common/key_scan.hpp"

#include <utility>

namespace asio = boost::asio;

namespace pawl::redlock {

redis::topology& lock_listing::servers() {
    if (!servers_) servers_ = std::make_unique<redis::separate_servers>(connect_);
    return **servers_;
}

asio::awaitable<void> lock_listing::close(time_point give_up_at) {
    if (servers_) co_await (*servers_)->close(give_up_at);
}

asio::awaitable<void> lock_listing::scan_at(const std::string& glob, std::size_t node,
                                            std::set<std::string>& into, node_failures& failures) {
    if (!nodes_.link_of(node).connected())
        co_return failures.add(
            node, error(errc::unreachable, client_.membership.diagnosis().objection_of(node)));
    const redis::key_scan keys{.subject = nodes_.name_of(node),
                               .glob = glob,
                               .type = client_.layout->key_type(),
                               .bounds = bounds_,
                               .time = *client_.context.time,
                               .reply_timeout = client_.reply_timeout};
    try {
        co_await keys.run(*servers().links()[node], into);
    } catch (const error& e) {
        failures.add(node, e);  // a lock that a majority has is in another node's list, too
    }
}

asio::awaitable<std::vector<lock_info>> lock_listing::list(std::string_view prefix) {
    co_await inspection_.require_majority();
    const auto glob = scheme_.glob(prefix);
    node_failures failures(nodes_.size());
    std::set<std::string> keys;
    std::vector<asio::awaitable<void>> requests;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        requests.push_back(scan_at(glob, i, keys, failures));
    co_await client_.tasks.join(std::move(requests));
    inspection_.require_answers(
        failures, "Fewer than " + std::to_string(nodes_.majority()) + " nodes list their locks: ");
    std::set<std::string> names;
    for (const auto& key : keys)
        if (auto name = scheme_.name_of(key)) names.insert(std::move(*name));
    std::vector<lock_info> locks_held;
    for (const auto& name : names) {
        auto info = co_await inspection_.inspect(name);
        if (info.held_by) locks_held.push_back(std::move(info));
    }
    co_return locks_held;
}

}  // namespace pawl::redlock
