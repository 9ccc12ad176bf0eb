// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Calls of gRPC, with a server in memory that answers well and badly.
#include "etcd/transport/http2_session.hpp"
#include "etcd_peer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>

namespace pawl::etcd {
namespace {

struct received_call final : http2_session::call_handler {
    void on_message(std::string_view message) override { messages.emplace_back(message); }
    void on_end(const call_status& status) override { end = status; }
    std::vector<std::string> messages{};
    std::optional<call_status> end{};
};

class EtcdHttp2 : public testing::Test {
protected:
    // Until neither side has anything to say.
    bool exchange() {
        for (;;) {
            std::string sent;
            session.take_output(sent);
            if (!sent.empty()) peer.receive(sent);
            const auto answer = peer.take_output();
            if (sent.empty() && answer.empty()) return true;
            if (!answer.empty() && !session.receive(answer)) return false;
        }
    }
    std::int32_t begin(std::string_view message = "hello") {
        const std::array<std::pair<std::string, std::string>, 1> metadata{
            std::pair<std::string, std::string>{"token", "abc"}};
        const auto number = session.begin("/service/Method", metadata, call);
        session.send(number, message, true);
        EXPECT_TRUE(exchange());
        return number;
    }

    http2_session session{"db:2379", false};
    scripted_peer peer;
    received_call call;
};

TEST_F(EtcdHttp2, ACallHasAMessageAndAStatus) {
    const auto number = begin();
    const auto& request = peer.requests.at(number);
    EXPECT_TRUE(request.is_complete);
    EXPECT_EQ(request.body, framed("hello"));
    EXPECT_EQ(request.headers.at(":path"), "/service/Method");
    EXPECT_EQ(request.headers.at(":authority"), "db:2379");
    EXPECT_EQ(request.headers.at("te"), "trailers");
    EXPECT_EQ(request.headers.at("token"), "abc");
    peer.answer(number, framed("world"));
    ASSERT_TRUE(exchange());
    EXPECT_EQ(call.messages, std::vector<std::string>{"world"});
    ASSERT_TRUE(call.end);
    EXPECT_EQ(call.end->code, call_status::ok);
    EXPECT_FALSE(session.has_calls());
}

TEST_F(EtcdHttp2, AnErrorIsDecoded) {
    const auto number = begin();
    peer.answer(number, "", {{"grpc-status", "14"}, {"grpc-message", "no%20leader%0a%zz"}});
    ASSERT_TRUE(exchange());
    ASSERT_TRUE(call.end);
    EXPECT_EQ(call.end->code, call_status::unavailable);
    EXPECT_EQ(call.end->message, "no leader %zz");
}

TEST_F(EtcdHttp2, AStreamHasManyMessagesInAnyPieces) {
    const auto number = session.begin("/watch", {}, call);
    session.send(number, "first", false);
    ASSERT_TRUE(exchange());
    peer.answer(number, framed("one") + framed("two").substr(0, 2), {});
    ASSERT_TRUE(exchange());
    EXPECT_EQ(call.messages, std::vector<std::string>{"one"});
    session.send(number, "second", false);
    ASSERT_TRUE(exchange());
    EXPECT_EQ(peer.requests.at(number).body, framed("first") + framed("second"));
    peer.answer_more(number, framed("two").substr(2) + framed(""));
    ASSERT_TRUE(exchange());
    EXPECT_EQ(call.messages, (std::vector<std::string>{"one", "two", ""}));
    EXPECT_FALSE(call.end);
    session.cancel(number);
    ASSERT_TRUE(exchange());
    EXPECT_TRUE(peer.requests.at(number).is_reset);
}

// More than one window of HTTP/2.
TEST_F(EtcdHttp2, ALongMessageArrives) {
    const std::string text(3 << 20, 'x');
    const auto number = begin(text);
    EXPECT_EQ(peer.requests.at(number).body.size(), text.size() + 5);
    peer.answer(number, framed(text));
    ASSERT_TRUE(exchange());
    ASSERT_EQ(call.messages.size(), 1U);
    EXPECT_EQ(call.messages.front(), text);
}

TEST_F(EtcdHttp2, ATooLongMessageEndsTheCallOnly) {
    const auto number = begin();
    std::string head("\0\x00\x40\x00\x01", 5);
    peer.answer(number, head + "begin", {});
    ASSERT_TRUE(exchange());
    ASSERT_TRUE(call.end);
    EXPECT_EQ(call.end->code, call_status::too_long);
    EXPECT_TRUE(call.messages.empty());
    EXPECT_TRUE(peer.requests.at(number).is_reset);
    call.end.reset();
    peer.answer(begin(), framed("next"));
    ASSERT_TRUE(exchange());
    EXPECT_EQ(call.messages.size(), 1U);
}

TEST_F(EtcdHttp2, ACompressedMessageIsRefused) {
    const auto number = begin();
    peer.answer(number, std::string("\x01\0\0\0\x01z", 6));
    ASSERT_TRUE(exchange());
    ASSERT_TRUE(call.end);
    EXPECT_EQ(call.end->code, call_status::not_grpc);
}

TEST_F(EtcdHttp2, AResetStreamIsNoAnswer) {
    const auto number = begin();
    peer.reset(number);
    ASSERT_TRUE(exchange());
    ASSERT_TRUE(call.end);
    EXPECT_EQ(call.end->code, call_status::unavailable);
}

TEST_F(EtcdHttp2, AnEndWithoutAStatusIsNoAnswer) {
    const auto number = begin();
    peer.answer(number, framed("half"), {{"x", "y"}});
    ASSERT_TRUE(exchange());
    ASSERT_TRUE(call.end);
    EXPECT_EQ(call.end->code, call_status::unavailable);
}

TEST_F(EtcdHttp2, AServerOfWebPagesIsNoEtcd) {
    const auto number = begin();
    peer.answer(number, "<html>", {{"x", "y"}},
                {{":status", "404"}, {"content-type", "text/html"}});
    ASSERT_TRUE(exchange());
    ASSERT_TRUE(call.end);
    EXPECT_EQ(call.end->code, call_status::not_grpc);
}

TEST_F(EtcdHttp2, AfterGoAwayNoCallBegins) {
    const auto first = begin();
    received_call later;
    const auto second = session.begin("/service/Method", {}, later);
    session.send(second, "x", true);
    peer.go_away(first);
    ASSERT_TRUE(exchange());
    EXPECT_TRUE(session.is_draining());
    received_call none;
    EXPECT_EQ(session.begin("/service/Method", {}, none), 0);
    peer.answer(first, framed("still"));
    ASSERT_TRUE(exchange());
    ASSERT_TRUE(call.end);
    EXPECT_EQ(call.end->code, call_status::ok);
    ASSERT_TRUE(later.end);
    EXPECT_EQ(later.end->code, call_status::unavailable);
}

TEST(EtcdHttp2Stranger, AnotherProtocolIsNamed) {
    http2_session over_http("db:2379", false);
    EXPECT_FALSE(over_http.receive("HTTP/1.1 400 Bad Request\r\n\r\n"));
    EXPECT_EQ(over_http.failure(), "it speaks HTTP/1.1, not gRPC");
    http2_session over_tls("db:2379", false);
    EXPECT_FALSE(over_tls.receive("\x15\x03\x01"));
    EXPECT_EQ(over_tls.failure(), "this port speaks TLS");
    http2_session other("db:2379", false);
    static_cast<void>(other.receive("-ERR unknown command, and more than nine bytes\r\n"));
    std::string farewell;
    other.take_output(farewell);
    EXPECT_TRUE(other.is_over());
    EXPECT_EQ(other.failure(), "it does not speak HTTP/2");
}

TEST(EtcdHttp2Stranger, TheEndOfTheConnectionEndsAllCalls) {
    http2_session session("db:2379", false);
    received_call call;
    ASSERT_NE(session.begin("/a", {}, call), 0);
    session.end_all({call_status::unavailable, "gone"});
    ASSERT_TRUE(call.end);
    EXPECT_EQ(call.end->message, "gone");
    EXPECT_FALSE(session.has_calls());
}

// Random bytes, and a good answer with one changed byte, never crash it.
TEST(EtcdHttp2Stranger, DamagedBytesEndTheConnectionAtMost) {
    for (unsigned seed = 0; seed < 500; ++seed) {
        http2_session session("db:2379", false);
        scripted_peer peer;
        received_call call;
        const auto number = session.begin("/a", {}, call);
        session.send(number, "x", true);
        std::string sent;
        session.take_output(sent);
        peer.receive(sent);
        peer.answer(number, framed("answer"));
        auto bytes = peer.take_output();
        bytes[seed * 7919 % bytes.size()] ^= static_cast<char>(1U << seed % 8);
        static_cast<void>(session.receive(bytes));
        session.take_output(sent);
        session.end_all({});
        EXPECT_TRUE(call.end);
    }
}

}  // namespace
}  // namespace pawl::etcd
