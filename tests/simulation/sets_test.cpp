// Several locks or none, where an answer is late, lost or never comes. The swarm found these; here
// each is played step by step.
#include "dwelling.hpp"

#include <pawl/error.hpp>
#include <redis/keys.hpp>
#include <redis_scripts.hpp>

#include <boost/asio/bind_executor.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

struct answer {
    bool come = false;
    boost::system::error_code ec;
    held_locks locks;
    instant at{};
};

class Sets : public testing::Test, protected simulated_network::witness {
protected:
    Sets() { network.set_witness(this); }

    void TearDown() override {
        network.set_witness(nullptr);
        for (auto* each : {&all, &busy, &third})
            each->locks = {};
        for (auto* each : {&one, &two})
            each->home.post([each] { each->locks.reset(); });
        world.run_ready();
        const auto limit = world.now() + 48h;
        while (world.next() <= limit && world.step()) {}
        EXPECT_TRUE(world.idle());
    }

    void executed([[maybe_unused]] process& by, const words& command,
                  [[maybe_unused]] const redis::reply& what) override {
        for (const auto& each : redis::scripts::all)
            if (command.size() > 1 && (command[1] == each.sha1 || command[1] == each.text) &&
                what.what != redis::reply::kind::error && each.name == awaited)
                std::exchange(then, [] {})();
    }
    // Right after that script is carried out, before its answer leaves.
    void after(std::string_view script, std::function<void()> what) {
        awaited = script;
        then = std::move(what);
    }

    void ask(dwelling& who, std::vector<std::string> names, const lock_options& options,
             answer& to) {
        auto done = [&to, this](const boost::system::error_code& ec, held_locks found) {
            to = {true, ec, std::move(found), world.now()};
        };
        who.locks->async_acquire_all(std::move(names), options,
                                     asio::bind_executor(who.home.get_executor(), done));
    }
    // Also the scripts are known there, afterwards.
    void meet(dwelling& who) {
        ask(who, {"y", "z"}, {}, all);
        ASSERT_TRUE(comes(all, 1s));
        all = {};
        run_for(100ms);
    }
    void run_for(instant how_long) {
        const auto until = world.now() + how_long;
        world.at(until, [] {});
        world.run_ready();
        while (world.next() <= until && world.step()) {}
    }
    bool comes(const answer& what, instant within) {
        const auto until = world.now() + within;
        world.run_ready();
        while (!what.come && world.next() <= until && world.step()) {}
        return what.come;
    }
    bool is_free(const std::string& name) {
        const redis::key_scheme scheme(where.name_space, where.key);
        return !network.server().data().exists(scheme.of(name).lock);
    }

    scheduler world;
    simulated_network network{world, prng(1), {}};
    redis::options where;  // an answer may take 5 s
    dwelling one{world, network, where, prng(2)}, two{world, network, where, prng(3)};
    // Here, so that what is told to them late finds them.
    answer all, busy, third;
    std::string_view awaited;
    std::function<void()> then = [] {};
};

// 1. The server stands still. 2. A asks for a and b, for 100 ms. Without an answer it is told so
// then, not when the server is taken for dead. 3. The server goes on, and carries out the question:
// nothing of it may stay.
TEST_F(Sets, SilenceIsNotWaitedForBeyondTheWait) {
    meet(one);
    network.freeze();
    const auto asked = world.now();
    ask(one, {"a", "b"}, {.ttl = 60s, .wait = 100ms}, all);
    ASSERT_TRUE(comes(all, 20s));
    EXPECT_EQ(all.ec, make_error_code(errc::unreachable));
    EXPECT_LE(all.at - asked, 500ms);
    network.thaw();
    run_for(1s);
    EXPECT_TRUE(is_free("a") && is_free("b"));
}

