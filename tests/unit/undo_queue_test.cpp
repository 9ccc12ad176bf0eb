// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Undos of requests without an answer, with a link that fails as the test says.
#include "redis/common/undo_queue.hpp"
#include "failing_memory.hpp"
#include "manual_time.hpp"
#include "redis/common/limits.hpp"
#include "redis/topology/single_server.hpp"

#include <pawl/error.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace pawl::redis {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// While it is not connected, something that is no Redis answers at the server's address.
class changing_link final : public link {
public:
    asio::awaitable<reply> exec(std::span<const std::string_view>, time_point, prelude) override {
        ++requests;
        if (!is_connected) throw error(errc::protocol, "That is no Redis.");
        reply answer;
        co_return answer;
    }
    const session& current() const noexcept override { return session_; }
    bool connected() const noexcept override { return is_connected; }
    asio::awaitable<void> close(time_point) override { co_return; }

    bool is_connected = true;
    int requests = 0;

private:
    session session_;
};

// A server whose slots are moving.
class moving_slots final : public topology {
public:
    explicit moving_slots(link& source) : link_(&source) {}
    link& link_of(std::string_view) const noexcept override { return *link_; }
    std::span<link* const> links() const noexcept override { return {&link_, 1}; }
    std::uint64_t asked_elsewhere() const noexcept override { return count; }

    std::uint64_t count = 0;

private:
    link* const link_;
};

asio::awaitable<reply> confirm() {
    reply confirmed;
    co_return confirmed;
}

asio::awaitable<reply> misread() {
    reply misunderstood;
    if (misunderstood.items.empty())
        throw error(errc::protocol, "The reply to 'leave' has another form.");
    co_return misunderstood;
}

// Needs memory before it ends.
asio::awaitable<reply> confirm_with_text() {
    reply confirmed;
    confirmed.text = std::string(200, 'x');
    co_return confirmed;
}

asio::awaitable<reply> fail_at_once() {
    reply none;
    if (none.items.empty()) throw error(errc::unreachable, "The connection has ended.");
    co_return none;
}

class UndoQueue : public ::testing::Test {
protected:
    UndoQueue() {
        context_.strand = asio::make_strand(loop_);
        context_.time = &time_;
        context_.log = [this](std::string_view line) { log_.append(line).append("\n"); };
        queue_ = std::make_shared<undo_queue>(std::make_shared<single_server>(link_), *link_,
                                              context_, bounds_, 1s);
    }
    ~UndoQueue() override {
        queue_->stop();
        run();
    }
    // The request that it undoes was sent over this connection, so one confirmation is enough.
    void add(request_sender send) {
        queue_->add(undo_queue::prepare({.lock = "it", .value = {}, .send = std::move(send)}), 60s,
                    queue_->present_origin());
        run();
    }
    void run() {
        loop_.restart();
        loop_.poll();
    }
    void advance(duration step) {
        for (; step > 0s; step -= 10ms) {
            time_.advance(10ms);
            run();
        }
    }

    manual_time time_;
    asio::io_context loop_;
    limits bounds_;
    std::string log_;
    std::shared_ptr<changing_link> link_ = std::make_shared<changing_link>();
    backend_context context_;
    std::shared_ptr<undo_queue> queue_;
};

//   A: a request without an answer | the server is away, and a proxy answers at its address with
//   something else | the server is back: A's request is undone
TEST_F(UndoQueue, OutlastsAnythingThatAnswersAtTheServersAddress) {
    link_->is_connected = false;
    int sent = 0;
    add([&](time_point) {
        ++sent;
        return confirm();
    });
    advance(10s);
    EXPECT_GT(link_->requests, 1);
    EXPECT_EQ(sent, 0);
    ASSERT_FALSE(queue_->empty()) << "the undo was given up: " << log_;
    link_->is_connected = true;
    queue_->retry_now();
    run();
    EXPECT_EQ(sent, 1);
    EXPECT_TRUE(queue_->empty());
    EXPECT_EQ(log_, "");
}

// Undos that fail before they are sent: each is tried once, and then there is a pause.
TEST_F(UndoQueue, PausesAfterUndosThatFailAtOnce) {
    int sent = 0;
    for (int i = 0; i < 3; ++i)
        add([&](time_point) {
            ++sent;
            return fail_at_once();
        });
    EXPECT_LE(sent, 3);
    const int before = sent;
    advance(5s);
    EXPECT_GT(sent, before);
    EXPECT_LE(sent, before + 20);
    EXPECT_FALSE(queue_->empty());
}

//   A: an undo begins, and one allocation fails | memory is back: this undo
//   and all later ones are sent
TEST_F(UndoQueue, OutlastsAShortageOfMemoryAtAnyAllocation) {
    for (long at = 0; at < 40; ++at) {
        int sent = 0;
        const auto prepare = [&] {
            return undo_queue::prepare({.lock = "it", .value = {}, .send = [&](time_point) {
                                            ++sent;
                                            return confirm_with_text();
                                        }});
        };
        // On the strand, as always: the undo begins inside `add`.
        asio::post(context_.strand, [&, first = prepare()]() mutable {
            failing_memory::fail_once_at(at);
            queue_->add(std::move(first), 60s, queue_->present_origin());
            (void)failing_memory::stop_failing();
        });
        run();
        for (int i = 0; i < 3; ++i)
            queue_->add(prepare(), 60s, queue_->present_origin());
        queue_->retry_now();
        advance(6s);
        EXPECT_TRUE(queue_->empty()) << "allocation " << at;
        EXPECT_GE(sent, 4) << "allocation " << at;
    }
}

//   A: a request | its server asks for another one (ASK), which does not answer | A: the undo is
//   confirmed | the other server executes the request | A: the undo is repeated
TEST_F(UndoQueue, RepeatsTheUndoOfARequestThatMayHaveGoneElsewhere) {
    const auto servers = std::make_shared<moving_slots>(*link_);
    const auto queue = std::make_shared<undo_queue>(servers, *link_, context_, bounds_, 1s);
    for (const bool is_elsewhere : {false, true}) {
        int sent = 0;
        const auto origin = queue->present_origin();
        if (is_elsewhere) ++servers->count;
        queue->add(undo_queue::prepare({.lock = "it",
                                        .value = {},
                                        .send =
                                            [&](time_point) {
                                                ++sent;
                                                return confirm();
                                            }}),
                   3s, origin);
        run();
        advance(6s);
        EXPECT_TRUE(queue->empty());
        if (is_elsewhere)
            EXPECT_GE(sent, 3);
        else
            EXPECT_EQ(sent, 1);
    }
    queue->stop();
    run();
}

// A reply that no script gives, from the server itself, would come again.
TEST_F(UndoQueue, EndsWithAReplyThatNoScriptGives) {
    int sent = 0;
    add([&](time_point) {
        ++sent;
        return misread();
    });
    EXPECT_EQ(sent, 1);
    EXPECT_TRUE(queue_->empty());
    EXPECT_NE(log_.find("another form"), std::string::npos);
}

}  // namespace
}  // namespace pawl::redis
