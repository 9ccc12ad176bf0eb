// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Renewals of a batch: which of them share a request, and what the reply to it means.
#pragma once

#include "../topology/follow_key.hpp"
#include "core/util/spi.hpp"
#include "renewal_call.hpp"
#include "server_access.hpp"
#include "server_watch.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace pawl::redis {

// Renewals that one request can contain: indices into a batch.
struct renewal_group {
    const link* server_link;
    std::vector<std::size_t> indices;
};

// Adds the index to the group of the key's server, or where keys move one by one, to a group of its
// own.
void add_to_group(std::vector<renewal_group>& groups, const topology& servers, std::string_view key,
                  std::size_t index);

// As `run_script`. A script whose text the server may lack is sent by its text: the deadline of a
// renewal leaves no time for a second round trip.
[[nodiscard]] boost::asio::awaitable<answer> send_renewals(server_access& access, topology& servers,
                                                           std::string_view key,
                                                           const renewal_call& call,
                                                           time_point give_up_at);

// Used on one strand.
class renewals {
public:
    // The arguments must outlive the object.
    renewals(server_access& access, const server_watch& watch) noexcept
        : access_(access), watch_(watch) {}

    // Settles the renewals of the batch with these indices, in the order in which they were added
    // to the call. The arguments must outlive the operation.
    boost::asio::awaitable<void> renew(topology& servers, std::string_view key,
                                       const renewal_call& call, renewal_batch& batch,
                                       std::span<const std::size_t> indices);
    // The outcome of a renewal for which a server of this topology has answered that the hold has
    // ended.
    [[nodiscard]] renewal::outcome refusal_of(
        const topology& servers, std::string_view key, const answer& from, const renewal& refused,
        renewal::outcome refusal = renewal::outcome::refused) const;

private:
    server_access& access_;
    const server_watch& watch_;
};

}  // namespace pawl::redis
