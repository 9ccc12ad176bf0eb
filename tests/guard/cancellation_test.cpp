// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A cancelled coroutine of `once`: a wait ends, and cancelled work leaves nothing behind.
#include "test_database.hpp"

#include <pawl/guard/async_once.hpp>
#include <pawl/guard/schema.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

namespace guard_tests {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

class OnceCancellation : public database_test {
protected:
    OnceCancellation() {
        guard::make_tables(admin->view());
        admin->run("CREATE TABLE effects(id BIGINT)");
    }

    // Begins the call, cancels it when it is ready, and expects that it says so.
    void cancel_when(const std::function<bool()>& is_ready, const guard::async_once_work& work) {
        asio::cancellation_signal cancel;
        auto ended = asio::co_spawn(
            loop, guard::async_once(opened->view(), "order/7", {.wait = 10min}, work),
            asio::bind_cancellation_slot(cancel.slot(), asio::use_future));
        while (!is_ready())
            loop.run_one();
        cancel.emit(asio::cancellation_type::terminal);
        loop.run();
        try {
            (void)ended.get();
            ADD_FAILURE() << "it was not cancelled";
        } catch (const boost::system::system_error& aborted) {
            EXPECT_EQ(aborted.code(), asio::error::operation_aborted);
        }
    }

    asio::io_context loop;
    const std::unique_ptr<open_connection> admin = database->connect();
    const std::unique_ptr<open_async_connection> opened = database->connect(loop.get_executor());
};

asio::awaitable<guard::outcome> done_at_once() { co_return "done"s; }

TEST_P(OnceCancellation, EndsAWait) {
    const auto before = guard::claim(admin->view(), "order/7", {});
    ASSERT_TRUE(before);
    const guard::async_once_work work = [](const guard::attempt&) { return done_at_once(); };
    int turns = 0;
    cancel_when([&] { return ++turns > 20; }, work);
    EXPECT_TRUE(guard::finish(admin->view(), *before.attempt, "first"s, {}));
}

asio::awaitable<guard::outcome> write_and_wait(guard::async_connection& db, bool& is_waiting) {
    const guard::statement insert{"INSERT INTO effects(id) VALUES(1)"};
    co_await db.execute(insert);
    asio::steady_timer never(co_await asio::this_coro::executor, 24h);
    is_waiting = true;
    co_await never.async_wait(asio::use_awaitable);
    co_return "never"s;
}

// Interleaving: the work has written, and waits; it is cancelled; the next caller comes at once.
TEST_P(OnceCancellation, RollsBackAndGivesUp) {
    bool is_waiting = false;
    const guard::async_once_work work = [&](const guard::attempt&) {
        return write_and_wait(opened->view(), is_waiting);
    };
    cancel_when([&] { return is_waiting; }, work);
    EXPECT_FALSE(opened->view().in_transaction());
    EXPECT_EQ(admin->number("SELECT count(*) FROM effects"), 0);
    const auto next = guard::once(admin->view(), "order/7", {.wait = 0s},
                                  [](const guard::attempt& claimed) -> guard::outcome {
                                      EXPECT_EQ(claimed.number(), 2U);
                                      return "second"s;
                                  });
    EXPECT_EQ(next.state, guard::once_state::done);
}

// The first statement that ends a record finds a conflict.
class conflicting_connection final : public guard::async_connection {
public:
    explicit conflicting_connection(guard::async_connection& target) : target_(target) {}

    asio::awaitable<guard::rows> execute(const guard::statement& to_run) override {
        if (to_run.text.starts_with("UPDATE pawl_once SET state") && conflicts++ == 0)
            throw guard::conflict("a deadlock");
        auto answer = co_await target_.execute(to_run);
        co_return answer;
    }
    [[nodiscard]] guard::dialect dialect() const noexcept override { return target_.dialect(); }
    [[nodiscard]] bool in_transaction() const noexcept override { return target_.in_transaction(); }

    int conflicts = 0;

private:
    guard::async_connection& target_;
};

asio::awaitable<guard::outcome> sent_once(int& calls) {
    ++calls;
    co_return "sent"s;
}

// Interleaving: the effect outside has happened, the end of its record loses against another
// transaction, and the call is cancelled before the end is repeated. If the record stayed open, the
// next caller would repeat the effect.
TEST_P(OnceCancellation, DoesNotKeepTheEndOfAnEffectFromItsRecord) {
    conflicting_connection view(opened->view());
    int calls = 0;
    const guard::async_once_work work = [&](const guard::attempt&) { return sent_once(calls); };
    asio::cancellation_signal cancel;
    auto ended = asio::co_spawn(loop, guard::async_at_least_once(view, "mail/7", {}, work),
                                asio::bind_cancellation_slot(cancel.slot(), asio::use_future));
    while (view.conflicts == 0)
        loop.run_one();
    cancel.emit(asio::cancellation_type::terminal);
    loop.run();
    EXPECT_EQ(ended.get().state, guard::once_state::done);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(admin->number("SELECT state FROM pawl_once"), 2);
}

// The work has its effect, although its coroutine is cancelled meanwhile.
asio::awaitable<guard::outcome> sent_while_cancelled(asio::cancellation_signal& cancel) {
    cancel.emit(asio::cancellation_type::terminal);
    co_return "sent"s;
}

TEST_P(OnceCancellation, DuringAnEffectDoesNotKeepItFromItsRecord) {
    asio::cancellation_signal cancel;
    const guard::async_once_work work = [&](const guard::attempt&) {
        return sent_while_cancelled(cancel);
    };
    auto ended =
        asio::co_spawn(loop, guard::async_at_least_once(opened->view(), "mail/7", {}, work),
                       asio::bind_cancellation_slot(cancel.slot(), asio::use_future));
    loop.run();
    EXPECT_EQ(ended.get().state, guard::once_state::done);
    EXPECT_EQ(admin->number("SELECT state FROM pawl_once"), 2);
}

EVERY_DATABASE(OnceCancellation);

}  // namespace
}  // namespace guard_tests
