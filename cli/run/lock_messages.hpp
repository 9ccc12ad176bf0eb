// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The messages of `run` and `elect` about their locks.
#pragma once

#include "../verbs/verbs.hpp"

#include <string>
#include <string_view>

namespace pawl::cli {

// "'a'", "'a' and 1 other", "'a' and 2 others".
[[nodiscard]] std::string describe_locks(const run_options& options);

// The service reported the loss, so another owner may hold the lock before the deadline.
[[nodiscard]] bool is_before_deadline(loss_reason reason);

// The loss of the locks, as a sentence. `lock_name` is the lost lock if it is known. `outcome` is
// the consequence for the command.
[[nodiscard]] std::string loss_message(const run_options& options, loss_reason reason,
                                       std::string_view lock_name, std::string_view outcome);

}  // namespace pawl::cli
