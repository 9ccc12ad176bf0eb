// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "key_scan.hpp"

#include "../transport/server_errors.hpp"

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {

// SCAN may return a key more than once, hence the set. A reply with long names of other programs
// may be too large for the connection, so the second try asks for small parts. It begins anew,
// because another server may answer.
asio::awaitable<void> key_scan::run(link& server_link, std::set<std::string>& into) const {
    // A name of 512 bytes, each in an escape of three, and the template.
    constexpr std::size_t longest_key = 4096;
    constexpr std::string_view small_part = "10";
    std::set<std::string> found_keys;
    std::string cursor = "0";
    std::string_view part = "1000";
    const auto deadline = time.now() + bounds.max_scan_time;
    for (std::size_t requests = 0; requests < bounds.max_scan_requests && time.now() < deadline;
         ++requests) {
        const std::array<std::string_view, 8> words{"SCAN",  cursor, "MATCH", glob,
                                                    "COUNT", part,   "TYPE",  type};
        reply answer;
        try {
            answer = co_await server_link.exec(words, time.now() + reply_timeout);
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
        if (found_keys.size() > bounds.max_scanned_keys) break;
    }
    throw error(errc::protocol, subject + ": the list of keys that match '" + glob +
                                    "' has no end, not even after " +
                                    std::to_string(bounds.max_scan_time / 1s) +
                                    " s, or more than " + std::to_string(bounds.max_scanned_keys) +
                                    " keys; list a longer prefix.");
}

}  // namespace pawl::redis
