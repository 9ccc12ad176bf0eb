// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A hold that ends before its release, as a failover or a deleted key ends it: whatever releases
// it, the loss is counted, logged and told.
#include "redis_fixture.hpp"

#include <pawl/blocking/mutex.hpp>
#include <pawl/blocking/semaphore.hpp>
#include <pawl/blocking/shared_mutex.hpp>
#include <pawl/with_lock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <future>
#include <shared_mutex>

namespace {

namespace asio = boost::asio;
using namespace chaos;
using pawl::loss_reason;

// Each test: A holds the lock | its keys are deleted | A releases it, before any renewal is due.
class LateRelease : public testing::Test, protected redis_fixture {
protected:
    void delete_holds() { (void)server.execute({"FLUSHALL"}); }
    [[nodiscard]] bool is_logged(const std::string& name) const {
        return client_log.text().find("lost '" + name + "' before its release: ") !=
               std::string::npos;
    }
    // The background has released the hold.
    static bool is_counted(client& locks) {
        return eventually([&] { return locks.statistics().late_releases == 1; });
    }
    static constexpr pawl::lock_options options{.ttl = long_ttl, .wait = patience};
    static constexpr pawl::lease_options lease{.ttl = long_ttl};
};

TEST_F(LateRelease, IsCountedLoggedAndTold) {
    client locks = direct_client();
    auto lock = locks.acquire("it", options);
    const loss_recorder loss(lock);
    delete_holds();
    EXPECT_EQ(lock.release(), release_result::expired);
    EXPECT_EQ(lock.state(), lock_state::lost);
    EXPECT_EQ(lock.why_lost(), loss_reason::missing);
    EXPECT_TRUE(lock.lost().stop_requested());
    EXPECT_TRUE(loss.is_told_within(patience));
    EXPECT_EQ(locks.statistics().late_releases, 1U);
    EXPECT_EQ(locks.statistics().losses, 0U);
    EXPECT_TRUE(is_logged("it"));
    EXPECT_EQ(lock.release(), release_result::expired) << "the same result twice";
    EXPECT_EQ(locks.statistics().late_releases, 1U) << "counted once";
}

TEST_F(LateRelease, OfATakenOverLockNamesTheReason) {
    client locks = direct_client(), other = direct_client();
    auto lock = locks.acquire("it", options);
    delete_holds();
    auto next = other.acquire("it", options);
    EXPECT_EQ(lock.release(), release_result::taken_over);
    EXPECT_EQ(lock.why_lost(), loss_reason::taken_over);
    EXPECT_TRUE(is_counted(locks));
    EXPECT_EQ(next.release(), release_result::released);
}

TEST_F(LateRelease, OfReadersPermitsAndSetsIsCounted) {
    client locks = direct_client();
    auto reader =
        locks.acquire("read", {.ttl = long_ttl, .wait = patience, .mode = pawl::lock_mode::shared});
    pawl::blocking::semaphore semaphore(locks, "permits", 3, lease);
    auto permits = semaphore.acquire_permits(2);
    auto set = locks.acquire_all({"a", "b"}, options);
    delete_holds();
    EXPECT_EQ(reader.release(), release_result::expired);
    EXPECT_EQ(permits.release(), release_result::expired);
    EXPECT_EQ(set.release(), release_result::expired);
    EXPECT_EQ(set.state(), lock_state::lost);
    EXPECT_EQ(locks.statistics().late_releases, 4U);
}

TEST_F(LateRelease, OfADestroyedHandleIsCounted) {
    client locks = direct_client();
    std::stop_token lost;
    {
        const auto lock = locks.acquire("it", options);
        lost = lock.lost();
        delete_holds();
    }
    EXPECT_TRUE(is_counted(locks));
    EXPECT_TRUE(is_logged("it"));
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
}

TEST_F(LateRelease, OfAGuardIsCounted) {
    client locks = direct_client();
    auto lock = locks.acquire("it", options);
    {
        const pawl::blocking::release_guard guard(lock);
        delete_holds();
    }
    EXPECT_EQ(lock.state(), lock_state::lost);
    EXPECT_EQ(locks.statistics().late_releases, 1U);
}

TEST_F(LateRelease, OfEachMutexIsCounted) {
    client locks = direct_client();
    pawl::blocking::mutex plain(locks, "plain", lease);
    pawl::blocking::recursive_mutex recursive(locks, "recursive", lease);
    pawl::blocking::shared_mutex shared(locks, "shared", lease);
    pawl::blocking::semaphore semaphore(locks, "semaphore", 1, lease);
    {
        const std::scoped_lock both(plain, recursive);
        const std::shared_lock reading(shared);
        semaphore.acquire();
        delete_holds();
        semaphore.release();
    }
    EXPECT_EQ(locks.statistics().late_releases, 4U);
}

TEST_F(LateRelease, IsReportedByWithLock) {
    client locks = direct_client();
    const auto lose = [&](held_lock&) { delete_holds(); };
    const auto failed = failure_of([&] { with_lock(locks, "it", options, lose); });
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->reason, errc::lost);
    EXPECT_NE(failed->sentence.find("'it'"), std::string::npos) << failed->sentence;
    EXPECT_TRUE(failure_of([&] { (void)try_with_lock(locks, "it", {.ttl = long_ttl}, lose); }));
    EXPECT_EQ(locks.statistics().late_releases, 2U);
}

