// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Tokens after a failover that has lost a grant, when the slot moves on to a node whose epoch is
// lower, or not known to the client.
#include "server/cluster_links.hpp"
#include "world/simulated_program.hpp"

#include <boost/asio/bind_executor.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t seeds = 20;
// The slots of the names are at the nodes 2 and 1 at first; the replica of node n is node n + 3.
constexpr const char* name_at_2 = "a";
constexpr const char* name_at_1 = "c";

std::size_t slot_of_lock(const std::string& name) { return slot_of("{" + name + "}"); }

class cluster_story {
public:
    class program {
    public:
        program(cluster_story& parent, prng random)
            : story_(parent), process_(parent.loop_, time_point(1h), 1.0), time_(process_, random) {
            const auto named = client_options_for("test", time_);
            locks_.emplace(process_.get_executor(),
                           clustered_service(parent.cluster, process_, parent.options_), named);
        }

        // Acquires the lock and releases it. Returns its token.
        std::uint64_t use(const std::string& name) {
            begin_to_use(name);
            return end_use();
        }
        void begin_to_use(const std::string& name) {
            token_ = 0;
            process_.post([this, name] {
                locks_->async_acquire(
                    name, {.ttl = 1s, .wait = 10s},
                    boost::asio::bind_executor(
                        process_.get_executor(),
                        [this](const boost::system::error_code& ec, held_lock lock) {
                            if (!ec) token_ = lock.token().value();
                        }));
            });
        }
        // Acquires the lock as a reader and keeps it. Returns its token.
        std::uint64_t read(const std::string& name) {
            token_ = 0;
            process_.post([this, name] {
                locks_->async_acquire(
                    name, {.ttl = 1h, .wait = 10s, .mode = lock_mode::shared},
                    boost::asio::bind_executor(
                        process_.get_executor(),
                        [this](const boost::system::error_code& ec, held_lock lock) {
                            if (ec) return;
                            token_ = lock.token().value();
                            read_locks_.push_back(std::move(lock));
                        }));
            });
            return end_use();
        }
        std::uint64_t end_use() {
            story_.run_until([&] { return token_ != 0; });
            return token_;
        }
        void stop() {
            process_.post([this] {
                read_locks_.clear();
                locks_.reset();
            });
        }

    private:
        cluster_story& story_;
        simulated_process process_;
        virtual_runtime time_;
        std::optional<client> locks_;
        std::uint64_t token_ = 0;
        std::vector<held_lock> read_locks_;
    };

    explicit cluster_story(std::uint64_t seed) : random_(seed) {}
    ~cluster_story() {
        first.stop();
        second.stop();
        loop_.run_for(1min);
    }

    template <class Condition>
    void run_until(Condition is_met) {
        for (int i = 0; i < 200'000 && !is_met(); ++i)
            loop_.run_for(100us);
        EXPECT_TRUE(is_met());
    }
    void wait_for_replication() { loop_.run_for(1s); }
    void wait_for_questions() { loop_.run_for(30s); }
    // The replica does not know what was granted a moment ago.
    void take_over(std::size_t replica) { EXPECT_TRUE(cluster.take_over(replica)); }
    void move(const std::string& name, std::size_t to) {
        cluster.move_slot(slot_of_lock(name), to);
        run_until([&] { return !cluster.is_moving(); });
    }
    // Returns when the source names the target.
    void begin_to_move(const std::string& name, std::size_t from, std::size_t to) {
        cluster.move_slot(slot_of_lock(name), to);
        const auto key = "{" + name + "}";
        const std::array<std::string_view, 1> keys{key};
        run_until([&] {
            auto& data = cluster.network(from).server().data();
            return cluster.view(from).refusal({.names = keys}, data).starts_with("ASK ");
        });
    }

private:
    scheduler loop_;
    prng random_;
    const redis::options options_;

public:
    simulated_cluster cluster{loop_, random_.fork(), {}, cluster_plan{}};
    program first{*this, random_.fork()}, second{*this, random_.fork()};
};

// 1. Node 2, of epoch 3, grants. Its replica, node 5, takes over without that grant and without
//    the counter.
// 2. The slot moves from node 5 to node 0. The client knows that node 0 has epoch 1.
// 3. Node 5 redirects an acquire by ASK. It arrives when node 0 has the slot, but finds no counter:
//    with epoch 1, its token would be too small.
TEST(ClusterTokens, GrowWhenARedirectedRequestIsSlowerThanTheMove) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        cluster_story story(seed);
        story.wait_for_replication();
        const auto earlier = story.first.use(name_at_2);
        story.take_over(5);
        story.begin_to_move(name_at_2, 5, 0);
        story.cluster.network(0).freeze();
        story.first.begin_to_use(name_at_2);
        story.run_until([&] { return !story.cluster.is_moving(); });
        story.cluster.network(0).thaw();
        EXPECT_LT(earlier, story.first.end_use()) << "seed " << seed;
    }
}

// 1. A program learns that node 1 has the slot, with epoch 2.
// 2. The slot moves to node 2, which grants twice to another program. Node 2's replica takes over,
//    and knows the first of these grants.
// 3. The slot moves back to node 1, whose epoch is the highest by now. The first program's request
//    is not redirected, and has the epoch of before: the counter plus one would be too small.
TEST(ClusterTokens, GrowAtANodeThatHasTheSlotAgain) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        cluster_story story(seed);
        story.wait_for_replication();
        (void)story.first.use(name_at_1);
        story.move(name_at_1, 2);
        (void)story.second.use(name_at_1);
        story.wait_for_replication();
        const auto earlier = story.second.use(name_at_1);
        story.take_over(5);
        story.move(name_at_1, 1);
        EXPECT_LT(earlier, story.first.use(name_at_1)) << "seed " << seed;
    }
}

// 1. A reader gets a token from node 2, and its replica, node 5, knows that.
// 2. Node 5 takes over. Node 2 becomes its replica and has the same data.
// 3. A second reader gets a larger token from node 5, since that one may have lost tokens.
// 4. Node 2 takes over and does not know the second reader. It is the same process as before, but
//    must not give a third reader the first one's token, whether the client knows what has
//    happened or not.
void expect_later_reader_has_larger_token(std::uint64_t seed, bool is_known) {
    cluster_story story(seed);
    story.wait_for_replication();
    (void)story.first.read(name_at_2);
    (void)story.second.read(name_at_1);
    story.wait_for_replication();
    story.take_over(5);
    story.wait_for_replication();
    const auto earlier = story.first.read(name_at_2);
    story.take_over(2);
    if (is_known) story.wait_for_questions();
    EXPECT_LT(earlier, story.second.read(name_at_2)) << "seed " << seed;
}

TEST(ClusterTokens, OfReadersGrowWhenAMasterIsBack) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed)
        expect_later_reader_has_larger_token(seed, true);
}

TEST(ClusterTokens, OfReadersGrowWhenNobodyNoticedThatAMasterIsBack) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed)
        expect_later_reader_has_larger_token(seed, false);
}

}  // namespace
}  // namespace pawl::simulation
