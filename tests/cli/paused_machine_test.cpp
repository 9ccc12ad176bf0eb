// The machine of a holder stands still for longer than its lease, and the clock that counts since
// the boot stands still with it, as a hypervisor's pause makes it. Here the processes are stopped
// and their clock is set back by as much: see clock_shim.c.
#include "command.hpp"

#include <processes.hpp>

#include <support/moved_clock.hpp>
#include <support/redis_server.hpp>

#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
#include <iostream>

namespace {

using namespace cli_test;
using namespace std::chrono_literals;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t ttl = 3 * second;

class PausedMachine : public ::testing::Test {
protected:
    // Its processes, the oldest first.
    std::vector<pid_t> all_of(pid_t top) {
        std::vector<pid_t> known{top};
        const auto all = pawl::cli::all_processes();
        for (std::size_t i = 0; i < known.size(); ++i)
            for (const auto& each : all)
                if (each.parent == known[i]) known.push_back(each.pid);
        return known;
    }
    void pause(pid_t top) {
        paused_ = all_of(top);
        for (const auto each : paused_)
            ::kill(each, SIGSTOP);
        for (const auto each : paused_)
            ASSERT_TRUE(support::eventually([&] { return stopped(each); }));
        paused_at_ = boot_time();
    }
    void go_on() {
        went_on_ = boot_time();
        clock_.stood_still(std::chrono::nanoseconds(went_on_ - paused_at_));
        std::reverse(paused_.begin(), paused_.end());
        for (const auto each : paused_)
            ::kill(each, SIGCONT);
    }
    static bool stopped(pid_t process) {
        const auto text = read_file("/proc/" + std::to_string(process) + "/stat");
        return text.find(") T ") != std::string::npos;
    }
    // With the clock of the host, so that the beats of all can be compared.
    static words host_clock(const words& command) {
        return words{"env", "-u", "LD_PRELOAD", "-u", "PAWL_CLOCK_FILE"} + command;
    }
    variables moved() const {
        variables result;
        for (const auto& [name, value] : clock_.environment())
            result[name] = value;
        return result;
    }
    std::unique_ptr<started> run(const std::string& file, const variables& more = {}) {
        const words beat = host_clock(heartbeat(file));
        return here_.start(words{"run", "--ttl", "3s", "x", "--"} + beat, more);
    }
    std::uint64_t token() {
        return std::stoull(
            from_json(here_.run({"status", "x", "--json"}).out, "it['holder']['token']"));
    }
    // A is paused until its lease is over, and B has the lock; then A goes on.
    void play(const std::function<void()>& meanwhile) {
        const auto file = here_.file("a"), next_file = here_.file("b");
        const auto holder = run(file, moved());
        ASSERT_TRUE(beats(file)) << holder->err();
        const auto old = token();
        pause(holder->pid());
        meanwhile();
        const auto next = run(next_file);
        ASSERT_TRUE(beats(next_file)) << next->err();
        EXPECT_GT(token(), old) << "what protects against the holder that goes on";
        go_on();
        const auto found = holder->wait();
        EXPECT_EQ(found.code, 70);
        EXPECT_NE(found.err.find("Lost 'x'"), std::string::npos) << found.err;
        EXPECT_EQ(found.err.find("no renewal was confirmed"), std::string::npos)
            << "its clock stood still: " << found.err;
        EXPECT_TRUE(soon_silent(file));
        // A third of the ttl until the next renewal; a pause that falls into one costs more, and
        // what the holder believes of its lease is the limit.
        EXPECT_LT(last_beat(file), went_on_ + ttl);
        std::cout << "beside the next holder for " << (last_beat(file) - went_on_) / 1'000'000
                  << " ms\n";
        EXPECT_TRUE(beats(next_file)) << "the next holder goes on";
        next->signal(SIGTERM);
        (void)next->wait();
    }

    support::moved_clock clock_;
    support::redis_server server_;
    const world here_{server_.url()};

private:
    std::vector<pid_t> paused_;
    std::int64_t paused_at_ = 0;
    std::int64_t went_on_ = 0;
};

//   A: renews | A's machine is paused | A's lease ends at the server, B takes the lock | A goes on
//   and knows nothing of the pause: it believes in its lease | A's next renewal is refused
TEST_F(PausedMachine, LearnsOfTheLossWithTheNextRenewal) {
    play([] {});
}

//   the same, and A's connection is ended while it is paused
TEST_F(PausedMachine, LearnsOfTheLossWithTheNextRenewalOnANewConnection) {
    play([this] { (void)server_.ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"}); });
}

//   the same, and the new connection has to wait: the renewals have no answer | A's lease ends by
//   A's own clock
TEST_F(PausedMachine, LosesItByItsOwnClockWhereNobodyAnswers) {
    const auto file = here_.file("a");
    const auto holder = run(file, moved());
    ASSERT_TRUE(beats(file)) << holder->err();
    pause(holder->pid());
    server_.freeze();
    go_on();
    const auto found = holder->wait();
    EXPECT_EQ(found.code, 70);
    EXPECT_NE(found.err.find("no renewal was confirmed"), std::string::npos) << found.err;
    EXPECT_LT(last_beat(file), boot_time());
    EXPECT_TRUE(soon_silent(file));
    server_.thaw();
}

}  // namespace
