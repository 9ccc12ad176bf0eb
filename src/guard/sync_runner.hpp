// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Drives the protocol of `once` over a connection that blocks. async_runner has the same steps.
#pragma once

#include "once_machine.hpp"

#include <pawl/guard/once.hpp>
#include <pawl/guard/transaction.hpp>

#include <exception>

namespace pawl::guard {

class sync_runner {
public:
    // All must outlive it. `lost` is the attempt's.
    sync_runner(connection& db, const once_key& operation, const once_options& options,
                std::stop_token cancel, std::stop_token lost = {});

    // With the effect inside its transaction, or outside.
    once_result run(const once_work& work, bool is_inside);
    once_claim claim();
    // The result of an operation that has ended; nothing for the others.
    std::optional<once_result> replay();

private:
    using step = once_machine::step;

    void advance_to_work();  // or to the end
    void run_step();
    void look();
    void claim_record();
    void pause();
    [[nodiscard]] attempt current() const;

    void work_inside(const once_work& work);
    void work_outside(const once_work& work);
    [[nodiscard]] bool claim_inside();
    [[nodiscard]] bool commit(transaction& effect, const outcome& result);
    void reject_inside(const outcome& result);
    void record_outside(const outcome& result);
    [[nodiscard]] bool has_ended();
    void after_failure(const std::exception_ptr& failure);

    connection& db_;
    const once_key& operation_;
    const once_options& options_;
    const std::stop_token cancel_, lost_;
    once_statements record_;
    once_machine machine_;
    bool is_committing_ = false;  // the answer to a commit may be an error of the connection
};

}  // namespace pawl::guard
