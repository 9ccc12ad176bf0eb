// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Lists of the locks of a cluster while a node does not answer.
#include "cluster_fixture.hpp"

#include <pawl/client.hpp>
#include <pawl/incomplete_list.hpp>

#include <boost/asio/io_context.hpp>

#include <gmock/gmock.h>

namespace {

using namespace chaos;
using testing::AllOf;
using testing::HasSubstr;

class ClusterList : public cluster_fixture {
protected:
    // The locks that are named when some nodes fail; empty if none fails.
    static std::vector<std::string> listed_in_spite(client& locks, std::string& sentence) {
        std::vector<std::string> names;
        try {
            (void)locks.list();
        } catch (const pawl::incomplete_list& partial) {
            EXPECT_EQ(partial.reason(), errc::unreachable) << partial.what();
            sentence = partial.what();
            for (const auto& each : partial.locks())
                names.push_back(each.name);
        }
        return names;
    }

    cluster_group group{{.node_timeout = 60s, .full_coverage = false}};
    const std::string url = group.url("?connect_timeout=1000&reply_timeout=1000");
    const std::string first = group.name_on(0), second = group.name_on(1), third = group.name_on(2);
};

TEST_F(ClusterList, LacksOnlyTheLocksOfAFrozenNode) {
    client locks = client_at(url);
    const auto of_first = locks.acquire(first, {.ttl = 60s, .wait = patience});
    const auto of_second = locks.acquire(second, {.ttl = 60s, .wait = patience});
    EXPECT_EQ(locks.list().size(), 2U);
    group.node(1).freeze();
    std::string sentence;
    EXPECT_THAT(listed_in_spite(locks, sentence), testing::ElementsAre(first));
    EXPECT_THAT(sentence, AllOf(HasSubstr("lacks the locks of 1 of 3 servers"),
                                HasSubstr(std::to_string(group.node(1).port()))));
    group.node(1).thaw();
    EXPECT_TRUE(eventually([&] {
        try {
            return locks.list().size() == 2;
        } catch (const pawl::error&) {
            return false;
        }
    }));
}

// Slot 0 is the dead node's, and a new client asks for it first.
TEST_F(ClusterList, OfANewClientLacksOnlyTheLocksOfADeadNode) {
    client holder = client_at(url);
    const auto held = holder.acquire(third, {.ttl = 60s, .wait = patience});
    group.node(0).kill9();
    client locks = client_at(url);
    std::string sentence;
    EXPECT_THAT(listed_in_spite(locks, sentence), testing::ElementsAre(third)) << sentence;
}

TEST_F(ClusterList, FailsIfNoNodeAnswers) {
    client locks = client_at(url);
    EXPECT_EQ(locks.list().size(), 0U);
    for (std::size_t node = 0; node < group.node_count(); ++node)
        group.node(node).kill9();
    try {
        (void)locks.list();
        ADD_FAILURE() << "listed by nobody";
    } catch (const pawl::incomplete_list& partial) {
        ADD_FAILURE() << partial.what();
    } catch (const pawl::error& e) {
        EXPECT_EQ(e.reason(), errc::unreachable) << e.what();
    }
}

TEST_F(ClusterList, TheHandlerGetsTheLocksBesideTheError) {
    client holder = client_at(url);
    const auto held = holder.acquire(first, {.ttl = 60s, .wait = patience});
    group.node(1).kill9();
    boost::asio::io_context loop;
    pawl::client locks(loop.get_executor(), pawl::from_url(url));
    bool is_complete = false;
    locks.async_list("", [&](boost::system::error_code ec, std::vector<pawl::lock_info> listed) {
        is_complete = true;
        EXPECT_TRUE(ec == make_error_code(errc::unreachable)) << ec.message();
        ASSERT_EQ(listed.size(), 1U);
        EXPECT_EQ(listed.front().name, first);
        locks.async_close([] {});
    });
    loop.run();
    EXPECT_TRUE(is_complete);
}

}  // namespace
