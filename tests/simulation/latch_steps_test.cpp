// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A latch's step counts once or not at all, however long its client or a message is delayed. The
// tests run in virtual time, in which half a minute costs nothing.
#include "world/simulated_program.hpp"

#include <pawl/error.hpp>
#include <pawl/latch.hpp>
#include <redis/common/keys.hpp>
#include <redis_scripts.hpp>

#include <boost/asio/bind_executor.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <optional>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

class LatchSteps : public testing::Test, protected simulated_network::observer {
protected:
    LatchSteps() { network.set_observer(this); }

    void TearDown() override {
        network.set_observer(nullptr);
        program.process.post([this] { program.locks.reset(); });
        loop.run_ready();
        while (loop.next_event_at() <= loop.now() + 48h && loop.step()) {}
        EXPECT_TRUE(loop.is_idle());
    }
    void on_executed(simulated_network& /*server*/, [[maybe_unused]] simulated_process& process,
                     const words& command, const redis::reply& reply) override {
        const auto& down = redis::scripts::latch_down;
        if (command.size() < 2 || (command[1] != down.sha1 && command[1] != down.text)) return;
        if (reply.type == redis::reply::kind::error) return;
        ++carried_out;
        if (!reply.items.empty() && reply.items[0].text == "late") ++refused;
        std::exchange(after_execution, [] {})();
    }
    void set_latch(std::uint32_t count) {
        auto handler = [](const boost::system::error_code& ec, bool set) {
            EXPECT_TRUE(!ec && set) << ec.message();
        };
        steps->async_try_set(count, asio::bind_executor(program.process.get_executor(), handler));
        loop.run_for(100ms);
    }
    void count_down() {
        left.reset();
        failed.reset();
        auto handler = [this](const boost::system::error_code& ec, std::uint64_t now) {
            if (ec)
                failed = ec;
            else
                left = now;
        };
        steps->async_count_down(1, asio::bind_executor(program.process.get_executor(), handler));
    }
    std::string count_now() {
        std::string key(redis::key_scheme(options.name_space, options.key).keys_of("it").fence());
        key.back() = 'l';
        const auto* const fields = network.server().data().find_as<store::hash>(key);
        return fields == nullptr ? "none" : fields->at("count");
    }

    scheduler loop;
    simulated_network network{loop, prng(1), {}};
    redis::options options;  // a reply and a connection may take 5 s
    single_client_process program{loop, network, options, prng(2)};
    std::optional<latch> steps{std::in_place, *program.locks, "it"};
    std::function<void()> after_execution = [] {};
    int carried_out = 0;
    int refused = 0;
    std::optional<std::uint64_t> left;
    std::optional<boost::system::error_code> failed;
};

//   C: down | server: 10 -> 9, the reply is lost, the connection breaks | C is stopped for longer
//   than the server remembers the request | C continues: it must not repeat the request
TEST_F(LatchSteps, AClientThatWasStoppedDoesNotStepTwice) {
    set_latch(10);
    after_execution = [this] {
        network.break_all(program.process);
        program.process.pause();
    };
    count_down();
    loop.run_for(60s);
    program.process.resume();
    loop.run_for(60s);
    EXPECT_EQ(count_now(), "9");
    EXPECT_EQ(carried_out, 1);
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(*failed, make_error_code(errc::unreachable));
}

//   C: down | server: 10 -> 9, the reply is lost | C: repeats the request, which is delayed for
//   longer than the server remembers the first | the request arrives and is refused
TEST_F(LatchSteps, ARequestThatArrivesLateIsNotCarriedOut) {
    set_latch(10);
    after_execution = [this] {
        network.break_all(program.process);
        loop.schedule_after(1s, [this] { network.freeze(); });
    };
    // The second request is sent over the new connection and waits in the frozen server.
    network.cut_off(program.process);
    count_down();
    network.reconnect(program.process);
    loop.run_for(60s);
    network.thaw();
    loop.run_for(60s);
    EXPECT_EQ(count_now(), "9");
    EXPECT_TRUE(left == 9U || failed.has_value());
}

//   C: down | the server is frozen until C has given up | the step is refused: C was told that the
//   result is unknown, and the step does not count
TEST_F(LatchSteps, AFirstRequestThatArrivesLateIsNotCarriedOut) {
    set_latch(11);
    count_down();  // from now on the server knows the script
    loop.run_for(100ms);
    network.freeze();
    count_down();
    loop.run_for(60s);
    ASSERT_TRUE(failed.has_value());
    network.thaw();
    loop.run_for(10s);
    EXPECT_EQ(count_now(), "10");
    EXPECT_GT(refused, 0);
}

//   The server's clock is set forward by an hour, so C's estimate of it is wrong | C's first
//   request is refused as late and changes nothing | C repeats it with the clock from the reply
TEST_F(LatchSteps, AClockThatIsSetForwardCostsNoStep) {
    set_latch(10);
    network.jump_clock(instant(1h) / 1us);
    count_down();
    loop.run_for(5s);
    EXPECT_EQ(refused, 1);
    EXPECT_EQ(left, 9U);
    EXPECT_EQ(count_now(), "9");
}

}  // namespace
}  // namespace pawl::simulation
