// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The message of a failed operation, in a diagnostics object and in an exception.
#include "async_fixture.hpp"

#include <support/eventually.hpp>

#include <pawl/pawl.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using boost::system::error_code;
using pawl::redirect_diagnostics;
using pawl::with_diagnostics;
using testing::HasSubstr;

class AsyncDiagnostics : public tested::async_fixture {
protected:
    void wait_for_waiters(pawl::client& observer, std::uint64_t count) {
        ASSERT_TRUE(support::eventually(
            [&] { return observer.async_inspect("it", asio::use_future).get().waiters == count; }));
    }
};

using failure = std::pair<pawl::errc, std::string>;

// The reason and the message of an operation's exception. Its handler copies them: the thread
// sanitizer cannot see how libstdc++ counts the references to an exception that two threads share.
class expected_failure {
public:
    auto handler() {
        return [promise = promise_](const std::exception_ptr& thrown, auto&&...) {
            promise->set_value(copy_of(thrown));
        };
    }
    failure get() { return promise_->get_future().get(); }

private:
    static failure copy_of(const std::exception_ptr& thrown) {
        try {
            if (thrown) std::rethrow_exception(thrown);
        } catch (const pawl::error& e) {
            return {e.reason(), e.what()};
        } catch (const std::exception& e) {
            return {{}, e.what()};
        }
        return {{}, "no exception"};
    }

    std::shared_ptr<std::promise<failure>> promise_ = std::make_shared<std::promise<failure>>();
};

// Both are under way before the first one completes: the strand belongs to the loop's thread, which
// is busy until both have begun.
TEST_P(AsyncDiagnostics, OperationsThatFailTogetherHaveTheirOwnMessages) {
    auto locks = make_client();
    std::promise<void> both_begun;
    asio::post(loop, [begun = both_begun.get_future().share()] { begun.wait(); });
    pawl::diagnostics first, second;
    const std::string long_name(600, 'x');
    auto no_permits =
        locks.async_resize("it", 0, redirect_diagnostics(asio::as_tuple(asio::use_future), first));
    auto no_name = locks.async_acquire(
        long_name, {.ttl = 60s}, redirect_diagnostics(asio::as_tuple(asio::use_future), second));
    both_begun.set_value();
    EXPECT_EQ(std::error_code(std::get<0>(no_permits.get())), pawl::errc::bad_option);
    EXPECT_EQ(std::error_code(std::get<0>(no_name.get())), pawl::errc::bad_name);
    EXPECT_THAT(first.message(), HasSubstr("total of a semaphore is 0"));
    EXPECT_THAT(second.message(), HasSubstr("600 bytes"));
}

TEST_P(AsyncDiagnostics, ASuccessClearsTheMessage) {
    auto locks = make_client();
    pawl::diagnostics diag("an earlier message");
    auto lock =
        locks.async_acquire("it", {.ttl = 60s}, redirect_diagnostics(asio::use_future, diag)).get();
    EXPECT_TRUE(lock);
    EXPECT_EQ(diag.message(), "");
    EXPECT_TRUE(std::get<0>(
        locks.async_inspect("", redirect_diagnostics(asio::as_tuple(asio::use_future), diag))
            .get()));
    EXPECT_THAT(diag.message(), HasSubstr("name is empty"));
    EXPECT_TRUE(
        locks.async_inspect("it", redirect_diagnostics(asio::use_future, diag)).get().held_by);
    EXPECT_EQ(diag.message(), "");
}

TEST_P(AsyncDiagnostics, ACancellationHasAMessage) {
    auto locks = make_client(), other = make_client();
    auto held = other.async_acquire("it", {.ttl = 60s}, asio::use_future).get();
    asio::cancellation_signal first_signal, second_signal;
    pawl::diagnostics diag;
    auto by_code = locks.async_acquire(
        "it", {.ttl = 60s},
        redirect_diagnostics(
            asio::bind_cancellation_slot(first_signal.slot(), asio::as_tuple(asio::use_future)),
            diag));
    expected_failure by_exception;
    locks.async_acquire("it", {.ttl = 60s},
                        asio::bind_cancellation_slot(second_signal.slot(),
                                                     with_diagnostics(by_exception.handler())));
    wait_for_waiters(other, 1);
    asio::post(loop, [&] {
        first_signal.emit(asio::cancellation_type::terminal);
        second_signal.emit(asio::cancellation_type::terminal);
    });
    EXPECT_EQ(std::get<0>(by_code.get()), asio::error::operation_aborted);
    EXPECT_EQ(diag.message(), "The operation was cancelled.");
    const auto [reason, message] = by_exception.get();
    EXPECT_EQ(reason, pawl::errc::cancelled);
    EXPECT_EQ(message, "The operation was cancelled.");
    wait_for_waiters(other, 0);
}

