// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The requests of a link: those that wait for a connection, those that wait for their replies, and
// the watch over the replies.
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

// Counts the requests that were sent, and keeps a buffer for the next one. Used on one strand.
class requests_in_flight {
public:
    // The timer is created early, so that closing needs no memory and no new timer.
    requests_in_flight(runtime& time, const boost::asio::any_io_executor& strand)
        : ended_(time, strand) {
        ended_.prepare();
    }

    // Counts a request while the object lives.
    class guard {
    public:
        explicit guard(requests_in_flight& requests) noexcept : requests_(requests) {
            ++requests_.count_;
        }
        ~guard() {
            if (--requests_.count_ == 0) requests_.ended_.notify();
        }
        guard(const guard&) = delete;
        guard& operator=(const guard&) = delete;

    private:
        requests_in_flight& requests_;
    };

    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    // Waits until no request is in flight.
    [[nodiscard]] boost::asio::awaitable<bool> wait_until(time_point when) {
        return ended_.wait_until(when);
    }

    // An empty text, with the buffer of an earlier request.
    [[nodiscard]] std::string take_text() noexcept {
        auto text = std::exchange(spare_text_, {});
        text.clear();
        return text;
    }
    void keep_text(std::string&& text) noexcept {
        if (text.capacity() <= max_spare_text) spare_text_ = std::move(text);
    }

private:
    // The largest buffer of a request that is kept for the next one.
    static constexpr std::size_t max_spare_text = 4096;

    unsigned count_ = 0;
    core::wakeup ended_;
    std::string spare_text_;
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
