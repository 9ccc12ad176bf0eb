// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The list of the locks of all servers. A server that does not answer leaves out its own only.
#include "../transport/options.hpp"
#include "../transport/server_errors.hpp"
#include "lock_base.hpp"

#include <pawl/incomplete_list.hpp>

#include <array>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {

// SCAN may return a key more than once, hence the set.
asio::awaitable<void> lock_base::scan_server(link& server_link, key_listing& into,
                                         const std::string& glob, const std::string& type) {
    std::set<std::string> found_keys;
    std::string cursor = "0";
    const auto deadline = now() + bounds_.max_scan_time;
    for (std::size_t requests = 0; requests < bounds_.max_scan_requests && now() < deadline;
         ++requests) {
        const std::array<std::string_view, 8> words{"SCAN",  cursor, "MATCH", glob,
                                                    "COUNT", "1000", "TYPE",  type};
        const auto reply = co_await server_link.exec(words, reply_deadline());
        throw_if_error(reply, describe(options_));
        if (reply.items.size() != 2)
            throw error(errc::protocol,
                        describe(options_) +
                            ": an unexpected reply to SCAN; run `pawl doctor` to see "
                            "what kind of server this is.");
        for (const auto& key : reply.items[1].items)
            found_keys.insert(key.text);
        cursor = reply.items[0].text;
        if (cursor == "0") {
            into.keys.merge(found_keys);
            co_return;
        }
        if (found_keys.size() > bounds_.max_scanned_keys) break;
    }
    throw error(errc::protocol, describe(options_) + ": the list of keys that match '" + glob +
                                    "' has no end, not even after " +
                                    std::to_string(bounds_.max_scan_time / 1s) +
                                    " s, or more than " + std::to_string(bounds_.max_scanned_keys) +
                                    " keys; list a longer prefix.");
}

asio::awaitable<void> lock_base::scan_or_note(link& server_link, key_listing& into,
                                              const std::string& glob, const std::string& type) {
    try {
        co_await scan_server(server_link, into, glob, type);
    } catch (const error& failure) {
        into.failures.try_emplace(&server_link, failure);
    }
}

asio::awaitable<void> lock_base::scan(key_listing& into, std::string glob, std::string type) {
    const auto servers = co_await known_links_of(*servers_, reply_deadline());
    std::vector<asio::awaitable<void>> requests;
    for (auto* const each : servers)
        if (!into.failures.contains(each))
            requests.push_back(scan_or_note(*each, into, glob, type));
    co_await run_all(std::move(requests));
    if (into.failures.size() >= servers.size() && !into.failures.empty())
        throw error(into.failures.begin()->second);
}

asio::awaitable<std::vector<lock_info>> lock_base::inspect_all(key_listing& listed,
                                                               std::set<std::string> names,
                                                               lock_filter is_shown) {
    std::vector<lock_info> infos;
    for (const auto& name : names) {
        const auto* const server_link = &link_of(key_of(name));
        if (listed.failures.contains(server_link)) continue;
        try {
            auto info = co_await inspect(name);
            if (is_shown(info)) infos.push_back(std::move(info));
        } catch (const error& failure) {
            if (failure.reason() == errc::wrong_type) continue;  // a key of another program
            if (servers_->links().size() < 2) throw;
            listed.failures.try_emplace(server_link, failure);
        }
    }
    if (listed.failures.empty()) co_return infos;
    const auto& first = listed.failures.begin()->second;
    // Nodes may refuse everything because another one is away (CLUSTERDOWN).
    if (infos.empty() && listed.failures.size() >= servers_->links().size()) throw error(first);
    throw incomplete_list(first.reason(),
                          "The list lacks the locks of " + std::to_string(listed.failures.size()) +
                              " of " + std::to_string(servers_->links().size()) +
                              " servers: " + first.what(),
                          std::move(infos));
}

}  // namespace pawl::redis
