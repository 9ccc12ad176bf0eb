// A server that is away: a wait covers its absence as it covers the lock's, a try does not.
#include "scene.hpp"

#include <pawl/blocking_election.hpp>
#include <pawl/blocking_latch.hpp>
#include <pawl/client.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <filesystem>

namespace {

using namespace chaos;

const std::string waiting = "Waiting for the service: ";

class Away : public testing::Test, protected scene {
protected:
    bool waits() {
        return eventually([this] { return notes.text().find(waiting) != std::string::npos; });
    }
    // Begun while the server is away; it comes back, and this ends well.
    void expect_to_outlast(const std::string& more, const std::function<void(client&)>& wait) {
        const auto before = notes.text().size();
        client locks = direct(more);
        server.kill9();
        beside begun([&] { wait(locks); });
        EXPECT_TRUE(
            eventually([&] { return notes.text().find(waiting, before) != std::string::npos; }));
        server.start();
        begun.join();
    }
    void expect_absence(const std::optional<failure>& what) {
        ASSERT_TRUE(what.has_value());
        EXPECT_EQ(what->reason, errc::unreachable) << what;
        EXPECT_NE(what->sentence.find(std::to_string(server.port())), std::string::npos) << what;
        EXPECT_NE(what->sentence.find("refused"), std::string::npos) << what;
    }
};

TEST_F(Away, AWaitCoversIt) {
    for (const std::string& layout : {std::string(), std::string("?layout=redisson")}) {
        for (const auto wait : {pawl::duration(patience), pawl::forever}) {
            expect_to_outlast(layout, [&](client& locks) {
                auto lock = locks.acquire("it", {.ttl = 2s, .wait = wait});
                EXPECT_EQ(lock.release(), release_result::released);
            });
        }
    }
}

TEST_F(Away, AWaitForSeveralCoversIt) {
    expect_to_outlast("", [](client& locks) {
        const auto all = locks.acquire_all({"a", "b"}, {.ttl = 2s, .wait = patience});
        EXPECT_TRUE(all);
    });
}

TEST_F(Away, ACampaignCoversIt) {
    expect_to_outlast("", [](client& locks) {
        pawl::blocking::election term(locks, "it", {.ttl = 2s, .wait = patience});
        EXPECT_TRUE(term.campaign().owns_lock());
    });
}

//   C waits for the latch | the server dies, and comes back without its data | another sets it and
//   counts it down | C goes on, or is told that the latch was forgotten: C does not hang
TEST_F(Away, AWaitForALatchGoesOnWhenTheServerIsBack) {
    client waits = direct(), counts = direct();
    pawl::blocking::latch mine(waits, "it"), other(counts, "it");
    ASSERT_TRUE(other.try_set(1));
    std::optional<failure> what;
    beside begun([&] { what = failure_of([&] { mine.wait(); }); });
    ASSERT_TRUE(eventually([&] { return other.inspect().waiters == 1; }));
    server.kill9();
    const auto away = failure_of([&] { (void)other.inspect(); });
    EXPECT_EQ(away->reason, errc::unreachable) << away;
    server.start();
    begun.join();
    ASSERT_TRUE(what.has_value()) << "nobody counted it down";
    EXPECT_EQ(what->reason, errc::lost) << what;
}

TEST_F(Away, ATryFailsAtOnce) {
    client locks = direct();
    server.kill9();
    expect_absence(failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); }));
    expect_absence(failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 0s}); }));
    expect_absence(failure_of([&] { (void)locks.try_acquire_all({"a", "b"}, {.ttl = 2s}); }));
    EXPECT_EQ(notes.text().find(waiting), std::string::npos) << notes.text();
}

// The wait ends first: the reason is the absence, for who stands behind another of the client too.
TEST_F(Away, AWaitThatEndsMeanwhileSaysWhy) {
    client locks = direct();
    server.kill9();
    std::optional<failure> first, second, beside_others;
    {
        const beside one([&] {
            first = failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 3s}); });
        });
        const beside two([&] {
            second = failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 2s}); });
        });
        const beside three([&] {
            beside_others = failure_of([&] {
                (void)locks.acquire("it", {.ttl = 2s, .wait = 2s, .mode = pawl::lock_mode::shared});
            });
        });
    }
    expect_absence(first);
    expect_absence(second);
    expect_absence(beside_others);
}

TEST_F(Away, AWaitInLineThatEndsMeanwhileSaysWhy) {
    client holder = direct(), locks = direct();
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    std::optional<failure> what;
    beside waiter(
        [&] { what = failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 4s}); }); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    server.kill9();
    waiter.join();
    expect_absence(what);
}

// In line, the server goes and comes back: the wait goes on.
TEST_F(Away, AWaitInLineGoesOn) {
    client holder = direct(), locks = direct();
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    held_lock got;
    beside waiter([&] { got = locks.acquire("it", {.ttl = 2s, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    server.kill9();
    ASSERT_TRUE(waits());
    server.start();
    waiter.join();
    EXPECT_TRUE(got.owns_lock());
}

TEST_F(Away, AnAsynchronousWaitCoversIt) {
    boost::asio::io_context loop;
    auto guard = boost::asio::make_work_guard(loop);
    std::jthread running([&] { loop.run(); });
    {
        pawl::client_options options;
        options.log = [this](std::string_view line) { notes.write(line); };
        pawl::client locks(loop.get_executor(), pawl::redis::at(server.url()), options);
        server.kill9();
        auto given =
            locks.async_acquire("it", {.ttl = 2s, .wait = patience}, boost::asio::use_future);
        EXPECT_TRUE(waits());
        server.start();
        EXPECT_TRUE(given.get().owns_lock());
    }
    guard.reset();
}

// What no wait helps against ends the longest one.
TEST_F(Away, FatalAnswersEndAWait) {
    const auto fails = [&](const std::string& url, errc reason, const std::string& says) {
        client locks = at(url);
        const auto what =
            failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = pawl::forever}); });
        ASSERT_TRUE(what.has_value());
        EXPECT_EQ(what->reason, reason) << what;
        EXPECT_NE(what->sentence.find(says), std::string::npos) << what;
    };
    support::redis_server closed({.config = {"requirepass secret"}, .password = "secret"});
    fails(closed.url(), errc::refused, "NOAUTH");
    const auto other = closed.folder().file("redis.conf");
    std::filesystem::permissions(other, std::filesystem::perms(0600));
    fails(closed.url("/99?password_file=" + other), errc::refused, "WRONGPASS");
    fails(server.url("/99"), errc::bad_option, "DB index");
}

}  // namespace
