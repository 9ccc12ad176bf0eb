// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "once_outcome.hpp"
#include "sync_runner.hpp"

namespace pawl::guard {
namespace {

once_key key_of(const attempt& claimed) { return {claimed.key(), {}, claimed.scope()}; }
std::int64_t token_of(const attempt& claimed) {
    return static_cast<std::int64_t>(claimed.token().value());
}

}  // namespace

once_result once(connection& db, const once_key& operation, const once_options& options,
                 const once_work& work, std::stop_token cancel) {
    return sync_runner(db, operation, options, std::move(cancel)).run(work, true);
}

once_result at_least_once(connection& db, const once_key& operation, const once_options& options,
                          const once_work& work, std::stop_token cancel) {
    check_outside(options);
    return sync_runner(db, operation, options, std::move(cancel)).run(work, false);
}

once_claim claim(connection& db, const once_key& operation, const once_options& options,
                 std::stop_token cancel) {
    check_outside(options);
    return sync_runner(db, operation, options, std::move(cancel)).claim();
}

bool finish(connection& db, const attempt& claimed, const outcome& result,
            const once_options& options) {
    check_outside(options);
    if (const auto* later = std::get_if<retry_after>(&result))
        return give_up(db, claimed, later->pause);
    const once_statements record(db.dialect(), key_of(claimed), options);
    const auto last = *final_statement(record, token_of(claimed), result, options);
    return db.execute(last).matched == 1;
}

bool give_up(connection& db, const attempt& claimed, duration pause) {
    const once_statements record(db.dialect(), key_of(claimed), {});
    return db.execute(record.give_up(token_of(claimed), pause)).matched == 1;
}

}  // namespace pawl::guard
