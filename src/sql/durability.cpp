// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Between the grant and the caller: a commit of this client, after the grant.
#include "lock_client.hpp"

#include <algorithm>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::sql {
namespace {

constexpr duration longest_confirmation = 5s;

}  // namespace

// The grant may be another client's commit, which a server shows before it is on the disk, or whose
// wait for a standby was cancelled. A server writes all commits in one order, so an answered
// renewal is at least as durable as the setting, and the grant before it as well.
asio::awaitable<void> lock_client::confirm_durability(std::span<const hold* const> holds,
                                                      durability wanted, time_point give_up_at) {
    const core::in_flight::guard operation(operations_);
    const auto& first = holds.front()->claim;
    const auto limit = std::min({give_up_at > now() ? give_up_at : try_deadline(),
                                 now() + longest_confirmation, now() + first.ttl});
    const auto used = co_await sessions_->get(limit);
    co_await sessions_->database().check_durability(*used, wanted, limit);
    std::vector<renewal> renewals;
    for (const auto* each : holds)
        renewals.push_back({.held = each, .ttl = each->claim.ttl, .useful_until = limit});
    const call request = renew_call(caller_on(*used), renewals);
    const auto answer = co_await run_on(used, request, limit);
    if (answer.size() != holds.size()) throw unexpected_answer("renew");
    for (std::size_t i = 0; i < answer.size(); ++i)
        if (text_in(answer[i], 0) != "x")
            throw error(errc::lost, "The lock '" + holds[i]->claim.name +
                                        "' was lost before it was durable; try again.");
}

}  // namespace pawl::sql
