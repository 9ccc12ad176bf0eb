// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The latches of one memory service, which all clients of the service use.
#pragma once

#include "core/store/latch_table.hpp"
#include "core/util/fork_mark.hpp"
#include "lock_store.hpp"
#include "request_gate.hpp"

#include <pawl/spi/latches.hpp>

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace pawl::memory {

// Thread-safe. Its mutex is never held while a caller waits.
class latch_store {
public:
    struct latch_waiter {
        explicit latch_waiter(std::shared_ptr<session> waiting_client)
            : client(std::move(waiting_client)), wakeup(*client->time, client->strand) {}
        std::shared_ptr<session> client;
        core::wakeup wakeup;  // on the client's strand
    };

    // Runs a step with the latch's `latch_table`, under the mutex.
    template <class Step>
    auto run(const std::string& name, time_point now, Step step);
    // The waiter is in the queue from `join` to `leave`.
    void join(const std::string& name, const std::shared_ptr<latch_waiter>& waiter);
    void leave(const std::string& name, const std::shared_ptr<latch_waiter>& waiter);
    core::latch_state read_state(const std::string& name, time_point now);

private:
    class rows;

    std::mutex mutex_;
    std::map<std::string, core::latch_entry, std::less<>> entries_;
    std::map<std::string, std::list<std::shared_ptr<latch_waiter>>, std::less<>> queues_;
    std::uint64_t last_generation_ = 0;  // shared by all names, so that no generation repeats
};

// One client's latches.
class memory_latches final : public latches {
public:
    // `gate` may be null.
    memory_latches(std::shared_ptr<latch_store> store, std::shared_ptr<request_gate> gate,
                   std::shared_ptr<session> client);

    boost::asio::awaitable<bool> try_set(std::string_view name, std::uint32_t count,
                                         duration ttl) override;
    boost::asio::awaitable<step> count_down(std::string_view name, std::uint32_t steps) override;
    boost::asio::awaitable<step> arrive(std::string_view name, std::uint32_t parties,
                                        duration ttl) override;
    boost::asio::awaitable<bool> wait(std::string_view name, std::uint64_t generation,
                                      time_point give_up_at) override;
    boost::asio::awaitable<latch_info> inspect(std::string_view name) override;
    boost::asio::awaitable<bool> reset(std::string_view name) override;

private:
    // Refuses a fork, counts the request, and passes the gate.
    boost::asio::awaitable<time_point> begin_request() const;
    template <class T, class Job>
    boost::asio::awaitable<T> run(std::string_view name, Job job);

    const std::shared_ptr<latch_store> store_;
    const std::shared_ptr<request_gate> gate_;
    const std::shared_ptr<session> client_;
    const core::fork_mark made_in_;
};

}  // namespace pawl::memory
