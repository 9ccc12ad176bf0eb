// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Exclusive locks and readers over a majority of nodes; docs/backends/redlock.md describes the
// protocol. Asking the nodes, waiting, renewals and releases are classes of their own; acquire.cpp
// has the rounds of an acquire, and examine.cpp the report on the nodes.
#pragma once

#include "../common/backends.hpp"
#include "attempts.hpp"
#include "core/util/spi.hpp"
#include "forced_releases.hpp"
#include "lock_factory.hpp"
#include "lock_inspection.hpp"
#include "lock_listing.hpp"
#include "members.hpp"
#include "node_client.hpp"
#include "releases.hpp"
#include "renewals.hpp"
#include "round_owners.hpp"
#include "waiting_line.hpp"

#include "../common/client_tasks.hpp"
#include "../common/keys.hpp"
#include "../common/limits.hpp"
#include "../common/server_watch.hpp"
#include "../topology/topology.hpp"

#include "../../core/util/back_off.hpp"

#include <pawl/redlock.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redlock {

class locks final : public backend, private redis::link::listener, private background {
public:
    locks(const options& node_options, backend_context context,
          const std::vector<redis::topology_factory>& nodes, const redis::limits& bounds);
    ~locks() override { servers_->forget_listener(); }
    locks(const locks&) = delete;
    locks& operator=(const locks&) = delete;

    boost::asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                         time_point give_up_at) override;
    boost::asio::awaitable<std::vector<grant>> acquire_batch(std::span<const claim> claims,
                                                             time_point give_up_at) override;
    boost::asio::awaitable<release_result> release(const hold& held) override;
    boost::asio::awaitable<std::optional<grant>> downgrade(const hold& held) override {
        return renewals_.downgrade(held);
    }
    boost::asio::awaitable<lock_info> inspect(std::string_view name) override {
        return inspection_.inspect(name);
    }
    boost::asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override {
        return listing_.list(prefix);
    }
    boost::asio::awaitable<bool> force_release(std::string_view name,
                                               fencing_token expected) override {
        return forced_releases_.release(name, expected);
    }
    boost::asio::awaitable<examination> examine() override;
    boost::asio::awaitable<void> close(time_point give_up_at) override;
    boost::asio::awaitable<void> renew(renewal_batch& batch) override {
        return renewals_.renew(batch);
    }
    std::size_t renewals_at_once() const noexcept override { return bounds_.renewals_per_script; }
    // A round of renewals itself asks the nodes again and again until the deadline.
    std::size_t unanswered_renewals() const noexcept override { return 1; }
    bool resumes_on_strand() const noexcept override { return true; }
    std::string unreachable_reason(std::string_view name) const override;
    spi::capabilities capabilities() const noexcept override;
    std::string capability_hint(lock_mode mode, bool fair) const override;

    // The nodes, for operators.
    [[nodiscard]] members& set() noexcept { return members_; }

private:
    locks(const options& node_options, backend_context context,
          const std::vector<redis::topology_factory>& nodes, const redis::limits& bounds,
          const std::string& client);

    runtime& time() const noexcept { return *context_.time; }
    time_point now() const noexcept { return context_.time->now(); }
    // For an acquire. One that waits gives up at `give_up_at`.
    time_point reply_deadline(bool is_blocking, time_point give_up_at) const;
    boost::asio::awaitable<void> pause(duration length);
    // One acquire, over all its attempts.
    struct acquire_try;
    // The error of an attempt, with the time from which another one may succeed, if that is known.
    [[nodiscard]] error may_be_repeated(const error& trouble) const;
    [[nodiscard]] time_point next_attempt_after(const attempt_result& failed,
                                                core::back_off& poll_pauses);

    void spawn(boost::asio::awaitable<void> operation) override;
    boost::asio::awaitable<void> run_spawned(boost::asio::awaitable<void> operation);
    boost::asio::awaitable<void> join(
        std::vector<boost::asio::awaitable<void>> operations) override {
        return tasks_.run_all(std::move(operations));
    }
    boost::asio::awaitable<bool> pause_until(time_point when) override;
    bool is_closing() const noexcept override { return tasks_.is_closing(); }

    void on_message(std::string_view channel, std::string_view payload) override;
    void on_invalidate(std::string_view) override {}
    void on_connected(const redis::link& connected_link) override;
    void on_disconnected(const redis::link& ended) noexcept override {
        members_.on_disconnected(ended);
    }

    const options options_;
    const backend_context context_;
    const redis::limits bounds_;
    const redis::key_scheme scheme_;
    const set_parameters set_;
    const std::shared_ptr<redis::topology> servers_;
    redis::client_tasks tasks_;
    redis::server_watch watch_;
    members members_;
    const node_table& nodes_;
    node_client client_;
    const lock_factory lock_factory_;
    releases releases_;
    renewals renewals_;
    waiting_line line_;
    attempts attempts_;
    round_owners owners_;
    lock_inspection inspection_;
    lock_listing listing_;
    forced_releases forced_releases_;
};

}  // namespace pawl::redlock
