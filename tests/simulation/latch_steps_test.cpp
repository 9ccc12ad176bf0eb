// A latch's step is taken once or not at all, however long its client or a message is held up.
// Played in virtual time, where half a minute costs nothing.
#include "dwelling.hpp"

#include <pawl/error.hpp>
#include <pawl/latch.hpp>
#include <redis/keys.hpp>
#include <redis_scripts.hpp>

#include <boost/asio/bind_executor.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <optional>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

class LatchSteps : public testing::Test, protected simulated_network::witness {
protected:
    LatchSteps() { network.set_witness(this); }

    void TearDown() override {
        network.set_witness(nullptr);
        who.home.post([this] { who.locks.reset(); });
        world.run_ready();
        while (world.next() <= world.now() + 48h && world.step()) {}
        EXPECT_TRUE(world.idle());
    }
    void executed([[maybe_unused]] process& by, const words& command,
                  const redis::reply& what) override {
        const auto& down = redis::scripts::latch_down;
        if (command.size() < 2 || (command[1] != down.sha1 && command[1] != down.text)) return;
        if (what.what == redis::reply::kind::error) return;
        ++carried_out;
        if (!what.items.empty() && what.items[0].text == "late") ++refused;
        std::exchange(then, [] {})();
    }
    void run_for(instant how_long) {
        const auto until = world.now() + how_long;
        world.at(until, [] {});
        world.run_ready();
        while (world.next() <= until && world.step()) {}
    }
    void set(std::uint32_t count) {
        auto done = [](const boost::system::error_code& ec, bool set) {
            EXPECT_TRUE(!ec && set) << ec.message();
        };
        steps->async_try_set(count, asio::bind_executor(who.home.get_executor(), done));
        run_for(100ms);
    }
    void count_down() {
        left.reset();
        failed.reset();
        auto done = [this](const boost::system::error_code& ec, std::uint64_t now) {
            if (ec)
                failed = ec;
            else
                left = now;
        };
        steps->async_count_down(1, asio::bind_executor(who.home.get_executor(), done));
    }
    std::string count_now() {
        auto key = redis::key_scheme(where.name_space, where.key).of("it").fence;
        key.back() = 'l';
        return network.server().data().hget(key, "count").value_or("none");
    }

    scheduler world;
    simulated_network network{world, prng(1), {}};
    redis::options where;  // an answer may take 5 s, and so may a connection
    dwelling who{world, network, where, prng(2)};
    std::optional<latch> steps{std::in_place, *who.locks, "it"};
    std::function<void()> then = [] {};
    int carried_out = 0;
    int refused = 0;
    std::optional<std::uint64_t> left;
    std::optional<boost::system::error_code> failed;
};

//   C: down | server: 10 -> 9, the answer is lost, the connection cut | C is stopped for longer
//   than the server remembers | C goes on: it must not say it again
TEST_F(LatchSteps, AClientThatWasStoppedDoesNotStepTwice) {
    set(10);
    then = [this] {
        network.break_all(who.home);
        who.home.pause();
    };
    count_down();
    run_for(60s);
    who.home.resume();
    run_for(60s);
    EXPECT_EQ(count_now(), "9");
    EXPECT_EQ(carried_out, 1);
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(*failed, make_error_code(errc::unreachable));
}

//   C: down | server: 10 -> 9, the answer is lost | C: the same again, which is held up on its way
//   for longer than the server remembers | it arrives, and is refused
TEST_F(LatchSteps, ARequestThatArrivesLateIsNotCarriedOut) {
    set(10);
    then = [this] {
        network.break_all(who.home);
        world.after(1s, [this] { network.freeze(); });
    };
    // The second one is sent when the connection is there again, and waits in the frozen server.
    network.cut_off(who.home);
    count_down();
    network.reconnect(who.home);
    run_for(60s);
    network.thaw();
    run_for(60s);
    EXPECT_EQ(count_now(), "9");
    EXPECT_TRUE(left == 9U || failed.has_value());
}

//   C: down | the server stands still, and goes on when C has given up | the step is refused: C was
//   told that nobody knows, and it was not taken
TEST_F(LatchSteps, AFirstRequestThatArrivesLateIsNotCarriedOut) {
    set(11);
    count_down();  // the script is known from now on
    run_for(100ms);
    network.freeze();
    count_down();
    run_for(60s);
    ASSERT_TRUE(failed.has_value());
    network.thaw();
    run_for(10s);
    EXPECT_EQ(count_now(), "10");
    EXPECT_GT(refused, 0);
}

//   The server's clock is set forward by an hour: what C knows of it is wrong | its first request
//   is refused as late, nothing was done, and C asks again with what it learned
TEST_F(LatchSteps, AClockThatIsSetForwardCostsNoStep) {
    set(10);
    network.jump_clock(instant(1h) / 1us);
    count_down();
    run_for(5s);
    EXPECT_EQ(refused, 1);
    EXPECT_EQ(left, 9U);
    EXPECT_EQ(count_now(), "9");
}

}  // namespace
}  // namespace pawl::simulation