TEST_P(AsyncDiagnostics, TheEndOfTheClientHasAMessage) {
    auto holder = make_client();
    auto held = holder.async_acquire("it", {.ttl = 60s}, asio::use_future).get();
    expected_failure waiting;
    {
        auto locks = make_client();
        locks.async_acquire("it", {.ttl = 60s}, with_diagnostics(waiting.handler()));
        wait_for_waiters(holder, 1);
    }
    const auto [reason, message] = waiting.get();
    EXPECT_EQ(reason, pawl::errc::cancelled);
    EXPECT_THAT(message, HasSubstr("client was closed"));
}

// The object is set on the handler's executor, and not touched afterwards: the handler destroys it.
TEST_P(AsyncDiagnostics, BelongToTheHandler) {
    auto locks = make_client();
    const auto strand = asio::make_strand(loop);
    std::optional<pawl::diagnostics> diag(std::in_place);
    std::promise<std::string> message;
    locks.async_inspect(
        "", redirect_diagnostics(
                asio::bind_executor(strand,
                                    [&](error_code, auto&&) {
                                        const bool on_strand = strand.running_in_this_thread();
                                        const auto found = diag->message();
                                        diag.reset();
                                        message.set_value(on_strand ? found : "not on the strand");
                                    }),
                *diag));
    EXPECT_THAT(message.get_future().get(), HasSubstr("name is empty"));
}

asio::awaitable<std::vector<std::string>> fail_in_every_way(pawl::client& locks) {
    std::vector<std::string> messages;
    const auto note = [&messages](const pawl::error& e) {
        messages.push_back(std::to_string(static_cast<int>(e.reason())) + e.what());
    };
    try {
        co_await locks.async_acquire("", {}, with_diagnostics(asio::use_awaitable));
    } catch (const pawl::error& e) {
        note(e);
    }
    try {
        co_await locks.async_acquire("", {}, with_diagnostics(asio::deferred));
    } catch (const pawl::error& e) {
        note(e);
    }
    try {
        co_await locks.async_acquire("", {},
                                     with_diagnostics(asio::cancel_after(60s, asio::deferred)));
    } catch (const pawl::error& e) {
        note(e);
    }
    try {
        co_await locks.async_acquire("", {},
                                     asio::cancel_after(60s, with_diagnostics(asio::deferred)));
    } catch (const pawl::error& e) {
        note(e);
    }
    pawl::diagnostics diag;
    try {
        co_await locks.async_acquire(
            "", {}, redirect_diagnostics(with_diagnostics(asio::use_awaitable), diag));
    } catch (const pawl::error& e) {
        note(e);
        EXPECT_EQ(diag.message(), e.what());
    }
    const auto result =
        co_await locks.async_acquire("", {}, with_diagnostics(asio::as_tuple(asio::deferred)));
    try {
        std::rethrow_exception(std::get<0>(result));
    } catch (const pawl::error& e) {
        note(e);
    }
    co_return messages;
}

TEST_P(AsyncDiagnostics, ExceptionsHaveTheMessage) {
    auto locks = make_client();
    auto messages = wait_for(fail_in_every_way(locks));
    expected_failure by_callback;
    locks.async_acquire("", {}, with_diagnostics(by_callback.handler()));
    const auto [reason, message] = by_callback.get();
    messages.push_back(std::to_string(static_cast<int>(reason)) + message);
    const auto expected = std::to_string(static_cast<int>(pawl::errc::bad_name)) +
                          "The lock's name is empty; give it 1 to 512 bytes.";
    EXPECT_EQ(messages, std::vector(7, expected));
}

