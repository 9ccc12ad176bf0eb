// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/guard/async_reconciliation.hpp>

#include "async_pause.hpp"
#include "reconcile_pass.hpp"
#include "tables.hpp"

#include <pawl/guard/async_fence.hpp>

#include <boost/asio/this_coro.hpp>

#include <exception>
#include <utility>

namespace pawl::guard {
namespace {

namespace asio = boost::asio;

// The steps of a run. The object outlives its coroutines.
class async_pass {
public:
    async_pass(async_connection& db, reconcile_pass& pass, std::stop_token stop,
               std::stop_token lost)
        : db_(db), pass_(pass), stop_(std::move(stop)), lost_(std::move(lost)) {}

    [[nodiscard]] bool is_stopped() const noexcept {
        return stop_.stop_requested() || lost_.stop_requested();
    }
    asio::awaitable<fence_result> begin() { return with_fence(&async_pass::begin_run); }
    asio::awaitable<fence_result> advance() { return with_fence(&async_pass::store_progress); }
    asio::awaitable<fence_result> finish() { return with_fence(&async_pass::end_run); }

    asio::awaitable<void> repair_all(const std::vector<std::string>& keys,
                                     const async_repair_key& repair) {
        for (const auto& key : keys) {
            auto& time = spi::real_runtime();
            const auto pause = pass_.pause_before_repair(time.now());
            if (pause > duration{}) co_await async_pause(time, pause);
            if (is_stopped()) co_return;
            co_await repair_one(key, repair);
        }
    }

private:
    using step = asio::awaitable<void> (async_pass::*)();

    asio::awaitable<void> begin_run() {
        const auto newest = pass_.newest_run();
        const rows runs = co_await db_.execute(newest);
        const auto change = pass_.begin(runs);
        const rows answer = co_await db_.execute(change);
        pass_.expect_row(answer);
    }
    asio::awaitable<void> store_progress() {
        const auto change = pass_.advance();
        const rows answer = co_await db_.execute(change);
        pass_.expect_row(answer);
    }
    asio::awaitable<void> end_run() {
        const auto change = pass_.advance(true);
        const rows answer = co_await db_.execute(change);
        pass_.expect_row(answer);
        const auto look = pass_.superfluous();
        const rows superfluous = co_await db_.execute(look);
        const auto forget = pass_.forget(superfluous);
        (void)co_await db_.execute(forget);
    }
    asio::awaitable<void> raise_and_do(step work, fence_result& verdict) {
        verdict = co_await async_fence(db_, pass_.fence_name(), pass_.token());
        if (verdict) co_await (this->*work)();
    }
    asio::awaitable<fence_result> with_fence(step work) {
        fence_result verdict;
        const transaction_work whole = [&] { return raise_and_do(work, verdict); };
        for (conflict_pauses pauses;;) {
            std::optional<duration> pause;
            try {
                co_await async_transaction(db_, whole);
                co_return verdict;
            } catch (const conflict&) {
                pause = pauses.next();
                if (!pause) throw;
            }
            co_await async_pause(spi::real_runtime(), *pause);
        }
    }
    // A cancellation is no failed repair.
    asio::awaitable<void> repair_one(const std::string& key, const async_repair_key& repair) {
        auto result = repair_result::failed;
        std::string reason;
        std::exception_ptr failure;
        try {
            result = co_await repair(key, pass_.token());
        } catch (const std::exception& failed) {
            failure = std::current_exception();
            reason = failed.what();
        }
        const auto state = co_await asio::this_coro::cancellation_state;
        if (failure && state.cancelled() != asio::cancellation_type::none)
            std::rethrow_exception(failure);
        pass_.count(key, result, std::move(reason));
    }

    async_connection& db_;
    reconcile_pass& pass_;
    std::stop_token stop_, lost_;
};

asio::awaitable<reconcile_report> count_in_turn(reconcile_pass& pass, const async_find_keys& find,
                                                std::uint32_t limit, std::stop_token stop) {
    while (!stop.stop_requested()) {
        const auto keys = co_await find(pass.after(), limit);
        pass.expect_progress(keys);
        if (keys.empty()) co_return pass.end(reconcile_end::finished);
        pass.count_dry(keys);
    }
    co_return pass.end(reconcile_end::stopped);
}

// All of them outlive the call.
asio::awaitable<reconcile_end> lead_run(async_pass& steps, reconcile_pass& pass,
                                        const held_lock& lead, const async_find_keys& find,
                                        const async_repair_key& repair, std::uint32_t limit) {
    const auto first = co_await steps.begin();
    pass.judge_first_fence(first, lead.state() != lock_state::lost);
    if (!first) co_return reconcile_end::lost;
    while (!steps.is_stopped()) {
        const auto keys = co_await find(pass.after(), limit);
        pass.expect_progress(keys);
        if (keys.empty()) {
            const auto last = co_await steps.finish();
            co_return last ? reconcile_end::finished : reconcile_end::lost;
        }
        co_await steps.repair_all(keys, repair);
        const auto stored = co_await steps.advance();
        if (!stored) co_return reconcile_end::lost;
    }
    co_return lead.state() == lock_state::lost ? reconcile_end::lost : reconcile_end::stopped;
}

}  // namespace

async_reconciliation::async_reconciliation(client& locks, async_connection& db, std::string name,
                                           reconcile_options options)
    : locks_(locks), db_(db), name_(std::move(name)), options_(options) {
    check_reconciliation(name_, options_);
}

asio::awaitable<reconcile_report> async_reconciliation::run(const async_find_keys& find,
                                                            const async_repair_key& repair,
                                                            std::stop_token stop) {
    if (options_.dry_run) {
        reconcile_pass counting(db_.dialect(), name_, options_);
        auto counted = co_await count_in_turn(counting, find, options_.batch, stop);
        co_return counted;
    }
    expect_no_transaction(db_.in_transaction(), name_);
    co_await table_checks::require(db_, fence_table);
    co_await table_checks::require(db_, reconcile_table);
    held_lock lead = co_await locks_.async_try_acquire(name_, {.ttl = options_.ttl});
    if (!lead) co_return reconcile_report{};
    reconcile_pass pass(db_.dialect(), name_, options_, lead.token());
    async_pass steps(db_, pass, std::move(stop), lead.lost());
    const auto end = co_await lead_run(steps, pass, lead, find, repair, options_.batch);
    (void)co_await lead.async_release();
    co_return pass.end(end);
}

}  // namespace pawl::guard
