// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Two Java and two Pawl processes, and a row of `pawl run`, want every object that both know.
// Meanwhile they are killed, stopped for less or more than their leases, and restarted, and Pawl's
// connections are cut or stand still. Java's connections go to the server directly: Redisson
// repeats a request whose reply it has not seen, and so enters a lock twice.
//
//   requesting | queued | holding | renewing | releasing   <- SIGKILL, SIGSTOP, a cut at each
//
// What the storm must survive above all, with leases of 2 s:
//
//   0.0  J holds, P waits in the queue, J2 behind it | P is killed: its place does not delay J2
//   2.1  J is stopped; its lease ends at 4.1         | P2 has it at 4.1, not before
//   4.5  J continues, renews                         | finds that it has lost; P2's hold stays
//   5.0  P2's release arrives, its reply does not    | P2 repeats: released once, J2 has it
//   5.1  P2 cleans up its place and its reader's key | J2's field, place and key are left alone
//
// The evidence is outside of the server: each participant's belief at each instant, by the clock of
// the host.
#include "storm.hpp"
#include "mixed_processes.hpp"

#include <support/eventually.hpp>
#include <support/fault_proxy.hpp>
#include <support/temp_folder.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <thread>

namespace {

using namespace interop;
using pawl::boot_clock;

constexpr std::chrono::milliseconds ttl = 2s;
// More than the lease: a refresh of a waiter, a place in the queue whose owner is gone (Java's last
// 3 s in this test, one for each process), and processes that run late on two busy cores.
constexpr std::chrono::milliseconds grace = 15s;

constexpr auto contended = {"lock", "fenced", "fair", "rw", "permits", "semaphore"};
constexpr std::size_t few_holds = 10;
constexpr std::chrono::minutes longest_extension{2};

unsigned number_in(const char* variable, unsigned otherwise) {
    const char* setting = std::getenv(variable);
    return setting == nullptr ? otherwise : static_cast<unsigned>(std::atol(setting));
}

enum class kind { java, sync, async };

class storm_run {
public:
    explicit storm_run(unsigned seed) : dice_(seed), proxy_({.port = processes_.server().port()}) {
        (void)processes_.server().execute({"SET", "semaphore", std::to_string(semaphore_permits)});
        for (const kind each : {kind::java, kind::java, kind::sync, kind::async})
            members_.push_back(start(each));
    }

    // Both kinds of processes must have contended. Redisson's plain locks are unfair: a side
    // that has got few holds, on a busy machine, gets more time.
    void run_for(pawl::duration length) {
        const auto until = boot_clock::now() + length;
        while (boot_clock::now() < until ||
               (boot_clock::now() < until + longest_extension && !have_all_contended())) {
            pause(100, 700);
            run_command();
            inject_lost_replies();
            switch (random_number(0, 9)) {
            case 0:
                kill_member(random_number(0, 1));  // rarely: Java's processes start slowly
                break;
            case 1:
            case 2:
            case 3: kill_member(random_number(2, 3)); break;
            case 4:
            case 5: stop_member(random_number(0, 3), 2500, 3500); break;
            case 6: stop_member(random_number(0, 3), 50, 1500); break;
            case 7: freeze_proxy(); break;
            default:
                proxy_.kill_connections();
                ++cuts_;
                break;
            }
        }
    }

    // Every process releases its holds.
    void finish() {
        command_.reset();
        proxy_.heal();
        for (auto& each : members_)
            each.process.send("calm");
        for (auto& each : members_)
            EXPECT_EQ(each.process.read_reply(90s), "calm") << each.name;
    }

    [[nodiscard]] bool have_all_contended() const {
        auto seen = check_storm(folder_.path().string()).objects;
        return std::ranges::all_of(contended, [&seen](const char* name) {
            return std::min(seen[name].by_java, seen[name].by_pawl) > few_holds;
        });
    }
    void check_history();
    void expect_nobody_stuck();
    void expect_nothing_left();
    void expect_permits_given_back_once();

private:
    struct member {
        kind kind_of_member;
        std::string name;
        std::string uuid;  // of Redisson's client
        test_process process;
    };

