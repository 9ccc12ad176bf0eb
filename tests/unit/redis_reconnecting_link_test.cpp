// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a link decides without I/O: its states, the addresses to try, the log lines, and the texts
// about the end of a connection.
#include "manual_time.hpp"

#include <redis/transport/connection_attempt.hpp>
#include <redis/transport/failure_log.hpp>
#include <redis/transport/link_state.hpp>
#include <redis/transport/server_addresses.hpp>
#include <redis/transport/waiting_requests.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace pawl::redis;

pawl::net::address address_of(const char* host) {
    return asio::ip::tcp::endpoint(asio::ip::make_address(host), 6379);
}

const auto first = address_of("127.0.0.1");
const auto second = address_of("127.0.0.2");
const auto third = address_of("127.0.0.3");

TEST(LinkState, ALinkIsReadyFromItsHandshakeToTheEndOfItsConnection) {
    link_state state;
    EXPECT_TRUE(state.is_idle());
    state.start();
    EXPECT_FALSE(state.is_idle());
    EXPECT_FALSE(state.is_ready());
    state.become_ready();
    EXPECT_TRUE(state.is_ready());
    EXPECT_TRUE(state.end_connection());
    EXPECT_FALSE(state.is_ready());
    EXPECT_FALSE(state.is_idle());
    EXPECT_FALSE(state.end_connection());
}

TEST(LinkState, ALinkWhoseCoroutineHasEndedStartsAgain) {
    link_state state;
    state.start();
    state.become_ready();
    state.stop();
    EXPECT_TRUE(state.is_idle());
    EXPECT_FALSE(state.is_ready());
    EXPECT_FALSE(state.is_closed());
}

TEST(LinkState, AClosedLinkStaysReadyUntilItsConnectionHasEnded) {
    link_state state;
    state.start();
    state.become_ready();
    state.close();
    EXPECT_TRUE(state.is_closed());
    EXPECT_TRUE(state.is_ready());
    EXPECT_TRUE(state.end_connection());
    EXPECT_FALSE(state.is_ready());
    EXPECT_TRUE(state.is_closed());
}

TEST(LinkState, AClosedLinkNeverStartsOrBecomesReady) {
    link_state unused;
    unused.close();
    unused.start();
    unused.become_ready();
    EXPECT_FALSE(unused.is_ready());
    link_state connecting;
    connecting.start();
    connecting.close();
    connecting.become_ready();
    EXPECT_FALSE(connecting.is_ready());
    connecting.stop();
    EXPECT_FALSE(connecting.is_idle());
    EXPECT_TRUE(connecting.is_closed());
}

TEST(ServerAddresses, TheAddressOfTheLastServerIsTriedFirst) {
    server_addresses known;
    EXPECT_EQ(known.in_order({first, second}), (pawl::net::addresses{first, second}));
    known.accept(second, "run");
    EXPECT_EQ(known.in_order({first, second, third}), (pawl::net::addresses{second, first, third}));
    EXPECT_EQ(known.in_order({first, third}), (pawl::net::addresses{first, third}));
}

TEST(ServerAddresses, WithoutALookUpTheLastServerIsTried) {
    server_addresses known;
    EXPECT_TRUE(known.in_order({}).empty());
    known.accept(second, "run");
    EXPECT_EQ(known.in_order({}), pawl::net::addresses{second});
    known.forget();
    EXPECT_FALSE(known.has_server());
    EXPECT_TRUE(known.in_order({}).empty());
}

TEST(ServerAddresses, ALookUpIsTriedOnce) {
    server_addresses known;
    known.set_resolved({first});
    EXPECT_TRUE(known.has_resolved());
    EXPECT_EQ(known.take_resolved(), pawl::net::addresses{first});
    EXPECT_FALSE(known.has_resolved());
    known.set_resolved({second});
    known.forget();
    EXPECT_FALSE(known.has_resolved());
}

TEST(ServerAddresses, AClientFollowsTheNameThatLeavesItsServer) {
    server_addresses known;
    EXPECT_FALSE(known.must_follow({second}, first));
    known.accept(first, "run");
    EXPECT_TRUE(known.must_follow({second}, first));
    EXPECT_FALSE(known.must_follow({second, first}, first));
    EXPECT_FALSE(known.must_follow({third}, second));  // not connected to the last server
}

