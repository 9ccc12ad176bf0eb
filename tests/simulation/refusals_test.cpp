// A server that is there and refuses every request, for longer than any pause, in virtual time.
#include "refusals.hpp"
#include "dwelling.hpp"

#include <redis_scripts.hpp>

#include <boost/asio/bind_executor.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

class resident {
public:
    resident(scheduler& world, simulated_network& network, prng chance,
             const redis::limits& bounds = {})
        : at_(world, network, where_, chance, bounds) {}

    void ask(const std::string& name, const lock_options& options) {
        at_.home.post([this, name, options] {
            at_.locks->async_acquire(
                name, options,
                asio::bind_executor(at_.home.get_executor(),
                                    [this](const boost::system::error_code& ec, held_lock lock) {
                                        failed_ = ec;
                                        if (!ec) lock_ = std::move(lock);
                                    }));
        });
    }
    void give_back() {
        at_.home.post([this] { lock_ = {}; });
    }
    void end() {
        at_.home.post([this] {
            lock_ = {};
            at_.locks.reset();
        });
    }
    [[nodiscard]] const held_lock& lock() const noexcept { return lock_; }
    [[nodiscard]] boost::system::error_code failure() const noexcept { return failed_; }
    [[nodiscard]] process& home() noexcept { return at_.home; }

private:
    const redis::options where_;
    dwelling at_;
    held_lock lock_;
    boost::system::error_code failed_;
};

// Every script that came to the server: when, which, and whose.
struct seen {
    instant when{};
    std::string script, first_argument;
    bool refused = false;
};

class scene : public simulated_network::witness {
public:
    explicit scene(network_faults faults = {})
        : chance_(1), network_(world_, chance_.fork(), faults) {
        network_.set_witness(this);
    }
    ~scene() override {
        for (auto& each : residents_)
            each->end();
        pass(10s);
    }
    scene(const scene&) = delete;
    scene& operator=(const scene&) = delete;

    resident& add(const redis::limits& bounds = {}) {
        residents_.push_back(std::make_unique<resident>(world_, network_, chance_.fork(), bounds));
        return *residents_.back();
    }
    void pass(instant time) {
        const auto until = world_.now() + time;
        world_.at(until, [] {});
        world_.run_ready();
        while (world_.next() <= until && world_.step()) {}
    }
    void refuse(const refusal& how) { network_.refuse(std::string(how.error), how.at_once); }
    void accept() { network_.refuse({}, false); }
    [[nodiscard]] instant now() const { return world_.now(); }
    [[nodiscard]] simulated_network& network() noexcept { return network_; }
    [[nodiscard]] std::string value_of(const std::string& name) {
        return network_.server().data().get("pawl:{" + name + "}").value_or("");
    }
    // In the seconds since `begin`: how many requests were refused.
    [[nodiscard]] std::vector<int> refused_since(instant begin) const {
        std::vector<int> found;
        for (const auto& each : all) {
            if (!each.refused || each.when < begin) continue;
            const auto second = static_cast<std::size_t>((each.when - begin) / 1s);
            found.resize(std::max(found.size(), second + 1));
            ++found[second];
        }
        return found;
    }
    [[nodiscard]] long count(const std::string& script) const {
        return std::ranges::count(all, script, &seen::script);
    }

    std::vector<seen> all;

private:
    void executed(process&, const words& command, const redis::reply& answer) override {
        if (command[0] != "EVALSHA" && command[0] != "EVAL") return;
        const bool error = answer.what == redis::reply::kind::error;
        if (error && answer.text.starts_with("NOSCRIPT")) return;
        const auto which = std::ranges::find_if(redis::scripts::all, [&](const auto& each) {
            return command[1] == each.sha1 || command[1] == each.text;
        });
        const auto first = 3 + std::stoul(command[2]);
        all.push_back({world_.now(), std::string(which->name),
                       first < command.size() ? command[first] : "", error});
    }

    scheduler world_;
    prng chance_;
    simulated_network network_;
    std::vector<std::unique_ptr<resident>> residents_;
};

class Refusals : public testing::TestWithParam<refusal>, protected scene {};

//   0 s    A waits, with a ttl of a minute; the server refuses. Attempt after attempt is refused
//   45 s   the server accepts: A holds
//   …      nothing that A did before may end that: each attempt was refused by the server's own
//          word, so there is nothing to undo, and none of them had the owner of A's hold
TEST_P(Refusals, LeaveNothingBehindThatGivesALiveLockAway) {
    refuse(GetParam());
    auto& a = add();
    auto& b = add();
    a.ask("it", {.ttl = 60s});
    pass(45s);
    EXPECT_FALSE(a.lock());
    accept();
    pass(3s);
    ASSERT_TRUE(a.lock());
    EXPECT_EQ(count("leave"), 0);
    b.ask("it", {.ttl = 60s});
    const auto value = value_of("it");
    for (int second = 0; second < 150; ++second) {
        pass(1s);
        ASSERT_EQ(value_of("it"), value) << "after " << second << " s";
    }
    EXPECT_EQ(a.lock().state(), lock_state::held);
    EXPECT_FALSE(b.lock());
    std::set<std::string> owners;
    for (const auto& each : all) {
        if (each.script != "acquire") continue;
        EXPECT_TRUE(owners.insert(each.first_argument.substr(0, 32)).second);
    }
    a.give_back();
    pass(100ms);
    EXPECT_TRUE(b.lock());
}

