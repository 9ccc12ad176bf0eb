// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The addresses at which a link looks for its server: first that of the last server, then those of
// the host's name. And whether a server is the one of the last connection. Decides without I/O.
#pragma once

#include "../../net/address.hpp"

#include <optional>
#include <string>
#include <utility>

namespace pawl::redis {

// Used on one strand.
class server_addresses {
public:
    // Another endpoint has other addresses, and another server than the last one is no error there.
    void forget() noexcept;

    [[nodiscard]] bool has_server() const noexcept { return server_.has_value(); }
    [[nodiscard]] bool has_resolved() const noexcept { return !resolved_.empty(); }

    // The result of a look-up, for the next attempt.
    void set_resolved(net::addresses resolved) noexcept { resolved_ = std::move(resolved); }
    void clear_resolved() noexcept { resolved_.clear(); }
    [[nodiscard]] net::addresses take_resolved() noexcept { return std::exchange(resolved_, {}); }
    // The addresses to try, in order. `resolved`: those of the host's name; may be empty.
    [[nodiscard]] net::addresses in_order(net::addresses resolved) const;
    // True: a client that is connected to `connected` must follow the name, which does not lead to
    // the last server any more.
    [[nodiscard]] bool must_follow(const net::addresses& resolved,
                                   const net::address& connected) const;

    // True: the server is at the address of the last one. A restarted server has a new run id
    // there, which is remembered.
    [[nodiscard]] bool is_at_known_address(const net::address& server_address,
                                           const std::string& run_id);
    // True: a server with this run id, at another address, is another server than the last one.
    [[nodiscard]] bool is_replaced_by(const std::string& run_id) const;
    // Of the last accepted connection; there must be one: see `has_server`.
    [[nodiscard]] const net::address& server() const noexcept { return server_->server_address; }
    void accept(const net::address& server_address, const std::string& run_id) {
        server_ = known_server{server_address, run_id};
    }

private:
    struct known_server {
        net::address server_address;
        std::string run_id;
    };

    std::optional<known_server> server_;  // of the last accepted connection
    net::addresses resolved_;             // the newest result of a look-up that was not tried yet
};

}  // namespace pawl::redis
