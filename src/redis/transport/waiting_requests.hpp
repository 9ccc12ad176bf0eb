// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The requests of a link: those that wait for a connection, the memory of their texts, and the
// watch over the replies.
#pragma once

#include "../../core/util/wakeup.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <list>
#include <string>
#include <utility>

namespace pawl::redis {

// The requests that wait for a connection, in the order of their calls. Used on one strand.
class connection_waiters {
public:
    // One of them, for as long as the object lives.
    class entry {
    public:
        entry(connection_waiters& waits_in, runtime& time,
              const boost::asio::any_io_executor& strand)
            : wakeup(time, strand),
              since(time.now()),
              entries_(waits_in.entries_),
              position_(entries_.insert(entries_.end(), this)) {}
        ~entry() { entries_.erase(position_); }
        entry(const entry&) = delete;
        entry& operator=(const entry&) = delete;

        core::wakeup wakeup;
        const time_point since;
        std::exception_ptr failure;  // ends the wait

    private:
        std::list<entry*>& entries_;
        const std::list<entry*>::iterator position_;
    };

    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
    void notify_all() {
        for (auto* each : entries_)
            each->wakeup.notify();
    }
    // `failure_of` returns the failure of an entry, or null if the entry keeps what it has. Ends
    // the waits of the entries that have a failure.
    template <class FailureOf>
    void end_waits(FailureOf failure_of) {
        for (auto at = entries_.begin(); at != entries_.end();) {
            auto* waiter = *at++;
            if (auto failure = failure_of(*waiter)) waiter->failure = std::move(failure);
            if (waiter->failure) waiter->wakeup.notify();
        }
    }

private:
    std::list<entry*> entries_;
};

// The memory of a sent request's text, for the next request. Used on one strand.
class spare_text {
public:
    // An empty text, until the next call.
    [[nodiscard]] std::string& begin() noexcept {
        text_.clear();
        return text_;
    }
    // After a long text.
    void shrink() noexcept {
        if (text_.capacity() > max_kept) text_ = {};
    }

private:
    static constexpr std::size_t max_kept = 4096;

    std::string text_;
};

// Whether a coroutine looks at the requests that wait for replies. It parks when there are none for
// some time. Used on one strand.
class reply_watch {
public:
    reply_watch(runtime& time, const boost::asio::any_io_executor& strand)
        : wakeup_(time, strand) {}

    [[nodiscard]] bool is_running() const noexcept { return stage_ != stage::ended; }
    // Throws if there is no memory for the timer; then the watch does not run.
    void begin() {
        wakeup_.prepare();
        stage_ = stage::watching;
    }
    void end() noexcept { stage_ = stage::ended; }
    // The next wait lasts until `unpark`.
    void park() noexcept { stage_ = stage::parked; }
    void leave_park() noexcept { stage_ = stage::watching; }
    void unpark() {
        if (stage_ == stage::parked) wakeup_.notify();
    }
    [[nodiscard]] boost::asio::awaitable<bool> wait_until(time_point when) {
        return wakeup_.wait_until(when);
    }
    void end_wait() { wakeup_.notify(); }

private:
    enum class stage : std::uint8_t { ended, watching, parked };

    core::wakeup wakeup_;
    stage stage_ = stage::ended;
};

}  // namespace pawl::redis
