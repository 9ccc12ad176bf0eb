// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Finds what a crash has left half done, and repairs it, for coroutines: as
// pawl/guard/reconciliation.hpp.
#pragma once

#include <pawl/client.hpp>
#include <pawl/guard/async_connection.hpp>
#include <pawl/guard/reconcile_report.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace pawl::guard {

// As find_keys and repair_key. Name them before the co_await.
using async_find_keys = std::function<boost::asio::awaitable<std::vector<std::string>>(
    std::string after, std::uint32_t limit)>;
using async_repair_key =
    std::function<boost::asio::awaitable<repair_result>(std::string key, fencing_token token)>;

// As reconciliation. `run` must not be called again before it has ended.
class async_reconciliation {
public:
    // As reconciliation's.
    async_reconciliation(client& locks, async_connection& db, std::string name,
                         reconcile_options options = {});

    // As reconciliation::run; the arguments and this object must outlive the call. Runs on the
    // executor of its coroutine.
    //
    // Cancellation: terminal. While the lock is acquired it ends with errc::cancelled, and nothing
    // was done. Afterwards it ends with operation_aborted; the connection cannot be used any more,
    // and the next run repeats the last batch. Stopping `stop` ends the run after the present key.
    boost::asio::awaitable<reconcile_report> run(const async_find_keys& find,
                                                 const async_repair_key& repair,
                                                 std::stop_token stop = {});

private:
    client& locks_;
    async_connection& db_;
    std::string name_;
    reconcile_options options_;
};

}  // namespace pawl::guard
