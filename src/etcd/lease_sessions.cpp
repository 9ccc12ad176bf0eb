// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lease_sessions.hpp"

#include "transport/messages.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace asio = boost::asio;

namespace pawl::etcd {
namespace {

// Chosen here, so that the lease of a lost answer can be ended.
std::int64_t random_lease(runtime& time) {
    std::array<std::byte, 8> raw{};
    time.random(raw);
    std::uint64_t bits = 0;
    for (const auto byte : raw)
        bits = bits << 8 | std::to_integer<std::uint64_t>(byte);
    return static_cast<std::int64_t>(bits >> 1 | 1);
}

}  // namespace

asio::awaitable<std::string> lease_sessions::open(duration ttl, time_point give_up_at) {
    const auto lease = random_lease(*context_.time);
    auto id = session_id(lease);
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(ttl).count();
    co_await link_->call(methods::lease_grant, lease_grant_request(lease, seconds), give_up_at);
    const transaction request{.success = {operation::put(keys_.guard(id), {}, lease)}};
    std::optional<error> failure;
    try {
        const auto answer = co_await link_->call(methods::txn, request.encode(), give_up_at);
        guards_[id] = read_transaction(answer).revision;
    } catch (const error& failed) {
        failure = failed;
    }
    if (failure) {
        try {
            co_await link_->call(methods::lease_revoke, lease_request(lease), give_up_at);
        } catch (const error&) {}  // it ends by itself
        throw error(*failure);
    }
    if (on_open) on_open(id);
    co_return id;
}

// The stream of keep-alives with one request is a call as any other.
asio::awaitable<bool> lease_sessions::send_heartbeat(const core::pooled_session& proved,
                                                     time_point give_up_at) {
    const auto answer = co_await link_->call(methods::lease_keep_alive,
                                             lease_request(lease_of(proved.id())), give_up_at);
    co_return read_lease_seconds(answer) > 0;
}

asio::awaitable<void> lease_sessions::end(const core::pooled_session& ended,
                                          time_point give_up_at) {
    co_await link_->call(methods::lease_revoke, lease_request(lease_of(ended.id())), give_up_at);
}

void lease_sessions::on_session_end(const core::pooled_session& ended) noexcept {
    guards_.erase(ended.id());
    if (on_end) on_end(ended.id());
}

std::int64_t lease_sessions::guard_of(std::string_view session) const noexcept {
    const auto at = guards_.find(session);
    return at == guards_.end() ? 0 : at->second;
}

// Answers may come in another order than that of the revisions.
void lease_sessions::set_guard(std::string_view session, std::int64_t revision) noexcept {
    const auto at = guards_.find(session);
    if (at != guards_.end()) at->second = std::max(at->second, revision);
}

}  // namespace pawl::etcd