    member start(kind kind_of_member) {
        const char* mode = kind_of_member == kind::java   ? "java"
                           : kind_of_member == kind::sync ? "sync"
                                                          : "async";
        const std::string name = mode + std::to_string(started_++);
        const std::string journal = folder_.file(name + ".journal");
        test_process process = kind_of_member == kind::java
                                   ? processes_.java(ttl)
                                   : processes_.pawl_at(proxy_.url("?layout=redisson"), ttl);
        const auto reply = process.execute("storm " + journal + " " + mode);
        EXPECT_TRUE(reply.starts_with("storming ")) << reply;
        return {kind_of_member, name, reply.substr(reply.find(' ') + 1), std::move(process)};
    }

    void kill_member(unsigned victim) {
        members_[victim].process.kill9();
        if (members_[victim].kind_of_member == kind::java) remove_waiters_of(members_[victim].uuid);
        members_[victim] = start(members_[victim].kind_of_member);
        ++kills_;
    }

    // As an operator does it: Redisson keeps a dead waiter's place in a FairLock's queue for 5
    // minutes, and everybody waits for it.
    void remove_waiters_of(const std::string& uuid) {
        (void)processes_.server().execute(
            {"EVAL",
             "for _, each in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do "
             "if string.find(each, ARGV[1], 1, true) then "
             "redis.call('LREM', KEYS[1], 0, each) "
             "redis.call('ZREM', KEYS[2], each) end end",
             "2", "redisson_lock_queue:{fair}", "redisson_lock_timeout:{fair}", uuid});
    }

    void stop_member(unsigned victim, unsigned at_least, unsigned at_most) {
        members_[victim].process.stop();
        pause(at_least, at_most);
        members_[victim].process.proceed();
        ++stops_;
    }

    // A request that arrived is repeated: it must count once.
    void inject_lost_replies() {
        for (int i = 0; i < 3; ++i)
            proxy_.inject({.matches = support::named("EVALSHA"),
                           .kind = support::fault_kind::lose_reply,
                           .first_match = random_number(1, 40)});
    }

    void freeze_proxy() {
        proxy_.freeze(true);
        pause(100, 2500);
        proxy_.freeze(false);
        ++cuts_;
    }

    // The supervisor of the last round is killed with its command, wherever it was.
    void run_command() {
        command_.reset();
        pawl::conformance::launch_options options;
        options.arguments = {
            PAWL_COMMAND, "run",   "--url", processes_.server().url("?layout=redisson"),
            "--no-token", "--ttl", "2s",    "lock",
            "--"};
        const auto helper = pawl::conformance::launch_as_helper(
            {"storm-command", folder_.file("command" + std::to_string(started_++) + ".journal")});
        options.arguments.insert(options.arguments.end(), helper.arguments.begin(),
                                 helper.arguments.end());
        options.output_file = folder_.file("command.txt");
        command_.emplace(options);
    }

    unsigned random_number(unsigned lowest, unsigned highest) {
        return std::uniform_int_distribution<unsigned>(lowest, highest)(dice_);
    }
    void pause(unsigned at_least, unsigned at_most) {
        // between two faults
        std::this_thread::sleep_for(std::chrono::milliseconds(random_number(at_least, at_most)));
    }
    std::vector<std::string> leftovers();

