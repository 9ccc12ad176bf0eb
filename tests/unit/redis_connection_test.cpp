// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a connection decides without I/O: which messages the bytes of a server are, and which reply
// belongs to which request.
#include <redis/transport/awaited_replies.hpp>
#include <redis/transport/message_reader.hpp>

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace pawl::redis;

class MessageReader : public testing::Test {
protected:
    void receive(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto room = reader.make_room();
            ASSERT_FALSE(room.empty());
            const auto size = std::min(room.size(), bytes.size());
            std::copy_n(bytes.begin(), size, room.begin());
            reader.add(size);
            bytes.remove_prefix(size);
        }
    }
    std::optional<received_message> parse() {
        std::optional<received_message> message;
        const auto ec = reader.parse(message);
        EXPECT_FALSE(ec) << ec.message();
        return message;
    }

    message_reader reader;
};

TEST_F(MessageReader, RepliesComeInTheOrderOfTheirBytes) {
    receive("+OK\r\n:7\r\n");
    const auto first = parse();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->type, received_message::kind::reply);
    EXPECT_EQ(first->content.text, "OK");
    const auto second = parse();
    ASSERT_TRUE(second);
    EXPECT_EQ(second->content.number, 7);
    EXPECT_FALSE(parse());
    EXPECT_TRUE(reader.unparsed().empty());
}

TEST_F(MessageReader, AMessageMayArriveInAnyPieces) {
    const std::string_view bytes = "*2\r\n$5\r\nhello\r\n$0\r\n\r\n";
    for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
        receive(bytes.substr(i, 1));
        EXPECT_FALSE(parse()) << i;
    }
    receive(bytes.substr(bytes.size() - 1));
    const auto message = parse();
    ASSERT_TRUE(message);
    ASSERT_EQ(message->content.items.size(), 2U);
    EXPECT_EQ(message->content.items[0].text, "hello");
    EXPECT_EQ(message->content.items[1].text, "");
}

TEST_F(MessageReader, APushIsNoReply) {
    receive(">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\np\r\n+PONG\r\n");
    const auto push = parse();
    ASSERT_TRUE(push);
    EXPECT_EQ(push->type, received_message::kind::push);
    EXPECT_EQ(push->content.items.at(2).text, "p");
    const auto reply = parse();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->type, received_message::kind::reply);
}

TEST_F(MessageReader, AMessageLargerThanTheBufferIsRead) {
    reader.set_limits(session_limits);
    const std::string body(100'000, 'x');
    receive("$100000\r\n" + body + "\r\n");
    const auto message = parse();
    ASSERT_TRUE(message);
    EXPECT_EQ(message->content.text, body);
}

TEST_F(MessageReader, TheHandshakeAllowsNoLargeReply) {
    receive("$100000\r\n");
    std::optional<received_message> message;
    EXPECT_TRUE(reader.parse(message));
    EXPECT_FALSE(message);
}

class simulated_queue final : public pending_request::queue {
public:
    void cancel(std::uint64_t number) override { awaited.cancel(number); }
    void forget(std::uint64_t number) noexcept override { awaited.forget(number); }
    const boost::asio::any_io_executor& executor() const noexcept override { return executor_; }

    awaited_replies awaited;

private:
    boost::asio::io_context loop_;
    const boost::asio::any_io_executor executor_ = loop_.get_executor();
};

reply status(std::string text) {
    reply result;
    result.type = reply::kind::string;
    result.text = std::move(text);
    return result;
}

reply failure(std::string text) {
    auto result = status(std::move(text));
    result.type = reply::kind::error;
    return result;
}

// A handler is called with the last reply: the requests wait, as a caller's coroutine does.
class AwaitedReplies : public testing::Test {
protected:
    std::unique_ptr<pending_request> add(unsigned replies = 1, bool until_pong = false) {
        auto request = std::make_unique<pending_request>();
        queue->awaited.add(*queue, request.get(), replies, until_pong);
        request->async_wait()([this] { ++completed; });
        return request;
    }

    const std::shared_ptr<simulated_queue> queue = std::make_shared<simulated_queue>();
    awaited_replies& awaited = queue->awaited;
    int completed = 0;
};

TEST_F(AwaitedReplies, RepliesBelongToTheRequestsInTheirOrder) {
    const auto first = add();
    const auto second = add(2);
    awaited.deliver(status("a"));
    EXPECT_EQ(first->last_reply.text, "a");
    awaited.deliver(status("b"));
    EXPECT_EQ(completed, 1);
    awaited.deliver(status("c"));
    EXPECT_EQ(completed, 2);
    EXPECT_EQ(second->earlier_replies.at(0).text, "b");
    EXPECT_EQ(second->last_reply.text, "c");
    EXPECT_TRUE(awaited.empty());
}

TEST_F(AwaitedReplies, TheReplyToARequestWhoseCallerHasGoneIsDropped) {
    auto gone = add();
    const auto next = add();
    gone.reset();
    EXPECT_EQ(awaited.requests(), std::vector<pending_request*>{next.get()});
    awaited.deliver(status("a"));
    awaited.deliver(status("b"));
    EXPECT_EQ(next->last_reply.text, "b");
    EXPECT_EQ(completed, 1);
}

TEST_F(AwaitedReplies, ARefusedSubscriptionHasItsErrorAndThePong) {
    const auto subscription = add(1, true);
    EXPECT_FALSE(awaited.has_unanswered_requests());
    const auto request = add();
    EXPECT_TRUE(awaited.has_unanswered_requests());
    awaited.deliver(failure("NOPERM"));
    EXPECT_EQ(completed, 0);
    awaited.deliver(status("PONG"));
    EXPECT_EQ(completed, 1);
    EXPECT_EQ(subscription->earlier_replies.at(0).text, "NOPERM");
    awaited.deliver(status("a"));
    EXPECT_EQ(request->last_reply.text, "a");
}

TEST_F(AwaitedReplies, AnErrorWithoutARequestIsTheLastWordOfTheServer) {
    EXPECT_EQ(awaited.last_words(), "");
    awaited.deliver(failure("ERR max number of clients reached"));
    EXPECT_EQ(awaited.last_words(), "ERR max number of clients reached");
}

TEST_F(AwaitedReplies, AnErrorAmongTheRepliesToTheHandshakeIsTheLastWordOfTheServer) {
    const auto handshake = add(3);
    awaited.deliver(status("OK"));
    EXPECT_EQ(awaited.last_words(), "");
    awaited.deliver(failure("NOAUTH"));
    EXPECT_EQ(awaited.last_words(), "NOAUTH");
}

TEST_F(AwaitedReplies, DroppedRequestsAreNotCompleted) {
    const auto request = add();
    awaited.drop_all();
    EXPECT_TRUE(awaited.empty());
    EXPECT_EQ(completed, 0);
}

}  // namespace
