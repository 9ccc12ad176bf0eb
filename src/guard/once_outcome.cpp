// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "once_outcome.hpp"

#include <pawl/error.hpp>

namespace pawl::guard {

namespace {

std::optional<std::string> stored_result(const std::string& result, const once_options& options) {
    if (!is_stored(result, options)) return std::nullopt;
    return result;
}

}  // namespace

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

}  // namespace pawl::guard
