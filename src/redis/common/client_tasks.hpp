// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The operations for whose end a client's `close` waits, and their pauses.
#pragma once

#include "core/util/spi.hpp"
#include "undo_queues.hpp"

#include "../../core/util/fork_mark.hpp"
#include "../../core/util/in_flight.hpp"
#include "../../core/util/wakeup.hpp"

#include <boost/asio/awaitable.hpp>

#include <list>
#include <vector>

namespace pawl::redis {

// Used on one strand. The context must outlive it.
class client_tasks {
public:
    explicit client_tasks(const backend_context& context)
        : context_(context), operations_(*context.time, context.strand) {}

    // `close` waits for the ends of the operations that have a guard here.
    [[nodiscard]] core::in_flight& operations() noexcept { return operations_; }

    // A pause within such an operation. `end_pauses` ends it early.
    class interruptible_pause {
    public:
        explicit interruptible_pause(client_tasks& owner)
            : owner_(owner),
              timer_(*owner.context_.time, owner.context_.strand),
              position_(owner.pauses_.insert(owner.pauses_.end(), &timer_)) {}
        ~interruptible_pause() { owner_.pauses_.erase(position_); }
        interruptible_pause(const interruptible_pause&) = delete;
        interruptible_pause& operator=(const interruptible_pause&) = delete;
        // False: the client closes.
        boost::asio::awaitable<bool> wait_until(time_point deadline) {
            if (!owner_.is_closing_) co_await timer_.wait_until(deadline);
            co_return !owner_.is_closing_;
        }

    private:
        client_tasks& owner_;
        core::wakeup timer_;
        const std::list<core::wakeup*>::iterator position_;
    };

    // Runs the operations at the same time, and ends with the last of them. The operations should
    // handle their exceptions: those of several operations are ignored.
    boost::asio::awaitable<void> run_all(std::vector<boost::asio::awaitable<void>> operations);
    // Waits until no operation is active and no undo is pending.
    boost::asio::awaitable<void> wait_until_idle(undo_queues& undos, time_point deadline);
    // After the wait for the operations and undos: the links close next.
    void end_pauses();
    [[nodiscard]] bool is_closing() const noexcept { return is_closing_; }
    [[nodiscard]] bool is_forked() const noexcept { return made_in_.is_forked(); }

private:
    const backend_context& context_;
    const core::fork_mark made_in_;
    core::in_flight operations_;
    std::list<core::wakeup*> pauses_;
    bool is_closing_ = false;
};

}  // namespace pawl::redis
