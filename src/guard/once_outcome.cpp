// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "once_outcome.hpp"

#include "once_machine.hpp"

#include <pawl/error.hpp>

namespace pawl::guard {

void check_result(const std::string& result, const once_options& options) {
    if (is_stored(result, options)) return;
    throw error(errc::bad_option, "The result of `once` has " + std::to_string(result.size()) +
                                      " bytes, and `largest_result` is " +
                                      std::to_string(options.largest_result) +
                                      "; nothing was committed. Return a shorter result.");
}

std::optional<statement> final_statement(const once_statements& record, std::int64_t token,
                                         const outcome& result, const once_options& options) {
    const auto from = claimed_state(options);
    if (const auto* text = std::get_if<std::string>(&result))
        return record.finish(token, from, record_state::done, stored_result(*text, options));
    if (const auto* refusal = std::get_if<rejected>(&result))
        return record.finish(token, from, record_state::failed,
                             stored_result(refusal->why, options));
    return std::nullopt;
}

std::optional<std::string> stored_result(const std::string& result, const once_options& options) {
    if (!is_stored(result, options)) return std::nullopt;
    return result;
}

statement finish_statement(dialect spoken, const attempt& claimed, const outcome& result,
                           const once_options& options) {
    const once_key operation(claimed.key(), {}, claimed.scope());
    check_once(operation, options, false);
    check_outside(options);
    if (const auto* later = std::get_if<retry_after>(&result))
        return give_up_statement(spoken, claimed, later->pause);
    const once_statements record(spoken, operation, options);
    return *final_statement(record, token_of(claimed), result, options);
}

statement give_up_statement(dialect spoken, const attempt& claimed, duration pause) {
    const once_statements record(spoken, {claimed.key(), {}, claimed.scope()}, {});
    return record.give_up(token_of(claimed), pause);
}

}  // namespace pawl::guard
