// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An attempt that does not wait ends within its own limit, and its error names the limit and the
// cause. The reply timeout of these clients is ten minutes: without a limit, the tests would not
// end.
#include "redis_fixture.hpp"

#include <support/redlock_group.hpp>

#include <pawl/client.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <future>

namespace {

namespace asio = boost::asio;
using namespace chaos;

constexpr auto slow = "?reply_timeout=600000&connect_timeout=600000";

class TryLimit : public testing::Test, protected redis_fixture {
protected:
    client limited(const std::string& url) {
        return client(pawl::from_url(url), {.drain = 0s, .try_limit = 300ms});
    }
    void expect_limit(client& locks) {
        const auto tried = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
        const auto waited = failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 0s}); });
        for (const auto& failed : {tried, waited}) {
            ASSERT_TRUE(failed);
            EXPECT_EQ(failed->reason, errc::unreachable);
            EXPECT_NE(failed->sentence.find("300 ms (try_limit)"), std::string::npos)
                << failed->sentence;
        }
        const auto bounded =
            failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 20ms}); });
        ASSERT_TRUE(bounded);
        EXPECT_NE(bounded->sentence.find("20 ms"), std::string::npos) << bounded->sentence;
    }
};

TEST_F(TryLimit, HoldsAtAServerThatIsFrozen) {
    client locks = limited(server.url(slow));
    EXPECT_TRUE(locks.try_acquire("other", {.ttl = 2s}).owns_lock());
    server.freeze();
    expect_limit(locks);
    server.thaw();
    EXPECT_TRUE(can_acquire(locks));
}

TEST_F(TryLimit, HoldsAtAPortThatRefuses) {
    client locks = limited("redis://127.0.0.1:1" + std::string(slow));
    expect_limit(locks);
    const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
    EXPECT_NE(failed->sentence.find("refused"), std::string::npos) << failed->sentence;
}

TEST_F(TryLimit, HoldsInEachLayout) {
    for (const std::string layout : {"&layout=redisson", "&scripts=no"}) {
        client locks = limited(server.url(slow + layout));
        server.freeze();
        expect_limit(locks);
        server.thaw();
    }
}

TEST_F(TryLimit, HoldsOverNodesThatAreFrozen) {
    support::redlock_group group;
    const auto url = group.url(slow);
    support::redlock_group::begin_set(url);
    client connected = limited(url), late = limited(url);
    EXPECT_TRUE(connected.try_acquire("other", {.ttl = 2s}).owns_lock());
    for (const std::size_t node : {0U, 1U})
        group.node(node).freeze();
    for (auto* const locks : {&connected, &late}) {
        // A tenth of this ttl is longer than the limit.
        const auto tried = failure_of([&] { (void)locks->try_acquire("it", {.ttl = 30s}); });
        const auto waited =
            failure_of([&] { (void)locks->acquire("it", {.ttl = 30s, .wait = 0s}); });
        const auto bounded =
            failure_of([&] { (void)locks->acquire("it", {.ttl = 30s, .wait = 20ms}); });
        ASSERT_TRUE(bounded);
        EXPECT_NE(bounded->sentence.find("The wait was 20 ms."), std::string::npos)
            << bounded->sentence;
        for (const auto& failed : {tried, waited}) {
            ASSERT_TRUE(failed);
            EXPECT_EQ(failed->reason, errc::no_quorum);
            EXPECT_NE(failed->sentence.find("300 ms (try_limit)"), std::string::npos)
                << failed->sentence;
            for (const std::size_t node : {0U, 1U})
                EXPECT_NE(failed->sentence.find(group.name_of(node)), std::string::npos)
                    << failed->sentence;
        }
    }
    for (const std::size_t node : {0U, 1U})
        group.node(node).thaw();
    EXPECT_TRUE(can_acquire(late));
}

TEST_F(TryLimit, HoldsInTheAsyncApi) {
    asio::io_context loop;
    const pawl::client_options settings{.drain = 0s, .try_limit = 300ms};
    pawl::client locks(loop.get_executor(), pawl::from_url(server.url(slow)), settings);
    server.freeze();
    pawl::diagnostics diag;
    auto result = locks.async_try_acquire("it", {.ttl = 2s},
                                          pawl::redirect_diagnostics(asio::use_future, diag));
    while (result.wait_for(0s) != std::future_status::ready)
        loop.run_one();
    server.thaw();
    EXPECT_THROW((void)result.get(), boost::system::system_error);
    EXPECT_NE(diag.message().find("300 ms (try_limit)"), std::string::npos) << diag.message();
}

TEST_F(TryLimit, OutOfRangeIsRefused) {
    for (const pawl::duration limit : {pawl::duration(0), pawl::duration(11min)}) {
        const auto failed = failure_of(
            [&] { const client locks(pawl::from_url("memory:"), {.try_limit = limit}); });
        ASSERT_TRUE(failed);
        EXPECT_EQ(failed->reason, errc::bad_option);
    }
}

}  // namespace
