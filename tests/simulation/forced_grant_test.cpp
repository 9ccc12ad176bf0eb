// A grant and its loss that a client reads together.
#include "dwelling.hpp"

#include <redis/keys.hpp>

#include <boost/asio/bind_executor.hpp>

#include <gtest/gtest.h>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

struct asked {
    held_lock lock;
    boost::system::error_code ec;
    bool come = false;
};

class ForcedGrant : public testing::Test {
protected:
    void TearDown() override {
        for (auto* each : {&holds, &waits})
            each->lock = {};
        for (auto* each : {&one, &two})
            each->home.post([each] { each->locks.reset(); });
        run_for(48h);
        EXPECT_TRUE(world.idle());
    }
    void run_for(instant how_long) {
        const auto until = world.now() + how_long;
        world.at(until, [] {});
        world.run_ready();
        while (world.next() <= until && world.step()) {}
    }
    void ask(dwelling& who, asked& to) {
        auto done = [&to](const boost::system::error_code& ec, held_lock lock) {
            to.lock = std::move(lock);
            to.ec = ec;
            to.come = true;
        };
        who.locks->async_acquire("it", {.ttl = 60s, .wait = 30s},
                                 asio::bind_executor(who.home.get_executor(), done));
    }

    scheduler world;
    simulated_network network{world, prng(1), {}};
    redis::options where;
    dwelling one{world, network, where, prng(2)}, two{world, network, where, prng(3)};
    asked holds, waits;
};

//   A: holds, B waits | B's program stands still for a moment | A: releases, B is granted it | an
//   operator takes it away | B reads both at once: it was never B's, and B waits on
TEST_F(ForcedGrant, ALossThatIsReadWithItsGrantEndsTheGrant) {
    ask(one, holds);
    run_for(100ms);
    ASSERT_TRUE(holds.lock);
    ask(two, waits);
    run_for(100ms);
    two.home.pause();
    holds.lock.async_release([](release_result) {});
    run_for(20ms);
    one.locks->async_force_release("it", [](const boost::system::error_code& ec, bool taken) {
        EXPECT_TRUE(!ec && taken) << ec.message();
    });
    run_for(20ms);
    two.home.resume();
    run_for(3s);
    ASSERT_TRUE(waits.come);
    EXPECT_FALSE(waits.ec) << waits.ec.message();
    EXPECT_EQ(waits.lock.state(), lock_state::held);
}

}  // namespace
}  // namespace pawl::simulation
