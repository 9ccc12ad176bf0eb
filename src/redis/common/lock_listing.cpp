// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_listing.hpp"

#include "../transport/options.hpp"
#include "key_scan.hpp"

#include <pawl/incomplete_list.hpp>

#include <utility>

namespace asio = boost::asio;

namespace pawl::redis {

topology& lock_listing::servers() {
    if (!servers_) servers_ = std::make_unique<separate_servers>(access_.connect());
    return **servers_;
}

asio::awaitable<void> lock_listing::scan_or_note(link& server_link, key_listing& into,
                                                 const std::string& glob, const std::string& type) {
    const auto subject = describe(access_.settings());
    const key_scan all_keys{.subject = subject,
                            .glob = glob,
                            .type = type,
                            .bounds = access_.bounds(),
                            .time = access_.time(),
                            .reply_timeout = access_.settings().reply_timeout};
    try {
        co_await all_keys.run(server_link, into.keys);
    } catch (const error& failure) {
        into.failures.try_emplace(&server_link, failure);
    }
}

asio::awaitable<void> lock_listing::scan(key_listing& into, std::string glob, std::string type) {
    const auto links = co_await known_links_of(servers(), access_.reply_deadline());
    std::vector<asio::awaitable<void>> requests;
    for (auto* const each : links)
        if (!into.failures.contains(each))
            requests.push_back(scan_or_note(*each, into, glob, type));
    co_await tasks_.run_all(std::move(requests));
    if (into.failures.size() >= links.size() && !into.failures.empty())
        throw error(into.failures.begin()->second);
}

asio::awaitable<std::vector<lock_info>> lock_listing::inspect_all(key_listing& listed,
                                                                  std::set<std::string> names,
                                                                  filter is_shown) {
    std::vector<lock_info> infos;
    const auto& all_servers = servers();
    for (const auto& name : names) {
        const auto* const server_link = &all_servers.link_of(key_of_(name));
        if (listed.failures.contains(server_link)) continue;
        try {
            auto info = co_await locks_.inspect(name);
            if (is_shown(info)) infos.push_back(std::move(info));
        } catch (const error& failure) {
            if (failure.reason() == errc::wrong_type) continue;  // a key of another program
            if (all_servers.links().size() < 2) throw;
            listed.failures.try_emplace(server_link, failure);
        }
    }
    if (listed.failures.empty()) co_return infos;
    const auto& first = listed.failures.begin()->second;
    // Nodes may refuse everything because another one is away (CLUSTERDOWN).
    if (infos.empty() && listed.failures.size() >= all_servers.links().size()) throw error(first);
    throw incomplete_list(first.reason(),
                          "The list lacks the locks of " + std::to_string(listed.failures.size()) +
                              " of " + std::to_string(all_servers.links().size()) +
                              " servers: " + first.what(),
                          std::move(infos));
}

asio::awaitable<void> lock_listing::close(time_point give_up_at) {
    if (servers_) co_await (*servers_)->close(give_up_at);
}

}  // namespace pawl::redis