asio::awaitable<pawl::fencing_token> succeed_in_every_way(pawl::client& locks) {
    auto lock = co_await locks.async_acquire("it", {}, with_diagnostics(asio::use_awaitable));
    co_await lock.async_renew(with_diagnostics(asio::deferred));
    (void)co_await lock.async_release();
    lock = co_await locks.async_acquire("it", {},
                                        with_diagnostics(asio::cancel_after(60s, asio::deferred)));
    (void)co_await lock.async_release();
    pawl::diagnostics diag;
    lock = co_await locks.async_acquire("it", {}, redirect_diagnostics(asio::deferred, diag));
    co_return lock.token();
}

TEST_P(AsyncDiagnostics, AdaptersPassResultsOn) {
    auto locks = make_client();
    EXPECT_TRUE(wait_for(succeed_in_every_way(locks)));
}

asio::awaitable<void> acquire_for_50_ms(pawl::client& locks, bool inside) {
    if (inside)
        co_await locks.async_acquire("it", {}, with_diagnostics(asio::cancel_after(50ms)));
    else
        co_await locks.async_acquire("it", {},
                                     asio::cancel_after(50ms, with_diagnostics(asio::deferred)));
}

TEST_P(AsyncDiagnostics, ATimeLimitIsACancellation) {
    auto locks = make_client(), other = make_client();
    auto held = other.async_acquire("it", {.ttl = 60s}, asio::use_future).get();
    for (const bool inside : {true, false}) {
        expected_failure limited;
        asio::co_spawn(loop, acquire_for_50_ms(locks, inside), limited.handler());
        const auto [reason, message] = limited.get();
        EXPECT_EQ(reason, pawl::errc::cancelled);
        EXPECT_EQ(message, "The operation was cancelled.");
    }
    wait_for_waiters(other, 0);
}

TEST_P(AsyncDiagnostics, EveryOperationOfAClientTakesThem) {
    auto locks = make_client();
    pawl::lock_owner owner(locks);
    pawl::semaphore permits(locks, "", 1);
    pawl::latch latch(locks, "");
    pawl::barrier barrier(locks, "", 2);
    pawl::election election(locks, "");
    std::vector<pawl::diagnostics> all(30);
    std::size_t used = 0;
    const auto failed = [&](auto&& start) {
        const auto tuple = asio::as_tuple(asio::use_future);
        const auto result = start(redirect_diagnostics(tuple, all.at(used))).get();
        EXPECT_TRUE(std::get<0>(result)) << used;
        EXPECT_NE(all[used].message(), "") << used;
        ++used;
    };
    const std::vector<std::string> names{""};
    failed([&](auto token) { return locks.async_acquire("", {}, token); });
    failed([&](auto token) { return locks.async_try_acquire("", {}, token); });
    failed([&](auto token) { return locks.async_acquire_as("", "v", {}, token); });
    failed([&](auto token) { return locks.async_try_acquire_as("", "v", {}, token); });
    failed([&](auto token) { return locks.async_adopt("", "v", {}, token); });
    failed([&](auto token) { return locks.async_acquire_all(names, {}, token); });
    failed([&](auto token) { return locks.async_try_acquire_all(names, {}, token); });
    failed([&](auto token) { return locks.async_inspect("", token); });
    failed([&](auto token) { return locks.async_wait_change("", {}, 1s, token); });
    failed([&](auto token) { return locks.async_force_release("", token); });
    failed([&](auto token) { return locks.async_resize("it", 0, token); });
    failed([&](auto token) { return owner.async_acquire("", {}, token); });
    failed([&](auto token) { return owner.async_try_acquire("", {}, token); });
    failed([&](auto token) { return owner.async_acquire_all(names, {}, token); });
    failed([&](auto token) { return owner.async_try_acquire_all(names, {}, token); });
    failed([&](auto token) { return permits.async_acquire(1, token); });
    failed([&](auto token) { return permits.async_try_acquire(1, token); });
    failed([&](auto token) { return permits.async_resize(1, token); });
    failed([&](auto token) { return latch.async_try_set(1, token); });
    failed([&](auto token) { return latch.async_count_down(1, token); });
    failed([&](auto token) { return latch.async_try_wait(token); });
    failed([&](auto token) { return latch.async_wait(1s, token); });
    failed([&](auto token) { return latch.async_arrive_and_wait(1s, token); });
    failed([&](auto token) { return latch.async_inspect(token); });
    failed([&](auto token) { return latch.async_reset(token); });
    failed([&](auto token) { return barrier.async_arrive(token); });
    failed([&](auto token) { return barrier.async_wait(pawl::phase{}, 1s, token); });
    failed([&](auto token) { return barrier.async_arrive_and_wait(1s, token); });
    failed([&](auto token) { return election.async_campaign(token); });
    failed([&](auto token) { return election.async_leader(token); });
    pawl::diagnostics diag("an earlier message");
    EXPECT_TRUE(locks.async_list("", redirect_diagnostics(asio::use_future, diag)).get().empty());
    EXPECT_EQ(diag.message(), "");
    EXPECT_FALSE(
        locks.async_examine(redirect_diagnostics(asio::use_future, diag)).get().findings.empty());
}

