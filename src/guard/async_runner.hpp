// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Drives the protocol of `once` over a connection for coroutines: as sync_runner, step by step.
#pragma once

#include "once_machine.hpp"

#include <pawl/guard/async_once.hpp>

#include <exception>

namespace pawl::guard {

class async_runner {
public:
    // All must outlive it. `lost` is the attempt's. Throws for what cannot be used.
    async_runner(async_connection& db, const once_key& operation, const once_options& options,
                 std::stop_token lost = {});

    // With the effect inside its transaction, or outside.
    boost::asio::awaitable<once_result> run(const async_once_work& work, bool is_inside);
    boost::asio::awaitable<once_claim> claim();
    // The result of an operation that has ended; nothing for the others.
    boost::asio::awaitable<std::optional<once_result>> replay();

private:
    using step = once_machine::step;

    boost::asio::awaitable<void> advance_to_work();  // or to the end
    boost::asio::awaitable<void> run_step();
    boost::asio::awaitable<void> look();
    boost::asio::awaitable<void> claim_record();
    boost::asio::awaitable<void> exhaust();
    boost::asio::awaitable<void> pause();
    [[nodiscard]] attempt current() const;

    boost::asio::awaitable<void> work_inside(const async_once_work& work);
    boost::asio::awaitable<void> work_outside(const async_once_work& work);
    boost::asio::awaitable<bool> claim_inside();
    boost::asio::awaitable<bool> commit(const outcome& result);
    boost::asio::awaitable<void> reject_inside(const outcome& result);
    boost::asio::awaitable<void> reject_in_transaction(const outcome& result);
    boost::asio::awaitable<void> record_outside(const outcome& result);
    boost::asio::awaitable<std::optional<outcome>> run_effect(const async_once_work& work);
    boost::asio::awaitable<void> after_failure(std::exception_ptr failure);

    async_connection& db_;
    const once_key& operation_;
    const once_options& options_;
    const std::stop_token lost_;
    once_statements record_;
    once_machine machine_;
    bool is_committing_ = false;  // the answer to a commit may be an error of the connection
};

}  // namespace pawl::guard
