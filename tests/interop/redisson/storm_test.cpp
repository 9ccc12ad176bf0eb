// Two Java and two Pawl processes, and a row of `pawl run`, want every object that both know, while
// they are killed, stopped for less or more than their leases, started anew, and Pawl's connections
// are cut or stand still. Java's go to the server directly: Redisson sends a request again whose
// answer it has not seen, and enters a lock twice by that.
//
//   asking | standing in line | holding | renewing | giving back   <- SIGKILL, SIGSTOP, a cut at
//   each
//
// What it must survive above all, with leases of 2 s:
//
//   0.0  J holds, P waits in line, J2 behind it      | P is killed: J2 is not held up by its place
//   2.1  J is stopped; its lease ends at 4.1         | P2 has it at 4.1, not before
//   4.5  J goes on, renews                           | finds that it has lost; P2's hold stays
//   5.0  P2's release arrives, its answer does not   | P2 asks again: given back once, J2 has it
//   5.1  P2 cleans up its place and its reader's key | J2's field, place and key are left alone
//
// The witness is outside: what each believed at which instant, by the clock of the host.
#include "storm.hpp"
#include "both.hpp"

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
// Beside the lease: a look of a waiter, a place in the line that nobody fills (Java's last 3 s
// here, one for each process), and processes that two busy cores let run late.
constexpr std::chrono::milliseconds grace = 15s;

unsigned number_in(const char* variable, unsigned otherwise) {
    const char* told = std::getenv(variable);
    return told == nullptr ? otherwise : static_cast<unsigned>(std::atol(told));
}

enum class kind { java, sync, async };

class weather {
public:
    explicit weather(unsigned seed) : dice_(seed), proxy_({.port = world_.server().port()}) {
        (void)world_.server().ask({"SET", "semaphore", std::to_string(semaphore_permits)});
        for (const kind each : {kind::java, kind::java, kind::sync, kind::async})
            crowd_.push_back(start(each));
    }

    void rage_for(pawl::duration length) {
        const auto until = boot_clock::now() + length;
        while (boot_clock::now() < until) {
            pause(100, 700);
            run_command();
            lose_replies();
            switch (number(0, 9)) {
            case 0: kill(number(0, 1)); break;  // Java's, which take their time to begin
            case 1:
            case 2:
            case 3: kill(number(2, 3)); break;
            case 4:
            case 5: stop(number(0, 3), 2500, 3500); break;
            case 6: stop(number(0, 3), 50, 1500); break;
            case 7: freeze(); break;
            default:
                proxy_.kill_connections();
                ++cuts_;
                break;
            }
        }
    }

    // Everybody gives back what it holds.
    void calm_down() {
        command_.reset();
        proxy_.heal();
        for (auto& each : crowd_)
            each.process.tell("calm");
        for (auto& each : crowd_)
            EXPECT_EQ(each.process.answer(90s), "calm") << each.name;
    }

    void judge();
    void expect_nobody_stuck();
    void expect_nothing_left();
    void expect_permits_given_back_once();

private:
    struct member {
        kind what;
        std::string name;
        std::string uuid;  // of Redisson's client
        side process;
    };

    member start(kind what) {
        const char* how = what == kind::java ? "java" : what == kind::sync ? "sync" : "async";
        const std::string name = how + std::to_string(started_++);
        const std::string journal = folder_.file(name + ".journal");
        side process = what == kind::java ? world_.java(ttl)
                                          : world_.pawl_at(proxy_.url("?layout=redisson"), ttl);
        const auto answer = process.ask("storm " + journal + " " + how);
        EXPECT_TRUE(answer.starts_with("storming ")) << answer;
        return {what, name, answer.substr(answer.find(' ') + 1), std::move(process)};
    }

    void kill(unsigned victim) {
        crowd_[victim].process.kill9();
        if (crowd_[victim].what == kind::java) forget_places_of(crowd_[victim].uuid);
        crowd_[victim] = start(crowd_[victim].what);
        ++kills_;
    }

    // As an operator does it: for 5 minutes Redisson keeps a dead waiter's place in a FairLock's
    // line, and everybody waits for it.
    void forget_places_of(const std::string& uuid) {
        (void)world_.server().ask({"EVAL",
                                   "for _, each in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do "
                                   "if string.find(each, ARGV[1], 1, true) then "
                                   "redis.call('LREM', KEYS[1], 0, each) "
                                   "redis.call('ZREM', KEYS[2], each) end end",
                                   "2", "redisson_lock_queue:{fair}",
                                   "redisson_lock_timeout:{fair}", uuid});
    }

    void stop(unsigned victim, unsigned at_least, unsigned at_most) {
        crowd_[victim].process.stop();
        pause(at_least, at_most);
        crowd_[victim].process.proceed();
        ++stops_;
    }

    // What arrived is asked again: it must count once.
    void lose_replies() {
        for (int i = 0; i < 3; ++i)
            proxy_.inject({.which = support::named("EVALSHA"),
                           .what = support::fate::lose_reply,
                           .nth = number(1, 40)});
    }

    void freeze() {
        proxy_.freeze(true);
        pause(100, 2500);
        proxy_.freeze(false);
        ++cuts_;
    }

