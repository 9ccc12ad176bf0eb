// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Replies are matched with requests, and the evidence for the life of a session.
#include "zookeeper/outstanding_requests.hpp"
#include "zookeeper/watch_table.hpp"

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace zookeeper_tests {
namespace {

using namespace pawl::zookeeper;
using namespace std::chrono_literals;

std::string reply_frame(std::int32_t xid, reply_code code = reply_code::ok,
                        std::string_view body = {}) {
    return jute_writer()
        .number(xid)
        .number(std::int64_t{42})
        .number(static_cast<std::int32_t>(code))
        .raw(body)
        .take();
}

class ZooKeeperRequests : public testing::Test {
protected:
    pending_ptr add(operation type, pawl::time_point sent_at = {}) {
        auto sent = std::make_shared<pending_reply>(pawl::real_runtime(), loop_.get_executor());
        sent->type = type;
        sent->sent_at = sent_at;
        requests.add(sent);
        return sent;
    }

    boost::asio::io_context loop_;
    static constexpr pawl::duration tick = 2s;
    const pawl::time_point start{100s};
    outstanding_requests requests{tick, std::numeric_limits<std::int32_t>::max() - 1};
};

// Negative numbers belong to pings, watches and logins.
TEST_F(ZooKeeperRequests, AreNumberedFrom1AgainAfterTheLargestNumber) {
    EXPECT_EQ(add(operation::remove)->xid, std::numeric_limits<std::int32_t>::max() - 1);
    EXPECT_EQ(add(operation::remove)->xid, std::numeric_limits<std::int32_t>::max());
    EXPECT_EQ(add(operation::remove)->xid, 1);
}

TEST_F(ZooKeeperRequests, GetTheirRepliesInOrder) {
    const auto first = add(operation::remove), second = add(operation::get_data);
    requests.add_ping(start);
    EXPECT_FALSE(requests.take(reply_frame(first->xid, reply_code::no_node)));
    EXPECT_TRUE(first->is_answered);
    EXPECT_EQ(first->answer.code, reply_code::no_node);
    EXPECT_FALSE(second->is_answered);
    EXPECT_FALSE(requests.take(reply_frame(ping_xid)));
    EXPECT_FALSE(requests.take(reply_frame(second->xid, reply_code::ok, "body")));
    EXPECT_EQ(second->answer.body, "body");
    EXPECT_TRUE(requests.empty());
    EXPECT_EQ(requests.last_change(), 42);
}

TEST_F(ZooKeeperRequests, RefuseAReplyThatIsNotExpected) {
    const auto first = add(operation::remove);
    const auto second = add(operation::remove);
    EXPECT_THROW((void)requests.take(reply_frame(second->xid)), pawl::error);
    EXPECT_THROW((void)requests.take(reply_frame(ping_xid)), pawl::error);
    EXPECT_THROW((void)requests.take("abc"), pawl::error);
    EXPECT_FALSE(first->is_answered);
}

TEST_F(ZooKeeperRequests, FailWithTheirConnection) {
    const auto sent = add(operation::remove, start);
    requests.add_ping(start - 1s);
    EXPECT_EQ(requests.oldest(), start - 1s);
    requests.fail_all();
    EXPECT_TRUE(sent->has_failed);
    EXPECT_TRUE(requests.empty());
    EXPECT_EQ(requests.oldest(), pawl::time_point::max());
}

TEST_F(ZooKeeperRequests, ReturnEvents) {
    const auto event = requests.take(reply_frame(
        notification_xid, reply_code::ok,
        jute_writer().number(std::int32_t{2}).number(std::int32_t{3}).text("/a/b").take()));
    ASSERT_TRUE(event);
    EXPECT_EQ(event->type, node_event::kind::deleted);
    EXPECT_EQ(event->path, "/a/b");
}

// The interleaving that must not deceive a client: it sends a `sync` that the leader answers, and
// the follower is cut off before it reports the contact by this `sync`. The leader then counts the
// session's time from an earlier contact.
TEST_F(ZooKeeperRequests, ASyncProvesContactsThatAreATickOlder) {
    requests.evidence.on_connected(start);
    requests.evidence.on_contact(start + 3s);
    requests.evidence.on_contact(start + 4s);
    const auto heartbeat = add(operation::sync, start + 5500ms);
    requests.take(reply_frame(heartbeat->xid));
    EXPECT_EQ(requests.evidence.proved_at(), start + 3s);
}

TEST_F(ZooKeeperRequests, PingsProveNothing) {
    requests.evidence.on_connected(start);
    for (int i = 1; i < 50; ++i) {
        requests.add_ping(start + i * 500ms);
        requests.take(reply_frame(ping_xid));
    }
    EXPECT_EQ(requests.evidence.proved_at(), start);
}

TEST_F(ZooKeeperRequests, ASyncThatFailedProvesNothing) {
    requests.evidence.on_connected(start);
    requests.evidence.on_contact(start + 1s);
    const auto heartbeat = add(operation::sync, start + 9s);
    requests.take(reply_frame(heartbeat->xid, reply_code::session_expired));
    EXPECT_EQ(requests.evidence.proved_at(), start);
}

// The contacts of the last connection were those with another server.
TEST_F(ZooKeeperRequests, AConnectProvesItselfAndForgetsOlderContacts) {
    requests.evidence.on_connected(start);
    requests.evidence.on_contact(start + 9s);
    requests.evidence.on_connected(start + 8s);
    const auto heartbeat = add(operation::sync, start + 20s);
    requests.take(reply_frame(heartbeat->xid));
    EXPECT_EQ(requests.evidence.proved_at(), start + 8s);
}

struct counting_watcher final : watcher {
    void on_change(const node_event& event) override { paths.push_back(event.path); }
    std::vector<std::string> paths;
};

TEST(ZooKeeperWatches, AreToldOnce) {
    watch_table watches;
    const auto first = std::make_shared<counting_watcher>();
    const auto second = std::make_shared<counting_watcher>();
    watches.add(watch_kind::data, "/a", first);
    watches.add(watch_kind::data, "/a", first);
    watches.add(watch_kind::data, "/a", second);
    watches.add(watch_kind::children, "/b", first);
    const node_event deleted{node_event::kind::deleted, "/a"};
    watches.tell(deleted);
    watches.tell(deleted);
    EXPECT_EQ(first->paths, (std::vector<std::string>{"/a"}));
    EXPECT_EQ(second->paths, (std::vector<std::string>{"/a"}));
    EXPECT_EQ(watches.paths(watch_kind::children), (std::vector<std::string>{"/b"}));
    watches.tell({node_event::kind::changed, "/b"});
    EXPECT_EQ(first->paths.size(), 1U);
    watches.tell({node_event::kind::children_changed, "/b"});
    EXPECT_EQ(first->paths.size(), 2U);
}

// Thousands of attempts may come and go while one node stays.
TEST(ZooKeeperWatches, ForgetThoseThatAreGone) {
    watch_table watches;
    for (int i = 0; i < 1000; ++i)
        watches.add(watch_kind::data, "/a", std::make_shared<counting_watcher>());
    EXPECT_TRUE(watches.paths(watch_kind::data).empty());
}

}  // namespace
}  // namespace zookeeper_tests
