// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The operations of an operator on a set of nodes, as a program calls them: with an event loop, and
// with threads.
#include "redlock_fixture.hpp"

#include <support/child.hpp>
#include <support/fault_proxy.hpp>

#include <pawl/blocking/redlock_administration.hpp>
#include <pawl/redlock_administration.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <gmock/gmock.h>
#include <redlock_scripts.hpp>

#include <algorithm>
#include <future>
#include <optional>
#include <stop_token>

namespace asio = boost::asio;

namespace {

using namespace chaos;
using pawl::redlock::administration;
using pawl::redlock::node_status;
using testing::HasSubstr;

std::size_t votes_of(const std::vector<node_status>& nodes) {
    return static_cast<std::size_t>(std::ranges::count(nodes, true, &node_status::votes));
}

class RedlockAdministration : public redlock_fixture {
protected:
    // The last node is behind a proxy.
    [[nodiscard]] pawl::redlock::options settings() {
        auto result =
            pawl::redlock::parse("redlock://" + group.name_of(0) + "," + group.name_of(1) +
                                 ",127.0.0.1:" + std::to_string(proxy.port()) + "?ttl_max=1000");
        result.reply_timeout = patience;
        return result;
    }
    // The loop ends when every operation has ended and its connections are closed.
    template <class Result>
    Result finish(std::future<Result> result) {
        loop.restart();
        loop.run();
        EXPECT_TRUE(eventually([&] { return proxy.connections_now() == 0; }));
        return result.get();
    }
    // The last node does not get the first request with this script.
    void lose_request(const pawl::redis::script& which) {
        proxy.inject({.matches = redis_fixture::script(which), .kind = fault_kind::lose_request});
    }
    // The last node does not answer the request whose answer every node must give.
    void lose_an_answer() {
        proxy.inject({.matches = redis_fixture::script(pawl::redlock::scripts::prepare),
                      .kind = fault_kind::swallow});
    }

    void restore_the_connection() {
        proxy.heal();
        proxy.kill_connections();
    }

