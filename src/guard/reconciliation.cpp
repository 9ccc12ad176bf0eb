// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/guard/reconciliation.hpp>

#include "pause.hpp"
#include "reconcile_pass.hpp"
#include "tables.hpp"

#include <pawl/guard/fence.hpp>
#include <pawl/guard/transaction.hpp>

#include <utility>

namespace pawl::guard {
namespace {

// Is stopped with each of two other tokens.
class either_stop {
public:
    either_stop(std::stop_token first, std::stop_token second)
        : first_(std::move(first), stop_source_call{source_}),
          second_(std::move(second), stop_source_call{source_}) {}
    [[nodiscard]] std::stop_token token() const noexcept { return source_.get_token(); }

private:
    struct stop_source_call {
        std::stop_source source;
        void operator()() { source.request_stop(); }
    };
    std::stop_source source_;
    std::stop_callback<stop_source_call> first_, second_;
};

class sync_pass {
public:
    sync_pass(connection& db, reconcile_pass& pass, std::stop_token stop)
        : db_(db), pass_(pass), stop_(std::move(stop)) {}

    [[nodiscard]] fence_result begin() {
        return with_fence(
            [&] { pass_.expect_row(db_.execute(pass_.begin(db_.execute(pass_.newest_run())))); });
    }
    [[nodiscard]] fence_result advance() {
        return with_fence([&] { pass_.expect_row(db_.execute(pass_.advance())); });
    }
    [[nodiscard]] fence_result finish() {
        return with_fence([&] {
            pass_.expect_row(db_.execute(pass_.advance(true)));
            db_.execute(pass_.forget(db_.execute(pass_.superfluous())));
        });
    }

    void repair_all(const std::vector<std::string>& keys, const repair_key& repair) {
        for (const auto& key : keys) {
            pause_until_stop(pass_.pause_before_repair(spi::real_runtime().now()), stop_);
            if (stop_.stop_requested()) return;
            repair_one(key, repair);
        }
    }

private:
    template <class Step>
    fence_result with_fence(Step step) {
        for (conflict_pauses pauses;;) {
            try {
                transaction open(db_);
                const auto verdict = fence(db_, pass_.fence_name(), pass_.token());
                if (!verdict) return verdict;
                step();
                open.commit();
                return verdict;
            } catch (const conflict&) {
                const auto pause = pauses.next();
                if (!pause) throw;
                pause_until_stop(*pause, {});
            }
        }
    }
    void repair_one(const std::string& key, const repair_key& repair) {
        try {
            pass_.count(key, repair(key, pass_.token()));
        } catch (const std::exception& failed) {
            pass_.count(key, repair_result::failed, failed.what());
        }
    }

    connection& db_;
    reconcile_pass& pass_;
    std::stop_token stop_;
};

reconcile_report count_keys(reconcile_pass pass, const find_keys& find, std::uint32_t limit,
                            const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        const auto keys = find(pass.after(), limit);
        pass.expect_progress(keys);
        if (keys.empty()) return pass.end(reconcile_end::finished);
        pass.count_dry(keys);
    }
    return pass.end(reconcile_end::stopped);
}

}  // namespace

reconciliation::reconciliation(blocking::client& locks, connection& db, std::string name,
                               reconcile_options options)
    : locks_(locks), db_(db), name_(std::move(name)), options_(options) {
    check_reconciliation(name_, options_);
}

reconcile_report reconciliation::run(const find_keys& find, const repair_key& repair,
                                     std::stop_token stop) {
    if (options_.dry_run)
        return count_keys({db_.dialect(), name_, options_}, find, options_.batch, stop);
    expect_no_transaction(db_.in_transaction(), name_);
    table_checks::require(db_, fence_table);
    table_checks::require(db_, reconcile_table);
    auto lead = locks_.try_acquire(name_, {.ttl = options_.ttl});
    if (!lead) return {};
    const blocking::release_guard release_at_end(lead);

    const either_stop stops(std::move(stop), lead.lost());
    reconcile_pass pass(db_.dialect(), name_, options_, lead.token());
    sync_pass steps(db_, pass, stops.token());
    const auto first = steps.begin();
    pass.judge_first_fence(first, lead.state() != lock_state::lost);
    if (!first) return pass.end(reconcile_end::lost);
    while (!stops.token().stop_requested()) {
        const auto keys = find(pass.after(), options_.batch);
        pass.expect_progress(keys);
        if (keys.empty()) {
            const auto last = steps.finish();
            return pass.end(last ? reconcile_end::finished : reconcile_end::lost);
        }
        steps.repair_all(keys, repair);
        if (!steps.advance()) return pass.end(reconcile_end::lost);
    }
    return pass.end(lead.state() == lock_state::lost ? reconcile_end::lost
                                                     : reconcile_end::stopped);
}

std::vector<reconcile_run> reconcile_history(connection& db, std::string_view name,
                                             std::uint32_t limit) {
    table_checks::require(db, reconcile_table);
    return runs_of(db.execute(select_runs(db.dialect(), name, limit)));
}

}  // namespace pawl::guard
