// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Two Java and two Pawl processes want every object of the storm, at a master that Sentinels
// monitor. In the middle the Sentinels promote the replica while the master runs:
//
//   0   begin_failover | B is promoted | A, the old master, goes on answering
//   1   Pawl's clients hear of B from a majority, and use only B; Java's clients still use A, some
//       of them: two holders are possible, one at A and one at B
//   2   A is B's replica: it refuses every write, and so grants nothing any more
//   3   one lease later the last hold that A granted has ended
//
// From 0 to 3 holds may overlap or be lost: replication is asynchronous, and Redisson's layout has
// nothing against it. Before and after, no two holds overlap and none is lost.
#include "mixed_processes.hpp"
#include "storm.hpp"

#include <support/eventually.hpp>
#include <support/temp_folder.hpp>

#include <gtest/gtest.h>

#include <iostream>
#include <stdexcept>

namespace {

using namespace interop;
using pawl::boot_clock;

constexpr std::size_t enough_holds = 10;  // of each object, by Java and by Pawl

std::int64_t count_of(pawl::time_point when) { return when.time_since_epoch().count(); }

// A server that becomes a replica ends its connections.
bool is_replica(const support::redis_server& server) {
    try {
        return server.connect()->execute({"ROLE"}).items.at(0).text == "slave";
    } catch (const std::runtime_error&) {
        return false;
    }
}

class failover_run {
    static constexpr std::chrono::milliseconds ttl = 2s;

public:
    failover_run() {
        (void)processes_.server().execute({"SET", "semaphore", std::to_string(semaphore_permits)});
        for (const auto* mode : {"java", "java", "sync", "async"}) {
            auto process =
                mode == std::string("java") ? processes_.java(ttl) : processes_.pawl(ttl);
            const auto name = mode + std::to_string(members_.size());
            EXPECT_TRUE(process.execute("storm " + folder_.file(name + ".journal") + " " + mode)
                            .starts_with("storming "));
            members_.push_back(std::move(process));
        }
    }

    // Waits until Java and Pawl have had holds of every object since `when`.
    [[nodiscard]] bool is_in_use_since(std::int64_t when) {
        return support::eventually(
            [&] {
                const auto verdict = check_storm(folder_.path().string(), {}, when);
                if (verdict.objects.size() < 6) return false;
                for (const auto& [name, object] : verdict.objects)
                    if (object.by_java < enough_holds || object.by_pawl < enough_holds)
                        return false;
                return true;
            },
            120s);
    }

    // Returns the times of which the comment above speaks: 0 and 3.
    excused_time fail_over() {
        auto& sentinels = processes_.sentinels();
        auto& old_master = sentinels.server(0);
        const auto begin = count_of(boot_clock::now());
        sentinels.begin_failover();
        EXPECT_TRUE(sentinels.eventually_moved_from(old_master.port()));
        EXPECT_TRUE(support::eventually([&] { return is_replica(old_master); }, 60s));
        return {begin, count_of(boot_clock::now() + ttl)};
    }

    void finish() {
        for (auto& each : members_)
            each.send("calm");
        for (auto& each : members_)
            EXPECT_EQ(each.read_reply(120s), "calm") << each.name();
    }

    // How many holds began between the two times.
    void print_holds(const excused_time& between) const {
        std::size_t java = 0, pawl = 0;
        const auto add = [&](std::int64_t since, bool subtract) {
            for (const auto& [name, object] :
                 check_storm(folder_.path().string(), {}, since).objects) {
                java += subtract ? -object.by_java : object.by_java;
                pawl += subtract ? -object.by_pawl : object.by_pawl;
            }
        };
        add(between.from, false);
        add(between.to, true);
        std::cout << "in " << (between.to - between.from) / 1'000'000 << " ms of the failover "
                  << java << " holds of Java and " << pawl << " of Pawl began\n";
    }

    [[nodiscard]] storm_verdict verdict(const excused_time& excused) const {
        return check_storm(folder_.path().string(), excused);
    }

private:
    mixed_processes processes_{deployment::sentinels};
    support::temp_folder folder_;
    std::vector<test_process> members_;
};

TEST(Failover, OfSentinelsWithJavaAndPawl) {
    failover_run run;
    ASSERT_TRUE(run.is_in_use_since(0)) << "before the failover";
    const auto excused = run.fail_over();
    ASSERT_TRUE(run.is_in_use_since(excused.to)) << "after the failover";
    run.finish();
    const auto verdict = run.verdict(excused);
    for (const auto& each : verdict.violations)
        ADD_FAILURE() << each;
    run.print_holds(excused);
    std::cout << verdict.excused_violations << " overlaps and losses\n";
}

}  // namespace
