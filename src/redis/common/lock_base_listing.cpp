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

topology& lock_base::listing_servers() {
    if (!listing_servers_) listing_servers_ = std::make_unique<separate_servers>(connect_);
    return **listing_servers_;
}

// SCAN may return a key more than once, hence the set. A reply with long names of other programs
// may be too large for the connection, so the second try asks for small parts. It begins anew,
// because another server may answer.
asio::awaitable<void> lock_base::scan_server(link& server_link, std::set<std::string>& into,
                                             const std::string& subject, const std::string& glob,
                                             const std::string& type) {
    // A name of 512 bytes, each in an escape of three, and the template.
    constexpr std::size_t longest_key = 4096;
    constexpr std::string_view small_part = "10";
    std::set<std::string> found_keys;
    std::string cursor = "0";
    std::string_view part = "1000";
    const auto deadline = now() + bounds_.max_scan_time;
    for (std::size_t requests = 0; requests < bounds_.max_scan_requests && now() < deadline;
         ++requests) {
        const std::array<std::string_view, 8> words{"SCAN",  cursor, "MATCH", glob,
                                                    "COUNT", part,   "TYPE",  type};
        reply answer;
        try {
            answer = co_await server_link.exec(words, reply_deadline());
        } catch (const connection_lost&) {
            if (std::exchange(part, small_part) == small_part) throw;
            cursor = "0";
            continue;
        }
        throw_if_error(answer, subject);
        if (answer.items.size() != 2)
            throw error(errc::protocol, subject +
                                            ": an unexpected reply to SCAN; run `pawl doctor` to "
                                            "see what kind of server this is.");
        for (const auto& key : answer.items[1].items)
            if (key.text.size() <= longest_key) found_keys.insert(key.text);
        cursor = answer.items[0].text;
        if (cursor == "0") {
            into.merge(found_keys);
            co_return;
        }
        if (found_keys.size() > bounds_.max_scanned_keys) break;
    }
    throw error(errc::protocol, subject + ": the list of keys that match '" + glob +
                                    "' has no end, not even after " +
                                    std::to_string(bounds_.max_scan_time / 1s) +
                                    " s, or more than " + std::to_string(bounds_.max_scanned_keys) +
                                    " keys; list a longer prefix.");
}

asio::awaitable<void> lock_base::scan_or_note(link& server_link, key_listing& into,
                                              const std::string& glob, const std::string& type) {
    const auto subject = describe(options_);
    try {
        co_await scan_server(server_link, into.keys, subject, glob, type);
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
    co_await run_all(std::move(requests));
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
