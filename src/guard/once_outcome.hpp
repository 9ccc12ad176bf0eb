// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the work's answer means for the record: common to the drivers.
#pragma once

#include "once_statements.hpp"

namespace pawl::guard {

// Refuses a result that is too large for the transaction of its effect.
void check_result(const std::string& result, const once_options& options);

[[nodiscard]] inline bool is_stored(const std::string& text, const once_options& options) {
    return text.size() <= options.largest_result;
}
[[nodiscard]] inline record_state claimed_state(const once_options& options) {
    return options.lease == duration{} ? record_state::done : record_state::pending;
}
// The statement that records a final answer of the work, without a result that is too large;
// nothing for `retry_after`.
[[nodiscard]] std::optional<statement> final_statement(const once_statements& record,
                                                       std::int64_t token, const outcome& result,
                                                       const once_options& options);
// The result as a record keeps it: nothing for one that is too large.
[[nodiscard]] std::optional<std::string> stored_result(const std::string& result,
                                                       const once_options& options);

// For the steps by hand. Refuses a lease of 0.
[[nodiscard]] statement finish_statement(dialect spoken, const attempt& claimed,
                                         const outcome& result, const once_options& options);
[[nodiscard]] statement give_up_statement(dialect spoken, const attempt& claimed, duration pause);
[[nodiscard]] inline std::int64_t token_of(const attempt& claimed) noexcept {
    return static_cast<std::int64_t>(claimed.token().value());
}

}  // namespace pawl::guard
