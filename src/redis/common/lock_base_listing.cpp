// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The list of the locks of all servers. A server that does not answer leaves out its own only.
#include "../transport/options.hpp"
#include "key_scan.hpp"
#include "lock_base.hpp"

#include <pawl/incomplete_list.hpp>

#include <utility>

namespace asio = boost::asio;

namespace pawl::redis {

topology& lock_base::listing_servers() {
    if (!listing_servers_) listing_servers_ = std::make_unique<separate_servers>(connect_);
    return **listing_servers_;
}

asio::awaitable<void> lock_base::scan_or_note(link& server_link, key_listing& into,
                                              const std::string& glob, const std::string& type) {
    const auto subject = describe(options_);
    const key_scan all_keys{.subject = subject,
                            .glob = glob,
                            .type = type,
                            .bounds = bounds_,
                            .time = time(),
                            .reply_timeout = options_.reply_timeout};
    try {
        co_await all_keys.run(server_link, into.keys);
    } catch (const error& failure) {
        into.failures.try_emplace(&server_link, failure);
    }
}

asio::awaitable<void> lock_base::scan(key_listing& into, std::string glob, std::string type) {
    const auto servers = co_await known_links_of(listing_servers(), reply_deadline());
    std::vector<asio::awaitable<void>> requests;
    for (auto* const each : servers)
        if (!into.failures.contains(each))
            requests.push_back(scan_or_note(*each, into, glob, type));
    co_await tasks_.run_all(std::move(requests));
    if (into.failures.size() >= servers.size() && !into.failures.empty())
        throw error(into.failures.begin()->second);
}

asio::awaitable<std::vector<lock_info>> lock_base::inspect_all(key_listing& listed,
                                                               std::set<std::string> names,
                                                               lock_filter is_shown) {
    std::vector<lock_info> infos;
    const auto& servers = listing_servers();
    for (const auto& name : names) {
        const auto* const server_link = &servers.link_of(key_of(name));
        if (listed.failures.contains(server_link)) continue;
        try {
            auto info = co_await inspect(name);
            if (is_shown(info)) infos.push_back(std::move(info));
        } catch (const error& failure) {
            if (failure.reason() == errc::wrong_type) continue;  // a key of another program
            if (servers.links().size() < 2) throw;
            listed.failures.try_emplace(server_link, failure);
        }
    }
    if (listed.failures.empty()) co_return infos;
    const auto& first = listed.failures.begin()->second;
    // Nodes may refuse everything because another one is away (CLUSTERDOWN).
    if (infos.empty() && listed.failures.size() >= servers.links().size()) throw error(first);
    throw incomplete_list(first.reason(),
                          "The list lacks the locks of " + std::to_string(listed.failures.size()) +
                              " of " + std::to_string(servers.links().size()) +
                              " servers: " + first.what(),
                          std::move(infos));
}

}  // namespace pawl::redis
