// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The set of a Redlock's nodes, for operators, in programs with an event loop.
// pawl/blocking/redlock_administration.hpp is the same for threads.
#pragma once

#include <pawl/detail/initiate.hpp>
#include <pawl/redlock.hpp>
#include <pawl/with_diagnostics.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <utility>
#include <vector>

namespace pawl::detail {

// The nodes of an administration, and the executor of its operations.
struct redlock_nodes {
    boost::asio::any_io_executor executor;
    service nodes;

    friend boost::asio::any_io_executor executor_of(const redlock_nodes& source) noexcept {
        return source.executor;
    }
};

// Throws as redlock::at, and errc::bad_option without fencing.
[[nodiscard]] service administered_nodes(const redlock::options& settings);
void start_begin_set(operation_handler<> handler, redlock_nodes source, bool forget);
void start_examine_set(operation_handler<std::vector<redlock::node_status>> handler,
                       redlock_nodes source, bool rejoin);

}  // namespace pawl::detail

namespace pawl::redlock {

// Begins and examines a set of nodes. Thread-safe. Each operation has connections of its own, and
// completes when these are closed. It waits for all nodes, but for no request longer than
// `options::reply_timeout`. The object may be destroyed while operations are outstanding.
//
// Handlers and tokens are as for pawl::client: by default, `co_await` throws a pawl::error with the
// message of the failure. If the system has no threads or timers, an operation fails with
// errc::exhausted.
//
// Cancellation: every operation supports terminal, partial and total, and completes with
// boost::asio::error::operation_aborted, unless its result is there already. A cancelled change may
// have been carried out, also at some of the nodes only; the next call carries it out at the
// others.
class administration {
public:
    // For Asio: the type of `get_executor`.
    using executor_type = boost::asio::any_io_executor;

    // Does not connect. Throws errc::bad_option for options that do not fit together, and for
    // `fenced = false`, which has no set.
    administration(boost::asio::any_io_executor executor, const options& settings)
        : source_{std::move(executor), detail::administered_nodes(settings)} {}

    // Handlers without an associated executor run on it. Thread-safe.
    [[nodiscard]] executor_type get_executor() const noexcept { return source_.executor; }

    // Makes the nodes a new set, which grants locks at once. Call this only while no holder of a
    // lock of these nodes is left: the caller knows what no server can know. Without this call, new
    // nodes wait for a little more than `ttl_max` first; if they have formed a set that still
    // waits, the call ends the wait. `forget`: also nodes of a set that has granted locks, for a
    // set whose majority has lost its data at the same time.
    // Handler: void(error_code).
    // Completes when all nodes are members of the set.
    // Errors: no_quorum or unreachable (a node does not answer); no_set (a node's clock differs
    // from the others' by more than a minute); bad_option (without `forget`: a node is a member of
    // another set, or of one that has granted locks).
    template <class Token = default_token>
    auto async_begin_set(bool forget = false, Token&& token = {}) const {
        return detail::initiate<Token>(source_, &detail::start_begin_set, token, forget);
    }

    // The status of each node, in the order of their names. Changes nothing. A node that does not
    // answer does not vote, and its `objection` says why.
    // Handler: void(error_code, std::vector<node_status>).
    // Completes when every node has answered or failed.
    template <class Token = default_token>
    auto async_examine(Token&& token = {}) const {
        return detail::initiate<Token>(source_, &detail::start_examine_set, token, false);
    }

    // As `async_examine`, but first lets nodes that have lost their data join the set again.
    // Handler: void(error_code, std::vector<node_status>).
    // Completes when every node has answered or failed.
    template <class Token = default_token>
    auto async_rejoin(Token&& token = {}) const {
        return detail::initiate<Token>(source_, &detail::start_examine_set, token, true);
    }

private:
    detail::redlock_nodes source_;
};

}  // namespace pawl::redlock
