// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The leases of a client, each with its guard: a key that every acquire compares and every undo
// changes, so that an acquire that arrives after its undo has no effect.
#pragma once

#include "keys.hpp"
#include "transport/server_link.hpp"

#include "../core/store/session_pool.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace pawl::etcd {

// Used on one strand.
class lease_sessions final : public core::session_requests {
public:
    lease_sessions(std::shared_ptr<server_link> link, key_scheme keys,
                   const backend_context& context)
        : link_(std::move(link)), keys_(std::move(keys)), context_(context) {}

    boost::asio::awaitable<std::string> open(duration ttl, time_point give_up_at) override;
    boost::asio::awaitable<bool> send_heartbeat(const core::pooled_session& proved,
                                                time_point give_up_at) override;
    boost::asio::awaitable<void> end(const core::pooled_session& ended,
                                     time_point give_up_at) override;
    void on_session_end(const core::pooled_session& ended) noexcept override;

    // The revision of the session's guard, as far as this client knows it; 0: there is no session.
    [[nodiscard]] std::int64_t guard_of(std::string_view session) const noexcept;
    void set_guard(std::string_view session, std::int64_t revision) noexcept;

    // Called for each session that has been made, and for each that is over.
    std::function<void(const std::string& session)> on_open, on_end;

private:
    const std::shared_ptr<server_link> link_;
    const key_scheme keys_;
    const backend_context context_;
    std::map<std::string, std::int64_t, std::less<>> guards_;
};

}  // namespace pawl::etcd
