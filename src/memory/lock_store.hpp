// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The locks of one memory service, and their waiters. All clients of the service use them.
#pragma once

#include "core/store/lease_table.hpp"
#include "core/util/wakeup.hpp"

#include <pawl/spi/backend.hpp>

#include <boost/asio/post.hpp>

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pawl::memory {

// One client of the service. Its backend owns it.
struct session {
    explicit session(backend_context context)
        : strand(std::move(context.strand)),
          time(context.time),
          listener(context.listener),
          client_identity(std::move(context.process)),
          try_limit(context.try_limit),
          request_counters(std::move(context.counts)) {}

    boost::asio::any_io_executor strand;
    runtime* const time;
    loss_listener* const listener;
    const identity client_identity;
    const duration try_limit;
    // Counts each step that would be a request to a server.
    const std::shared_ptr<counters> request_counters;

    // From any thread, such as that of another client: runs this on the strand, unless the client
    // has ended.
    template <class Notice>
    void post(Notice notice) {
        const std::lock_guard lock(mutex_);
        if (strand) boost::asio::post(strand, std::move(notice));
    }
    // The backend ends. Its event loop may end next.
    void end() noexcept {
        const std::lock_guard lock(mutex_);
        strand = {};
    }

private:
    std::mutex mutex_;  // of `strand`
};

// The client of a row, and the wakeup of its acquire, which waits. Either may have ended.
struct row_client {
    std::weak_ptr<session> client;
    std::weak_ptr<core::wakeup> wakeup;  // used on the client's strand
};

// Thread-safe. Its mutex is never held while a caller waits.
class lock_store {
public:
    struct queued_waiter {
        queued_waiter(const claim& claim_requested, std::shared_ptr<session> waiting_client)
            : requested(claim_requested),
              client(std::move(waiting_client)),
              wakeup(*client->time, client->strand) {}

        const claim& requested;
        std::shared_ptr<session> client;
        core::wakeup wakeup;  // on the client's strand
    };

    // The next step of a waiter.
    struct wait_state {
        std::optional<grant> granted;
        time_point refresh_at =
            time_point::max();  // for the first waiter of the queue, the earliest end of a lease
    };

    // These three throw errc::bad_option for permits that can never be granted.
    std::optional<grant> try_acquire(const claim& requested,
                                     const std::shared_ptr<session>& client);
    wait_state join(const std::shared_ptr<queued_waiter>& waiter);
    wait_state refresh(const std::shared_ptr<queued_waiter>& waiter);
    // Leaves the queue. Without `keep_grant`, a grant is passed on to the next waiter.
    void leave(const std::shared_ptr<queued_waiter>& waiter, bool keep_grant) noexcept;

    // False: the owner does not hold the lock.
    bool renew(const claim& requested, duration ttl, session& client);
    release_result release(const claim& requested, session& client);
    std::optional<grant> downgrade(const claim& requested, session& client);
    void resize(std::string_view name, std::uint32_t permits, session& client);
    bool force_release(std::string_view name, fencing_token expected, session& client);
    // For tests: ends the holds of one lock, or of all locks, for this reason.
    bool end_holds(std::string_view name, loss_reason reason);
    void end_all_holds(loss_reason reason);
    lock_info inspect(std::string_view name, session& client);
    std::vector<lock_info> list(std::string_view prefix, session& client);

private:
    struct lock_entry {
        std::vector<core::holder_row<row_client>> holders;
        std::list<core::waiter_row<row_client>> queue;
    };
    class rows;

    // Runs the step with the lock's `lease_table`, under the mutex.
    template <class Step>
    auto run(std::string_view name, runtime& time, Step step, const row_client& client = {});
    wait_state run_as_waiter(const std::shared_ptr<queued_waiter>& waiter, bool is_new);

    std::mutex mutex_;
    std::map<std::string, lock_entry, std::less<>> entries_;
    std::map<std::string, std::uint32_t, std::less<>>
        total_permits_;  // by name: the semaphore's total, once a claim or `resize` has set it
    // All names share one counter, so the tokens of a name grow even if the name is forgotten while
    // it is free. The counter starts from the clock, so a new process issues larger tokens than the
    // process before it.
    std::uint64_t last_token_ = 0;
};

}  // namespace pawl::memory
