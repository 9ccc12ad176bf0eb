// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A request for a lock whose outcome may become unknown.
#pragma once

#include "undo_queue.hpp"

#include <cstdint>
#include <utility>

namespace pawl::redis {

// An attempt hands an undo to the undo queue if it is destroyed before its outcome is known, or
// while it may have a place in the lock's queue. That needs no memory.
class acquire_attempt {
public:
    enum class state : std::uint8_t {
        not_sent,
        sent,             // the server may execute the request
        queued,           // the server has a queue entry for the request
        settled,          // the server has no trace of the request, or only the grant
        held_but_queued,  // granted; the server may also have a queue entry or another grant
    };

    // `undo` removes every trace of the request from the server. `lease`: the longest lease that
    // the request can take.
    acquire_attempt(undo_queue::undo undo, duration lease)
        : acquire_attempt(undo_queue::prepare(std::move(undo)), lease) {}
    acquire_attempt(undo_queue::prepared_entry undo, duration lease) noexcept
        : undo_(std::move(undo)), lease_(lease) {}
    ~acquire_attempt() {
        if (state_ != state::not_sent && state_ != state::settled)
            undos_->add(std::move(undo_), lease_, sent_);
    }
    acquire_attempt(const acquire_attempt&) = delete;
    acquire_attempt& operator=(const acquire_attempt&) = delete;

    // `undos`: the queue of the link over which the request is sent next.
    void about_to_send(undo_queue& undos) noexcept {
        state_ = state::sent;
        undos_ = &undos;
        sent_ = undos.present_origin();
    }
    void set_state(state next) noexcept { state_ = next; }
    [[nodiscard]] state current() const noexcept { return state_; }
    // The undo of a settled attempt, which does not need it; otherwise nothing.
    [[nodiscard]] undo_queue::prepared_entry take_unused_undo() noexcept {
        if (state_ != state::settled) return {};
        return std::move(undo_);
    }
    [[nodiscard]] bool is_unanswered() const noexcept { return state_ == state::sent; }
    [[nodiscard]] bool has_queue_entry() const noexcept { return state_ == state::queued; }

private:
    undo_queue* undos_ = nullptr;  // null before `about_to_send`
    undo_queue::prepared_entry undo_;
    const duration lease_;
    undo_queue::origin sent_;
    state state_ = state::not_sent;
};

}  // namespace pawl::redis
