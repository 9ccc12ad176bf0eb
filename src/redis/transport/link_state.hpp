// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Which state of a reconnecting_link follows which. Decides without I/O.
#pragma once

#include <cstdint>

namespace pawl::redis {

// Used on one strand.
class link_state {
public:
    // True: no coroutine makes connections, and a request may start it.
    [[nodiscard]] bool is_idle() const noexcept { return stage_ == stage::idle; }
    // True: the handshake of the present connection has succeeded. A link that is being closed
    // stays ready until its connection has ended.
    [[nodiscard]] bool is_ready() const noexcept {
        return stage_ == stage::ready || stage_ == stage::closing;
    }
    // True: `close` was called. That never changes again.
    [[nodiscard]] bool is_closed() const noexcept {
        return stage_ == stage::closing || stage_ == stage::closed;
    }

    // A coroutine begins to make connections.
    void start() noexcept {
        if (stage_ == stage::idle) stage_ = stage::connecting;
    }
    // The coroutine has ended.
    void stop() noexcept { stage_ = is_closed() ? stage::closed : stage::idle; }
    // The handshake has succeeded.
    void become_ready() noexcept {
        if (stage_ == stage::connecting) stage_ = stage::ready;
    }
    // The connection has ended, or none could be made. True: the link was ready.
    bool end_connection() noexcept {
        const bool was_ready = is_ready();
        if (was_ready) stage_ = is_closed() ? stage::closed : stage::connecting;
        return was_ready;
    }
    void close() noexcept { stage_ = is_ready() ? stage::closing : stage::closed; }

private:
    enum class stage : std::uint8_t {
        idle,        // no request has asked for a connection
        connecting,  // attempts follow one another
        ready,
        closing,  // `close` was called, and the connection that was ready has not ended yet
        closed,   // `close` was called, and no connection is ready
    };
    stage stage_ = stage::idle;
};

}  // namespace pawl::redis
