// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The lock in front of the record.
#include "guarded.hpp"
#include "sync_runner.hpp"

namespace pawl::guard {
namespace {

once_result work_alone(connection& db, const once_key& operation, const once_work& work,
                       bool is_inside, std::stop_token lost) {
    std::optional<transaction> effect;
    if (is_inside) effect.emplace(db);
    const auto result = work(lone_attempt(operation, std::move(lost)));
    if (effect && std::holds_alternative<std::string>(result)) effect->commit();
    return lone_result(result);
}

once_result run_guarded(blocking::client& locks, connection& db, std::string_view name,
                        const once_key& operation, const once_options& options,
                        const once_work& work, std::stop_token cancel, bool is_inside) {
    if (!is_inside) check_outside(options);
    check_once(operation, options, db.in_transaction());
    const auto give_up_at = end_of_wait(options, spi::real_runtime());
    if (uses(options, layers::record)) {
        sync_runner first_look(db, operation, options, cancel);
        if (auto known = first_look.replay()) return *std::move(known);
    }
    const auto lock = acquire_in_front(locks, name, options, cancel);
    if (!lock) return busy_result(options);
    const auto lost = *lock ? lock->lost() : std::stop_token();
    if (!uses(options, layers::record)) return work_alone(db, operation, work, is_inside, lost);
    const auto rest = with_rest_of_wait(options, give_up_at);
    return sync_runner(db, operation, rest, std::move(cancel), lost).run(work, is_inside);
}

}  // namespace

once_result guarded_once(blocking::client& locks, connection& db, std::string_view name,
                         const once_key& operation, const once_options& options,
                         const once_work& work, std::stop_token cancel) {
    return run_guarded(locks, db, name, operation, options, work, std::move(cancel), true);
}

once_result guarded_at_least_once(blocking::client& locks, connection& db, std::string_view name,
                                  const once_key& operation, const once_options& options,
                                  const once_work& work, std::stop_token cancel) {
    return run_guarded(locks, db, name, operation, options, work, std::move(cancel), false);
}

}  // namespace pawl::guard