    std::minstd_rand dice_;
    mixed_processes processes_;
    support::fault_proxy proxy_;
    support::temp_folder folder_;
    unsigned started_ = 0;
    std::vector<member> members_;
    std::optional<pawl::conformance::child> command_;
    int kills_ = 0;
    int stops_ = 0;
    int cuts_ = 0;  // of connections, or times in which nothing passed
    int surely_lost_ = 0;
    int perhaps_lost_ = 0;
};

void storm_run::check_history() {
    const auto verdict = check_storm(folder_.path().string());
    for (std::size_t i = 0; i < std::min<std::size_t>(verdict.violations.size(), 10); ++i)
        ADD_FAILURE() << verdict.violations[i];
    for (const char* name : contended) {
        const auto seen = verdict.objects.find(name);
        ASSERT_NE(seen, verdict.objects.end()) << name;
        const auto& object = seen->second;
        const auto gap = pawl::duration(object.longest_gap);
        std::cout << name << ": " << object.by_java << " holds of Java, " << object.by_pawl
                  << " of Pawl, longest time without a holder " << gap / 1ms << " ms\n";
        EXPECT_GT(object.by_java, few_holds) << name;
        EXPECT_GT(object.by_pawl, few_holds) << name;
        EXPECT_LE(gap, ttl + grace) << name << " did not move on";
    }
    surely_lost_ = verdict.surely_lost;
    perhaps_lost_ = verdict.perhaps_lost;
    std::cout << kills_ << " killed, " << stops_ << " stopped, " << cuts_ << " cuts, "
              << proxy_.strike_count() << " replies lost\n";
}

// What the dead processes held is over with its lease.
void storm_run::expect_nobody_stuck() {
    pawl::blocking::client plain(pawl::from_url(processes_.server().url("?layout=redisson")));
    pawl::blocking::client read_write(
        pawl::from_url(processes_.server().url("?layout=redisson&object=readwrite")));
    for (const char* name : {"lock", "fenced", "fair"}) {
        const auto lock = plain.acquire(name, {.wait = 30s, .fair = true});
        EXPECT_TRUE(lock.owns_lock()) << name;
    }
    const auto writer = read_write.acquire("rw", {.wait = 30s});
    EXPECT_TRUE(writer.owns_lock());
    const auto all = plain.acquire("permits", {.wait = 30s,
                                               .mode = pawl::lock_mode::permits,
                                               .permits = permits,
                                               .total_permits = permits});
    EXPECT_TRUE(all.owns_lock());
}

// Each permit was released once, except those whose holders were killed, or were in doubt in Java.
void storm_run::expect_permits_given_back_once() {
    const auto free = [this] {
        return std::stoi(processes_.server().execute({"GET", "semaphore"}).text);
    };
    EXPECT_TRUE(support::eventually([&] { return free() >= semaphore_permits - perhaps_lost_; }))
        << free() << " are free, " << perhaps_lost_ << " may be lost";
    EXPECT_LE(free(), semaphore_permits - surely_lost_) << "a permit was released twice";
}

// docs/backends/redisson.md says what stays, and for how long.
std::vector<std::string> storm_run::leftovers() {
    auto keys = processes_.server().keys();
    std::erase_if(keys, [this](const std::string& key) {
        if (key == "permits" || key == "semaphore") return true;
        if (key.starts_with("redisson_lock_token:")) return true;
        const bool ends = processes_.server().execute({"PTTL", key}).number() > 0;
        return ends && (key.starts_with("redisson_sc_receipt:{semaphore}:") ||
                        key.starts_with("redisson_unlock_latch:"));
    });
    return keys;
}

void storm_run::expect_nothing_left() {
    EXPECT_TRUE(support::eventually([&] { return leftovers().empty(); }, 30s))
        << testing::PrintToString(leftovers());
}

// At least 20 s, or PAWL_STORM_SECONDS; PAWL_STORM_SEED repeats the faults.
TEST(Storm, OfJavaAndPawl) {
    const unsigned seed = number_in("PAWL_STORM_SEED", std::random_device{}());
    std::cout << "PAWL_STORM_SEED=" << seed << "\n";
    storm_run storm(seed);
    storm.run_for(std::chrono::seconds(number_in("PAWL_STORM_SECONDS", 20)));
    storm.finish();
    storm.check_history();
    storm.expect_nobody_stuck();
    storm.expect_permits_given_back_once();
    storm.expect_nothing_left();
}

}  // namespace
