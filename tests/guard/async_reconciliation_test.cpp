// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Reconciliations for coroutines, on each database.
#include "reconcile_fixture.hpp"

#include <pawl/client.hpp>
#include <pawl/guard/async_reconciliation.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <future>

namespace guard_tests {
namespace {

using guard::reconcile_end;
using guard::repair_result;
using pawl::fencing_token;

asio::awaitable<std::vector<std::string>> find_unpaid(guard::async_connection& db,
                                                      std::string after, std::uint32_t limit) {
    const guard::statement look{unpaid_orders(db.dialect(), limit), {std::move(after)}};
    const guard::rows answer = co_await db.execute(look);
    co_return strings_of(answer);
}

asio::awaitable<repair_result> pay_order(guard::async_connection& db, std::string id,
                                         const std::function<void(const std::string&)>& before) {
    before(id);
    const guard::statement update{
        with_places("UPDATE orders SET paid = 1 WHERE id = {} AND paid = 0", db.dialect()), {id}};
    const guard::rows answer = co_await db.execute(update);
    co_return answer.matched == 1 ? repair_result::repaired : repair_result::agrees;
}

asio::awaitable<repair_result> wait_for_ever(asio::cancellation_signal& end) {
    asio::steady_timer timer(co_await asio::this_coro::executor,
                             asio::steady_timer::time_point::max());
    asio::post(timer.get_executor(), [&] { end.emit(asio::cancellation_type::terminal); });
    co_await timer.async_wait(asio::use_awaitable);
    co_return repair_result::failed;
}

class GuardAsyncReconciliation : public reconcile_fixture {
protected:
    // Runs on a loop of its own, with a connection and a client of its own.
    guard::reconcile_report run_async(
        const std::function<void(const std::string&)>& before_repair = [](const std::string&) {},
        guard::reconcile_options options = tiny, std::stop_token stop = {}) {
        asio::io_context loop;
        const auto opened = database->connect(loop.get_executor());
        auto& view = opened->view();
        pawl::client async_locks(loop.get_executor(), service);
        guard::async_reconciliation nightly(async_locks, view, "nightly", options);
        const guard::async_find_keys find = [&view](std::string after, std::uint32_t limit) {
            return find_unpaid(view, std::move(after), limit);
        };
        const guard::async_repair_key repair = [&](std::string id, fencing_token) {
            return pay_order(view, std::move(id), before_repair);
        };
        // The client would keep the loop running.
        std::promise<guard::reconcile_report> report;
        asio::co_spawn(loop, nightly.run(find, repair, std::move(stop)),
                       [&](const std::exception_ptr& failure, guard::reconcile_report result) {
                           if (failure)
                               report.set_exception(failure);
                           else
                               report.set_value(std::move(result));
                           loop.stop();
                       });
        loop.run();
        return report.get_future().get();
    }
};

TEST_P(GuardAsyncReconciliation, RepairsEachKeyAndThenFindsNone) {
    const auto first = run_async();
    EXPECT_EQ(first.end, reconcile_end::finished);
    EXPECT_EQ(first.counts.repaired, 7U);
    EXPECT_EQ(unpaid_count(), 0);
    EXPECT_EQ(run_async().counts.keys, 0U);
    EXPECT_EQ(history().size(), 2U);
    EXPECT_EQ(history().at(1).counts.repaired, 7U);
}

TEST_P(GuardAsyncReconciliation, IsLedByOneProcess) {
    const auto leader = other_locks.acquire("nightly");
    EXPECT_EQ(run_async().end, reconcile_end::led_elsewhere);
    auto options = tiny;
    options.dry_run = true;
    const auto counted = run_async([](const std::string&) {}, options);
    EXPECT_EQ(counted.counts.keys, 7U);
    EXPECT_EQ(unpaid_count(), 7);
}

// As GuardReconciliation's: the successor runs to 05 while the leader repairs 03.
TEST_P(GuardAsyncReconciliation, DoesNotLetAFormerLeaderMoveTheCursorBack) {
    const auto former = run_async([&](const std::string& id) {
        if (id != "03") return;
        EXPECT_TRUE(other_locks.force_release("nightly"));
        std::stop_source stop;
        const auto next = run(
            [&](const std::string& key, fencing_token) {
                if (key == "05") stop.request_stop();
                return pay(*db, key);
            },
            tiny, stop.get_token());
        EXPECT_EQ(next.end, reconcile_end::stopped);
    });
    EXPECT_EQ(former.end, reconcile_end::lost);
    EXPECT_EQ(history().at(0).after, "05");
    EXPECT_TRUE(run_async().resumed);
    EXPECT_EQ(unpaid_count(), 0);
}

TEST_P(GuardAsyncReconciliation, GoesOnAfterAFailedRepairAndStops) {
    std::stop_source stop;
    const auto report = run_async(
        [&](const std::string& id) {
            if (id == "05") stop.request_stop();
            if (id == "02") throw std::runtime_error("no answer");
        },
        tiny, stop.get_token());
    EXPECT_EQ(report.end, reconcile_end::stopped);
    EXPECT_EQ(report.counts.repaired, 4U);
    ASSERT_EQ(report.failures.size(), 1U);
    EXPECT_EQ(report.failures[0].reason, "no answer");
    EXPECT_EQ(history().at(0).after, "05");
}

// The cancellation arrives in a repair, whose exception must not count as a failed repair.
TEST_P(GuardAsyncReconciliation, IsCancelledWithinARepair) {
    asio::io_context loop;
    const auto opened = database->connect(loop.get_executor());
    auto& view = opened->view();
    {
        pawl::client async_locks(loop.get_executor(), service);
        guard::async_reconciliation nightly(async_locks, view, "nightly", tiny);
        asio::cancellation_signal end;
        const guard::async_find_keys find = [&view](std::string after, std::uint32_t limit) {
            return find_unpaid(view, std::move(after), limit);
        };
        const guard::async_repair_key repair = [&](std::string, fencing_token) {
            return wait_for_ever(end);
        };
        std::exception_ptr failure;
        asio::co_spawn(loop, nightly.run(find, repair),
                       asio::bind_cancellation_slot(
                           end.slot(), [&](std::exception_ptr thrown, guard::reconcile_report) {
                               failure = std::move(thrown);
                               loop.stop();
                           }));
        loop.run();
        EXPECT_THROW(std::rethrow_exception(failure), boost::system::system_error);
    }
    loop.restart();
    loop.run();
    EXPECT_EQ(history().at(0).counts.keys, 0U);
    EXPECT_FALSE(history().at(0).ended.has_value());
    EXPECT_TRUE(other_locks.acquire("nightly", {.wait = std::chrono::seconds(60)}).owns_lock());
}

EVERY_DATABASE(GuardAsyncReconciliation);

}  // namespace
}  // namespace guard_tests
