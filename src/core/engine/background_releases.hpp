// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The releases of a client: those in flight, those that are queued while the client closes, and
// those of lost leases. The members are in background_release_requests.cpp, which includes the
// engine.
#pragma once

#include "../lease/lease.hpp"
#include "../util/spi.hpp"
#include "closing.hpp"
#include "completion_executor.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

namespace pawl::core {

class engine;

// Used on the engine's strand.
class background_releases {
public:
    // The arguments must outlive the object; the first one is its engine.
    background_releases(engine& owner, const closing& stages,
                        const completion_executor& completions) noexcept
        : engine_(owner), closing_(stages), completions_(completions) {}
    background_releases(const background_releases&) = delete;
    background_releases& operator=(const background_releases&) = delete;

    // `finish` completes the handler.
    void add_handler(const std::shared_ptr<lease>& lease, lease::release_handler handler);
    // Sends or queues the release. If that fails, its handlers get `unknown`, and the hold, which
    // is not renewed any more, ends with its lease.
    void begin(const std::shared_ptr<lease>& lease) noexcept;
    // Releases what the service may still hold of a lost lease.
    void begin_after_loss(const std::shared_ptr<lease>& lease) noexcept;
    void finish(const std::shared_ptr<lease>& lease, release_result result) noexcept;
    // Gives up the queued releases at once. Otherwise each would fail on the closed connection.
    void drop_queued() noexcept;
    // False: `close` waits for a coroutine of this object.
    [[nodiscard]] bool are_idle() const noexcept { return releasers_ == 0; }

    // For the engine's `abandon`: nothing runs any more.
    [[nodiscard]] std::deque<std::shared_ptr<lease>> take_queued();
    void move_handlers_to(std::vector<lease::release_handler>& handlers);

private:
    class release_request;
    class releaser;

    void send_or_queue(const std::shared_ptr<lease>& lease);
    boost::asio::awaitable<void> send(std::shared_ptr<lease> lease);
    boost::asio::awaitable<void> send_queued(releaser counted);
    boost::asio::awaitable<void> release_lost(std::shared_ptr<lease> lease, releaser counted);

    engine& engine_;
    const closing& closing_;
    const completion_executor& completions_;
    lease::release_list being_released_;  // only leases with release handlers
    std::deque<std::shared_ptr<lease>> to_release_;
    std::size_t releasers_ = 0;        // the coroutines that `close` waits for: see `releaser`
    std::size_t release_senders_ = 0;  // those of them that send queued releases
};

}  // namespace pawl::core