    // The one before is killed with its command, wherever it was.
    void run_command() {
        command_.reset();
        pawl::conformance::launch how;
        how.words = {PAWL_COMMAND, "run",   "--url", world_.server().url("?layout=redisson"),
                     "--no-token", "--ttl", "2s",    "lock",
                     "--"};
        const auto helper = pawl::conformance::myself_as_helper(
            {"storm-command", folder_.file("command" + std::to_string(started_++) + ".journal")});
        how.words.insert(how.words.end(), helper.words.begin(), helper.words.end());
        how.output_file = folder_.file("command.txt");
        command_.emplace(how);
    }

    unsigned number(unsigned from, unsigned to) {
        return std::uniform_int_distribution<unsigned>(from, to)(dice_);
    }
    void pause(unsigned at_least, unsigned at_most) {
        // between two faults
        std::this_thread::sleep_for(std::chrono::milliseconds(number(at_least, at_most)));
    }
    std::vector<std::string> leftovers();

    std::minstd_rand dice_;
    both world_;
    support::fault_proxy proxy_;
    support::temp_folder folder_;
    unsigned started_ = 0;
    std::vector<member> crowd_;
    std::optional<pawl::conformance::child> command_;
    int kills_ = 0;
    int stops_ = 0;
    int cuts_ = 0;
    int surely_lost_ = 0;
    int perhaps_lost_ = 0;
};

void weather::judge() {
    const auto verdict = judge_storm(folder_.path().string());
    for (std::size_t i = 0; i < std::min<std::size_t>(verdict.wrongs.size(), 10); ++i)
        ADD_FAILURE() << verdict.wrongs[i];
    for (const char* name : {"lock", "fenced", "fair", "rw", "permits", "semaphore"}) {
        const auto seen = verdict.objects.find(name);
        ASSERT_NE(seen, verdict.objects.end()) << name;
        const auto& object = seen->second;
        const auto gap = pawl::duration(object.longest_gap);
        std::cout << name << ": " << object.by_java << " holds of Java, " << object.by_pawl
                  << " of Pawl, longest time without a holder " << gap / 1ms << " ms\n";
        EXPECT_GT(object.by_java, 10U) << name;
        EXPECT_GT(object.by_pawl, 10U) << name;
        EXPECT_LE(gap, ttl + grace) << name << " did not move on";
    }
    surely_lost_ = verdict.surely_lost;
    perhaps_lost_ = verdict.perhaps_lost;
    std::cout << kills_ << " killed, " << stops_ << " stopped, " << cuts_ << " cuts, "
              << proxy_.struck() << " replies lost\n";
}

// What the dead had is over with its lease.
void weather::expect_nobody_stuck() {
    pawl::blocking::client plain(pawl::from_url(world_.server().url("?layout=redisson")));
    pawl::blocking::client read_write(
        pawl::from_url(world_.server().url("?layout=redisson&object=readwrite")));
    for (const char* name : {"lock", "fenced", "fair"}) {
        const auto lock = plain.acquire(name, {.wait = 30s, .fair = true});
        EXPECT_TRUE(lock.owns_lock()) << name;
    }
    const auto writer = read_write.acquire("rw", {.wait = 30s});
    EXPECT_TRUE(writer.owns_lock());
    const auto all = plain.acquire(
        "permits",
        {.wait = 30s, .mode = pawl::lock_mode::permits, .permits = permits, .of = permits});
    EXPECT_TRUE(all.owns_lock());
}

// Each permit came back once, but for those whose holders were killed, or in Java were in doubt.
void weather::expect_permits_given_back_once() {
    const auto free = [this] { return std::stoi(world_.server().ask({"GET", "semaphore"}).text); };
    EXPECT_TRUE(support::eventually([&] { return free() >= semaphore_permits - perhaps_lost_; }))
        << free() << " are free, " << perhaps_lost_ << " may be lost";
    EXPECT_LE(free(), semaphore_permits - surely_lost_) << "a permit was given back twice";
}

// docs/redisson.md says what stays, and for how long.
std::vector<std::string> weather::leftovers() {
    auto keys = world_.server().keys();
    std::erase_if(keys, [this](const std::string& key) {
        if (key == "permits" || key == "semaphore") return true;
        if (key.starts_with("redisson_lock_token:")) return true;
        const bool ends = world_.server().ask({"PTTL", key}).number() > 0;
        return ends && (key.starts_with("redisson_sc_receipt:{semaphore}:") ||
                        key.starts_with("redisson_unlock_latch:"));
    });
    return keys;
}

void weather::expect_nothing_left() {
    EXPECT_TRUE(support::eventually([&] { return leftovers().empty(); }, 30s))
        << testing::PrintToString(leftovers());
}

// 20 s, or PAWL_STORM_SECONDS; PAWL_STORM_SEED repeats the faults.
TEST(Storm, OfJavaAndPawl) {
    const unsigned seed = number_in("PAWL_STORM_SEED", std::random_device{}());
    std::cout << "PAWL_STORM_SEED=" << seed << "\n";
    weather storm(seed);
    storm.rage_for(std::chrono::seconds(number_in("PAWL_STORM_SECONDS", 20)));
    storm.calm_down();
    storm.judge();
    storm.expect_nobody_stuck();
    storm.expect_permits_given_back_once();
    storm.expect_nothing_left();
}

}  // namespace
