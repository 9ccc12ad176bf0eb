// A waiter that is dead or frozen delays the next by two seconds at most, in virtual time.
#include "dwelling.hpp"

#include <boost/asio/bind_executor.hpp>

#include <gtest/gtest.h>

#include <string>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

// One who takes the lock.
class resident {
public:
    resident(scheduler& world, simulated_network& network, prng chance)
        : at_(world, network, where_, chance) {}

    void ask(const lock_options& options) {
        at_.home.post([this, options] {
            at_.locks->async_acquire(
                "it", options,
                asio::bind_executor(at_.home.get_executor(),
                                    [this](const boost::system::error_code& ec, held_lock lock) {
                                        if (!ec) lock_ = std::move(lock);
                                    }));
        });
    }
    void give_back() {
        at_.home.post([this] { lock_ = {}; });
    }
    void end() {
        at_.home.resume();
        at_.home.post([this] {
            lock_ = {};
            at_.locks.reset();
        });
    }
    [[nodiscard]] bool holds() const { return static_cast<bool>(lock_); }
    [[nodiscard]] process& home() noexcept { return at_.home; }

private:
    const redis::options where_;
    dwelling at_;
    held_lock lock_;
};

enum class death : std::uint8_t { killed, stopped, cut_off };

// What the holder, the first in line and the next want.
struct line {
    const char* name;
    lock_options holder, first, next;
    bool released;  // by the holder, after the first in line died
};

constexpr lock_options fair{.ttl = 3s, .fair = true};
constexpr lock_options read{.ttl = 3s, .mode = lock_mode::shared};
constexpr lock_options write{.ttl = 3s};

constexpr lock_options some(std::uint32_t permits) {
    return {.ttl = 3s, .mode = lock_mode::permits, .permits = permits, .of = 3};
}

const line lines[] = {
    {"fair", fair, fair, fair, true},
    {"writer_before_reader", read, write, read, false},
    {"writer_before_writer", read, write, write, true},
    {"many_permits_before_one", some(2), some(3), some(1), false},
};

class scene {
public:
    explicit scene(std::uint64_t seed)
        : chance_(seed),
          network_(world_, chance_.fork(), network_faults{}),
          holder_(world_, network_, chance_.fork()),
          first_(world_, network_, chance_.fork()),
          next_(world_, network_, chance_.fork()) {}

    ~scene() {
        network_.reconnect(first_.home());
        for (auto* each : {&holder_, &first_, &next_})
            each->end();
        pass(10s);
    }
    scene(const scene&) = delete;
    scene& operator=(const scene&) = delete;

    // How long the next waits after the first died.
    instant play(const line& who, death how) {
        holder_.ask(who.holder);
        pass(100ms);
        EXPECT_TRUE(holder_.holds());
        first_.ask(who.first);
        pass(10ms);
        const bool earlier = chance_.chance(0.5);
        if (earlier) next_.ask(who.next);
        pass(instant(chance_.between(0, instant(4s).count())));
        die(how);
        const auto died = world_.now();
        if (!earlier) next_.ask(who.next);
        if (who.released) {
            pass(10ms);
            holder_.give_back();
        }
        while (!next_.holds() && world_.now() < died + 10s)
            pass(5ms);
        EXPECT_FALSE(first_.holds());
        return world_.now() - died;
    }

private:
    void pass(instant time) {
        const auto until = world_.now() + time;
        world_.at(until, [] {});
        world_.run_ready();
        while (world_.next() <= until && world_.step()) {}
    }

    void die(death how) {
        if (how == death::cut_off) return network_.cut_off(first_.home());
        first_.home().pause();
        if (how == death::killed) network_.ban(first_.home());
    }

    scheduler world_;
    prng chance_;
    simulated_network network_;
    resident holder_, first_, next_;
};

class DeadWaiter : public testing::TestWithParam<line> {};

// The holder stays; who is first in line does not fit, and dies at any moment between two of its
// looks. Its place must end, and somebody must notice, although nothing else happens at the server.
// Or the holder gives back, and the one who is given the lock never says that it has it.
TEST_P(DeadWaiter, DelaysTheNextByTwoSecondsAtMost) {
    for (const auto how : {death::killed, death::stopped, death::cut_off}) {
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            SCOPED_TRACE(std::to_string(seed) + ", death " + std::to_string(static_cast<int>(how)));
            const auto waited = scene(seed).play(GetParam(), how);
            EXPECT_LE(std::chrono::duration_cast<std::chrono::milliseconds>(waited), 2000ms);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Line, DeadWaiter, testing::ValuesIn(lines),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace pawl::simulation
