// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "once_outcome.hpp"
#include "sync_runner.hpp"

namespace pawl::guard {

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
    return db.execute(finish_statement(db.dialect(), claimed, result, options)).matched == 1;
}

bool give_up(connection& db, const attempt& claimed, duration pause) {
    return db.execute(give_up_statement(db.dialect(), claimed, pause)).matched == 1;
}

}  // namespace pawl::guard