// A minute of refusals: a handful of requests in the first second, then about one a second.
TEST_P(Refusals, AreAskedForLessAndLess) {
    auto& a = add();
    refuse(GetParam());
    const auto begin = now();
    a.ask("it", {});
    pass(60s);
    const auto asked = refused_since(begin);
    ASSERT_GE(asked.size(), 55U);
    EXPECT_LE(asked[0], 6);
    for (std::size_t second = 4; second < asked.size(); ++second)
        EXPECT_LE(asked[second], 2) << "in second " << second;
    EXPECT_LE(std::accumulate(asked.begin(), asked.end(), 0), 60);
    accept();
    pass(2s);
    EXPECT_TRUE(a.lock());
}

// The same for a waiter that stands in line, for a holder's release, and for what is to be undone.
TEST_P(Refusals, AreBearableForAllThatGoesOn) {
    auto& holder = add();
    auto& waiter = add();
    holder.ask("it", {.ttl = 30s});
    pass(100ms);
    waiter.ask("it", {.ttl = 30s});
    pass(100ms);
    ASSERT_TRUE(holder.lock());
    refuse(GetParam());
    const auto begin = now();
    holder.give_back();
    pass(25s);
    if (GetParam().error.starts_with("OOM")) {
        // A release needs no memory, nor does the grant to the next in line.
        EXPECT_TRUE(waiter.lock());
        return;
    }
    const auto asked = refused_since(begin);
    ASSERT_FALSE(asked.empty());
    EXPECT_LE(asked[0], 12);
    for (std::size_t second = 5; second < asked.size(); ++second)
        EXPECT_LE(asked[second], 4) << "in second " << second;
    EXPECT_FALSE(waiter.lock());
    accept();
    pass(5s);
    EXPECT_TRUE(waiter.lock());
}

//   The server stands still while A asks for twelve locks, and gives up: twelve undos are pending.
//   Then it goes on, and refuses them all. One is tried at a time, less and less; when it accepts
//   again, all of them are sent.
TEST_P(Refusals, HoldUpAllUndosTogether) {
    auto& a = add();
    a.ask("warm", {});
    pass(100ms);
    a.give_back();
    pass(100ms);
    network().freeze();
    for (int i = 0; i < 12; ++i)
        a.ask("lock" + std::to_string(i), {.ttl = 60s, .wait = 1ms});
    pass(1s);
    refuse(GetParam());
    network().thaw();
    const auto begin = now();
    pass(30s);
    const auto asked = refused_since(begin);
    if (GetParam().error.starts_with("OOM")) {
        // An undo needs no memory: all of them are over at once.
        EXPECT_LE(asked.size(), 1U);
        for (int i = 0; i < 12; ++i)
            EXPECT_EQ(value_of("lock" + std::to_string(i)), "");
        return;
    }
    ASSERT_GE(asked.size(), 20U);
    EXPECT_GE(asked[0], 12);
    for (std::size_t second = 4; second < asked.size(); ++second)
        EXPECT_LE(asked[second], 2) << "in second " << second;
    accept();
    const auto before = count("leave");
    pass(5s);
    EXPECT_GE(count("leave") - before, 12);
}

INSTANTIATE_TEST_SUITE_P(OfAll, Refusals, testing::ValuesIn(refusals), [](const auto& of) {
    return std::string(of.param.error.substr(0, of.param.error.find(' ')));
});

// A connection that breaks after every request: each may have been carried out, and is undone. The
// queue of undos is full after two: then the client asks for nothing new, and says so.
TEST(UndoQueue, ThatIsFullHoldsUpNewRequests) {
    scene at;
    redis::limits bounds;
    bounds.undos = 2;
    auto& a = at.add(bounds);
    a.ask("first", {});
    at.pass(100ms);
    ASSERT_TRUE(a.lock());
    at.all.clear();
    at.network().freeze();
    for (const auto* name : {"one", "two"})
        a.ask(name, {.wait = 1ms});
    at.pass(1s);
    EXPECT_EQ(a.failure(), make_error_code(errc::unreachable));
    a.ask("three", {.wait = 1ms});
    at.pass(1s);
    EXPECT_EQ(a.failure(), make_error_code(errc::unavailable));
    at.network().thaw();
    at.pass(5s);
    for (const auto* name : {"one", "two", "three"})
        EXPECT_EQ(at.value_of(name), "");
    a.ask("three", {});
    at.pass(3s);
    EXPECT_EQ(a.failure(), boost::system::error_code());
    EXPECT_NE(at.value_of("three"), "");
}

//   A asks, and its connection breaks: the network keeps the request | A undoes it over another
//   connection, three times | the network delivers the request, seconds later: nobody holds the
//   lock, and another undo must free it long before its lease of a minute ends
TEST(UndoQueue, FreesWhatTheNetworkDeliversAfterTheFirstUndos) {
    network_faults slow;
    slow.latency_low = slow.latency_high = 1ms;
    slow.zombie = 1;
    slow.zombie_for = 12s;
    scene at(slow);
    auto& a = at.add();
    instant latest{};
    for (int i = 0; i < 10; ++i) {
        const auto name = "lock" + std::to_string(i);
        a.ask("warm" + std::to_string(i), {});
        at.pass(10ms);
        a.give_back();
        at.pass(10ms);
        at.all.clear();
        const auto broken = at.now();
        a.ask(name, {.ttl = 60s, .wait = 1ms});
        at.pass(500us);
        at.network().break_all(a.home());
        at.pass(25s);
        EXPECT_EQ(at.value_of(name), "") << name;
        for (const auto& each : at.all)
            if (each.script == "acquire") latest = std::max(latest, each.when - broken);
        EXPECT_LE(at.count("leave"), 16) << name;
        EXPECT_GE(at.count("leave"), 4) << name;
    }
    EXPECT_GT(latest, 2s) << "no request was delivered late";
}

}  // namespace
}  // namespace pawl::simulation
