// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The list of the locks of all servers. A server that does not answer leaves out its own only.
#pragma once

#include "../topology/separate_servers.hpp"
#include "client_tasks.hpp"
#include "core/util/spi.hpp"
#include "server_access.hpp"

#include <pawl/error.hpp>

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pawl::redis {

// What a list has collected.
struct key_listing {
    std::set<std::string> keys;
    // Of the servers that give no list. They are not asked again.
    std::map<const link*, error> failures{};
};

// Uses connections of its own: the replies contain the names of other programs' keys, and a reply
// that is too large ends its connection. Used on one strand, except for the destructor, which any
// thread may call after `close`.
class lock_listing {
public:
    using filter = std::function<bool(const lock_info&)>;

    // `locks` inspects a lock that was found. The references must outlive the object. Connects when
    // the first request needs it.
    lock_listing(server_access& access, client_tasks& tasks, backend& locks, key_function key_of)
        : access_(access), tasks_(tasks), locks_(locks), key_of_(std::move(key_of)) {}

    // Adds all keys of that type that match, on all servers. Throws if every server has failed:
    // errc::protocol when a server's list has no end.
    boost::asio::awaitable<void> scan(key_listing& into, std::string glob, std::string type);
    // The locks of these names that the filter accepts. Throws `incomplete_list` if some servers
    // have failed.
    boost::asio::awaitable<std::vector<lock_info>> inspect_all(key_listing& listed,
                                                               std::set<std::string> names,
                                                               filter is_shown);
    [[nodiscard]] static bool is_held(const lock_info& info) noexcept {
        return info.held_by.has_value();
    }

    boost::asio::awaitable<void> close(time_point give_up_at);

private:
    [[nodiscard]] topology& servers();
    boost::asio::awaitable<void> scan_or_note(link& server_link, key_listing& into,
                                              const std::string& glob, const std::string& type);

    server_access& access_;
    client_tasks& tasks_;
    backend& locks_;
    const key_function key_of_;
    std::unique_ptr<separate_servers> servers_;  // made by the first listing
};

}  // namespace pawl::redis