    redlock_group group;
    support::fault_proxy proxy{{group.node(2).port(), {}}};
    asio::io_context loop;
    administration nodes{loop.get_executor(), settings()};
};

template <class Operation>
std::optional<errc> failure_of(Operation operation) {
    try {
        operation();
    } catch (const pawl::error& failed) {
        return failed.reason();
    }
    return std::nullopt;
}

asio::awaitable<std::size_t> begin_and_count_votes(administration& nodes) {
    co_await nodes.async_begin_set();
    const auto statuses = co_await nodes.async_examine();
    co_return votes_of(statuses);
}

TEST_F(RedlockAdministration, IsOfCoroutines) {
    EXPECT_EQ(finish(asio::co_spawn(loop, begin_and_count_votes(nodes), asio::use_future)), 3U);
    EXPECT_TRUE(client_at(pawl::redlock::at(settings()).describe())
                    .try_acquire("it", {.ttl = 900ms})
                    .owns_lock());
}

TEST_F(RedlockAdministration, LetsANodeJoinAgain) {
    const auto as_future = pawl::with_diagnostics(asio::use_future);
    finish(nodes.async_begin_set(false, as_future));
    (void)group.node(0).execute({"FLUSHALL"});
    EXPECT_EQ(votes_of(finish(nodes.async_examine(as_future))), 2U);
    EXPECT_EQ(group.node(0).execute({"HGET", "pawl:redlock", "incarnation"}).text, "");
    EXPECT_EQ(votes_of(finish(nodes.async_rejoin(as_future))), 2U) << "it is in quarantine";
    EXPECT_EQ(group.node(0).execute({"HGET", "pawl:redlock", "incarnation"}).text, "2");
}

TEST_F(RedlockAdministration, FailsWithTheMessage) {
    group.node(0).kill9();
    try {
        finish(nodes.async_begin_set(true, pawl::with_diagnostics(asio::use_future)));
        ADD_FAILURE() << "a set began without a node";
    } catch (const pawl::error& failed) {
        EXPECT_EQ(failed.reason(), errc::no_quorum);
        EXPECT_THAT(failed.what(), HasSubstr(group.name_of(0) + ": Connection refused"));
    }
}

TEST_F(RedlockAdministration, IsCancelledAndCanBeRepeated) {
    lose_an_answer();
    asio::cancellation_signal cancel;
    std::optional<boost::system::error_code> ended;
    pawl::diagnostics diag;
    nodes.async_begin_set(
        false, pawl::redirect_diagnostics(
                   asio::bind_cancellation_slot(
                       cancel.slot(), [&](boost::system::error_code code) { ended = code; }),
                   diag));
    ASSERT_TRUE(eventually([&] {
        loop.poll();
        return proxy.strike_count() == 1;
    }));
    EXPECT_FALSE(ended);
    cancel.emit(asio::cancellation_type::total);
    loop.run();
    EXPECT_EQ(ended, asio::error::operation_aborted);
    EXPECT_EQ(diag.message(), "The operation was cancelled.");
    restore_the_connection();
    EXPECT_EQ(finish(asio::co_spawn(loop, begin_and_count_votes(nodes), asio::use_future)), 3U);
}

TEST_F(RedlockAdministration, CompletesASetThatOneNodeHasNotJoined) {
    const pawl::blocking::redlock_administration set(settings());
    lose_request(pawl::redlock::scripts::install);
    EXPECT_EQ(failure_of([&] { set.begin_set(); }), errc::no_quorum);
    EXPECT_EQ(votes_of(set.examine()), 2U);
    EXPECT_EQ(failure_of([&] { set.begin_set(); }), std::nullopt);
    EXPECT_EQ(votes_of(set.examine()), 3U);
}

TEST_F(RedlockAdministration, EndsTheRestOfAFirstQuarantine) {
    auto patient = settings();
    patient.ttl_max = 1min;
    const pawl::blocking::redlock_administration set(patient);
    EXPECT_EQ(votes_of(set.rejoin()), 0U) << "the new set is in its first quarantine";
    lose_request(pawl::redlock::scripts::end_quarantine);
    EXPECT_EQ(failure_of([&] { set.begin_set(); }), errc::unreachable);
    EXPECT_EQ(votes_of(set.examine()), 2U);
    EXPECT_EQ(failure_of([&] { set.begin_set(); }), std::nullopt);
    EXPECT_EQ(votes_of(set.examine()), 3U);
    EXPECT_EQ(failure_of([&] { set.begin_set(); }), errc::bad_option) << "it grants locks";
}

// The other nodes' standings are known all the same.
TEST_F(RedlockAdministration, ShowsANodeWhoseOldMembershipCannotBeEnded) {
    const pawl::blocking::redlock_administration set(settings());
    set.begin_set();
    auto& last = group.node(2);
    const auto nonce = last.execute({"HGET", "pawl:redlock", "nonce"}).text;
    const auto vector = last.execute({"HGET", "pawl:redlock", "vector"}).text;
    (void)last.execute({"FLUSHALL"});
    EXPECT_EQ(votes_of(set.rejoin()), 2U) << "it is in quarantine";
    // Its older data come back.
    (void)last.execute(
        {"HSET", "pawl:redlock", "nonce", nonce, "vector", vector, "incarnation", "1"});
    lose_request(pawl::redlock::scripts::forget);
    std::vector<node_status> nodes_seen;
    EXPECT_EQ(failure_of([&] { nodes_seen = set.rejoin(); }), std::nullopt);
    EXPECT_EQ(votes_of(nodes_seen), 2U);
    EXPECT_EQ(failure_of([&] { nodes_seen = set.rejoin(); }), std::nullopt);
    EXPECT_EQ(last.execute({"HGET", "pawl:redlock", "incarnation"}).text, "3");
}

TEST_F(RedlockAdministration, IsOfThreads) {
    const pawl::blocking::redlock_administration set(settings());
    lose_an_answer();
    std::stop_source stop;
    auto cancelled = std::async(std::launch::async, [&] {
        try {
            set.begin_set(false, stop.get_token());
        } catch (const pawl::error& failed) {
            return failed.reason();
        }
        return errc::protocol;
    });
    EXPECT_TRUE(eventually([&] { return proxy.strike_count() == 1; }));
    stop.request_stop();
    EXPECT_EQ(cancelled.get(), errc::cancelled);
    restore_the_connection();
    set.begin_set();
    EXPECT_EQ(votes_of(set.examine()), 3U);
    (void)group.node(0).execute({"FLUSHALL"});
    EXPECT_EQ(votes_of(set.rejoin()), 2U);
}

TEST_F(RedlockAdministration, FailsWithoutThreads) {
    const auto named = settings();
    const auto result = support::run_in_child([&named] {
        asio::io_context own_loop;
        const administration own(own_loop.get_executor(), named);
        support::forbid_threads();
        std::string outcome;
        own.async_examine([&](boost::system::error_code code, const std::vector<node_status>&) {
            outcome = code == make_error_code(errc::exhausted) ? "exhausted" : code.message();
        });
        own_loop.run();
        try {
            (void)pawl::blocking::redlock_administration(named).examine();
        } catch (const pawl::error& failed) {
            outcome += failed.reason() == errc::exhausted ? ", exhausted" : failed.what();
        }
        return outcome;
    });
    EXPECT_EQ(result, "exhausted, exhausted");
}

TEST_F(RedlockAdministration, NeedsFencing) {
    auto classic = settings();
    classic.fenced = false;
    classic.ttl_max = pawl::redlock::options().ttl_max;
    try {
        const administration set(loop.get_executor(), classic);
        ADD_FAILURE() << "there is no set";
    } catch (const pawl::error& refused) {
        EXPECT_EQ(refused.reason(), errc::bad_option);
        EXPECT_THAT(refused.what(), HasSubstr("Redlock with fenced=no has no set of nodes"));
    }
}

}  // namespace