TEST_F(LateRelease, LeavesTheResultOfTheWorkToItsCaller) {
    client locks = direct_client();
    const auto work = [&](held_lock&) {
        delete_holds();
        return std::string("charged");
    };
    try {
        (void)with_lock(locks, "it", options, work);
        ADD_FAILURE() << "no exception";
    } catch (const pawl::lost_during_work<std::string>& lost) {
        EXPECT_EQ(lost.reason(), errc::lost);
        EXPECT_EQ(lost.result(), "charged");
    }
}

TEST_F(LateRelease, DoesNotReplaceTheExceptionOfTheWork) {
    client locks = direct_client();
    const auto work = [&](held_lock&) {
        delete_holds();
        throw std::runtime_error("by the work");
    };
    EXPECT_THROW(with_lock(locks, "it", options, work), std::runtime_error);
    EXPECT_EQ(locks.statistics().late_releases, 1U);
}

// A loss in the middle of the work asks it to stop.
TEST_F(LateRelease, AndTheWorkIsAskedToStopWhenTheLossIsNoticedBefore) {
    client locks = direct_client(), other = direct_client();
    bool was_asked = false;
    const auto work = [&](held_lock& lock, const std::stop_token& stop) {
        EXPECT_TRUE(other.force_release(std::string(lock.name())));
        was_asked = eventually([&] { return stop.stop_requested(); });
    };
    EXPECT_EQ(failure_of([&] { with_lock(locks, "it", options, work); })->reason, errc::lost);
    EXPECT_TRUE(was_asked);
    EXPECT_EQ(locks.statistics().losses, 1U);
    EXPECT_EQ(locks.statistics().late_releases, 0U);
}

struct deleting_work {
    support::redis_server& server;
    asio::awaitable<int> operator()(pawl::held_lock&, std::stop_token) const {
        (void)server.execute({"FLUSHALL"});
        co_return 7;
    }
};

TEST_F(LateRelease, InTheAsyncApiIsReported) {
    asio::io_context loop;
    pawl::client locks(loop.get_executor(), pawl::from_url(server.url()));
    auto result = asio::co_spawn(loop, pawl::with_lock(locks, "it", options, deleting_work{server}),
                                 asio::use_future);
    const auto run_until = [&](auto& future) {
        while (future.wait_for(0s) != std::future_status::ready)
            loop.run_one();
    };
    run_until(result);
    try {
        (void)result.get();
        ADD_FAILURE() << "no exception";
    } catch (const pawl::lost_during_work<int>& lost) {
        EXPECT_EQ(lost.result(), 7);
    }
    EXPECT_EQ(locks.statistics().late_releases, 1U);
    auto acquired = locks.async_acquire("it", options, asio::use_future);
    run_until(acquired);
    auto lock = acquired.get();
    delete_holds();
    auto released = lock.async_release(asio::use_future);
    run_until(released);
    EXPECT_EQ(released.get(), release_result::expired);
    EXPECT_EQ(lock.state(), lock_state::lost);
    EXPECT_EQ(locks.statistics().late_releases, 2U);
}

}  // namespace