TEST_P(AsyncDiagnostics, OperationsOfAHandleTakeThem) {
    auto locks = make_client();
    auto lock = locks.async_acquire("it", {.ttl = 60s}, asio::use_future).get();
    pawl::diagnostics diag;
    lock.async_renew(redirect_diagnostics(asio::use_future, diag)).get();
    EXPECT_EQ(diag.message(), "");
    pawl::diagnostics of_wait;
    auto waiting =
        lock.async_wait_lost(redirect_diagnostics(asio::as_tuple(asio::use_future), of_wait));
    EXPECT_EQ(lock.async_release(asio::use_future).get(), pawl::release_result::released);
    EXPECT_EQ(std::get<0>(waiting.get()), asio::error::operation_aborted);
    EXPECT_THAT(of_wait.message(), HasSubstr("released"));
    expected_failure renewal;
    lock.async_renew(redirect_diagnostics(with_diagnostics(renewal.handler()), diag));
    EXPECT_EQ(renewal.get().first, pawl::errc::lost);
    EXPECT_THAT(diag.message(), HasSubstr("'it'"));
    auto set = locks.async_acquire_all({"a", "b"}, {.ttl = 60s}, asio::use_future).get();
    set.async_renew(redirect_diagnostics(asio::use_future, diag)).get();
    EXPECT_EQ(diag.message(), "");
}

TEST_P(AsyncDiagnostics, EveryObjectHasTheExecutorOfItsClient) {
    auto locks = make_client();
    const boost::asio::any_io_executor expected = loop.get_executor();
    EXPECT_EQ(locks.get_executor(), expected);
    EXPECT_EQ(pawl::lock_owner(locks).get_executor(), expected);
    EXPECT_EQ(pawl::semaphore(locks, "it", 1).get_executor(), expected);
    EXPECT_EQ(pawl::latch(locks, "it").get_executor(), expected);
    EXPECT_EQ(pawl::barrier(locks, "it", 1).get_executor(), expected);
    EXPECT_EQ(pawl::election(locks, "it").get_executor(), expected);
    EXPECT_EQ(pawl::held_lock().get_executor(), asio::any_io_executor());
    EXPECT_EQ(pawl::held_locks().get_executor(), asio::any_io_executor());
    auto lock = locks.async_acquire("it", {.ttl = 60s}, asio::use_future).get();
    EXPECT_EQ(lock.get_executor(), expected);
    auto set = locks.async_acquire_all({"a", "b"}, {.ttl = 60s}, asio::use_future).get();
    EXPECT_EQ(set.get_executor(), expected);
    static_assert(std::is_same_v<pawl::client::executor_type, asio::any_io_executor> &&
                  std::is_same_v<pawl::held_lock::executor_type, asio::any_io_executor> &&
                  std::is_same_v<pawl::held_locks::executor_type, asio::any_io_executor> &&
                  std::is_same_v<pawl::semaphore::executor_type, asio::any_io_executor>);
}

INSTANTIATE_TEST_SUITE_P(On, AsyncDiagnostics, testing::ValuesIn(tested::async_services()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