TEST(ServerAddresses, OnlyTheRunIdIdentifiesAServerAtAnotherAddress) {
    server_addresses known;
    EXPECT_FALSE(known.is_at_known_address(first, "a"));
    EXPECT_FALSE(known.is_replaced_by("a"));  // no server is known
    known.accept(first, "a");
    EXPECT_FALSE(known.is_at_known_address(second, "a"));
    EXPECT_FALSE(known.is_replaced_by("a"));
    EXPECT_TRUE(known.is_replaced_by("b"));
    EXPECT_TRUE(known.is_replaced_by(""));
}

TEST(ServerAddresses, ARestartedServerHasANewRunIdAtItsAddress) {
    server_addresses known;
    known.accept(first, "a");
    EXPECT_TRUE(known.is_at_known_address(first, "b"));
    EXPECT_FALSE(known.is_replaced_by("b"));
    EXPECT_TRUE(known.is_replaced_by("a"));
}

TEST(FailureLog, AReasonThatStaysIsLoggedEveryMinute) {
    failure_log log;
    const pawl::time_point now{100s};
    EXPECT_TRUE(log.is_due("refused", now));
    log.add("refused", now);
    EXPECT_FALSE(log.is_due("refused", now + 59s));
    EXPECT_TRUE(log.is_due("refused", now + 60s));
    EXPECT_TRUE(log.is_due("no route", now + 1s));
    log.clear();
    EXPECT_TRUE(log.is_due("refused", now + 1s));
}

TEST(ConnectionWaiters, OnlyEntriesWithAFailureEndTheirWait) {
    asio::io_context loop;
    pawl::manual_time time;
    const asio::any_io_executor strand = loop.get_executor();
    connection_waiters waiters;
    EXPECT_TRUE(waiters.empty());
    {
        connection_waiters::entry earlier(waiters, time, strand);
        time.advance(2s);
        connection_waiters::entry later(waiters, time, strand);
        waiters.end_waits([&](const connection_waiters::entry& waiter) -> std::exception_ptr {
            if (time.now() - waiter.since < 1s) return nullptr;
            return std::make_exception_ptr(std::runtime_error("no connection"));
        });
        EXPECT_TRUE(earlier.failure);
        EXPECT_FALSE(later.failure);
        const auto kept = earlier.failure;
        waiters.end_waits(
            [](const connection_waiters::entry&) -> std::exception_ptr { return nullptr; });
        EXPECT_EQ(earlier.failure, kept);
    }
    EXPECT_TRUE(waiters.empty());
}

class ExplainedEnd : public testing::Test {
protected:
    connection_end explain(const boost::system::error_code& reason) {
        return explain_end(attempt, reason, false, true, target, settings);
    }

    connection_attempt attempt;
    link_target target{"redis://h:6379", false};
    connection_settings settings;
};

TEST_F(ExplainedEnd, TheReasonThatPawlGaveComesFirst) {
    attempt.end.text = "it is a replica now";
    const auto end = explain(asio::error::operation_aborted);
    EXPECT_EQ(end.text, "it is a replica now");
    EXPECT_FALSE(end.has_advice);
    EXPECT_FALSE(end.was_silent);
    EXPECT_FALSE(attempt.end.failure);
}

TEST_F(ExplainedEnd, ALimitOfPawlIsNamed) {
    attempt.timed_out_after = 1500ms;
    EXPECT_EQ(explain(asio::error::operation_aborted).text, "no answer within 1500 ms");
    settings.tls.enabled = true;
    EXPECT_EQ(explain(asio::error::operation_aborted).text,
              "no TLS handshake within 1500 ms" + tls_hint(settings));
}

TEST_F(ExplainedEnd, AMasterThatALocatorFoundIsNamed) {
    attempt.timed_out_after = 1500ms;
    target.is_sought = true;
    target.location.server.host = "m";
    target.location.server.port = 1;
    EXPECT_EQ(target.server_subject(), "redis://h:6379: the master m:1");
    EXPECT_EQ(explain(asio::error::operation_aborted).text,
              "the master m:1: no answer within 1500 ms");
    target.subject = "the node m:1";
    EXPECT_FALSE(target.is_located());
    EXPECT_EQ(target.server_subject(), "the node m:1");
}

TEST(LinkTarget, ASubjectIsNotRepeated) {
    EXPECT_EQ(without_subject("redis://h: it is full", "redis://h"), "it is full");
    EXPECT_EQ(without_subject("it is full", "redis://h"), "it is full");
}

}  // namespace