// 1. The server gives a and b to A for 60 ms. 2. The answer takes 80 ms: others may have both by
// now. A must not be given a set.
TEST_F(Sets, AnAnswerThatComesTooLateIsALoss) {
    meet(one);
    after("several", [this] {
        network.cut_off(one.home);
        world.after(80ms, [this] { network.reconnect(one.home); });
    });
    ask(one, {"a", "b"}, {.ttl = 60ms, .wait = 10s}, all);
    ASSERT_TRUE(comes(all, 20s));
    EXPECT_EQ(all.ec, make_error_code(errc::lost));
    EXPECT_FALSE(all.locks);
    run_for(1s);
    EXPECT_TRUE(is_free("a") && is_free("b"));
}

// 1. The server gives a and b to A. 2. The connection breaks, the answer with it. 3. A asks again,
// for one after the other. Both of the first hold must have been given back, or A waits for itself
// until their lease ends.
TEST_F(Sets, AnAnswerThatIsLostLeavesNoneOfThem) {
    meet(one);
    after("several", [this] { network.break_all(one.home); });
    const auto asked = world.now();
    ask(one, {"a", "b"}, {.ttl = 60s}, all);
    ASSERT_TRUE(comes(all, 70s));
    EXPECT_FALSE(all.ec);
    EXPECT_LE(all.at - asked, 3s);
    all.locks = {};
    run_for(1s);
    EXPECT_TRUE(is_free("a") && is_free("b"));
}

// 1. b is B's. 2. A, who waits for 100 ms, is given a; the answer takes 150 ms. 3. The server
// stands still. The time is over, and the question for b must not take longer than a wait's.
TEST_F(Sets, TheLastQuestionIsNoLongerThanTheOthers) {
    meet(one);
    meet(two);
    ask(two, {"b", "c"}, {.ttl = 60s}, busy);
    ASSERT_TRUE(comes(busy, 1s));
    after("acquire", [this] {
        network.cut_off(one.home);
        network.freeze();
        world.after(150ms, [this] { network.reconnect(one.home); });
    });
    const auto asked = world.now();
    ask(one, {"a", "b"}, {.ttl = 60s, .wait = 100ms}, all);
    ASSERT_TRUE(comes(all, 20s));
    EXPECT_EQ(all.ec, make_error_code(errc::unreachable));
    EXPECT_LE(all.at - asked, 1s);
    network.thaw();
    run_for(5s);
    EXPECT_TRUE(is_free("a"));
}

// 1. A has a and waits for b. 2. An operator takes a away. 3. b comes: both or none, so none.
TEST_F(Sets, OneThatIsLostBeforeTheLastComesLeavesNone) {
    meet(one);
    meet(two);
    ask(two, {"b", "c"}, {.ttl = 60s}, busy);
    ASSERT_TRUE(comes(busy, 1s));
    ask(one, {"b", "a"}, {.ttl = 60s}, all);
    run_for(100ms);
    EXPECT_FALSE(all.come || is_free("a"));
    two.locks->async_force_release(
        "a", asio::bind_executor(two.home.get_executor(),
                                 [](const boost::system::error_code&, bool) {}));
    run_for(100ms);
    busy.locks = {};
    ASSERT_TRUE(comes(all, 1s));
    EXPECT_EQ(all.ec, make_error_code(errc::lost));
    run_for(1s);
    EXPECT_TRUE(is_free("a") && is_free("b"));
}

// One says a, b, c, the other c, b, a, and neither ever waits for the other: in the order of names
// nobody can have what somebody waits for who has what he wants.
TEST_F(Sets, OppositeOrdersBothEnd) {
    ask(one, {"a", "b", "c"}, {.ttl = 60s}, all);
    ask(two, {"c", "b", "a"}, {.ttl = 60s}, busy);
    ask(one, {"b", "c"}, {.ttl = 60s}, third);
    for (int given = 0; given < 3; ++given) {
        run_for(3s);
        for (auto* each : {&all, &busy, &third})
            each->locks = {};
    }
    for (const auto* each : {&all, &busy, &third})
        EXPECT_TRUE(each->come && !each->ec);
}

}  // namespace
}  // namespace pawl::simulation
