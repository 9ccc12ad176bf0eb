// Programs that run out of something, step by step, in virtual time.
#include "shortage.hpp"
#include "dwelling.hpp"

#include <redis/keys.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <optional>
#include <string>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

// Two programs and a server.
class Scarcity : public testing::Test {
protected:
    ~Scarcity() override {
        for (auto* each : {&holder_, &other_}) {
            each->home.has().recover();
            each->home.post([each] { each->locks.reset(); });
        }
        pass(10s);
    }

    struct asking {
        std::optional<boost::system::error_code> answer;
        held_lock lock;
        asio::cancellation_signal cancel;
    };

    void ask(dwelling& who, asking& how, const lock_options& options) {
        who.home.post([&who, &how, options] {
            const own_bookkeeping uncounted;
            auto done = [&how](const boost::system::error_code& ec, held_lock lock) {
                const own_bookkeeping also_uncounted;
                how.answer = ec;
                how.lock = std::move(lock);
            };
            who.locks->async_acquire(
                "it", options,
                asio::bind_cancellation_slot(how.cancel.slot(),
                                             asio::bind_executor(who.home.get_executor(), done)));
        });
    }
    void drop(dwelling& who, asking& how) {
        who.home.post([&how] { how.lock = {}; });
        world_.run_ready();
    }
    void pass(instant time) {
        const auto until = world_.now() + time;
        world_.at(until, [] {});
        world_.run_ready();
        while (world_.next() <= until && world_.step()) {}
    }
    [[nodiscard]] std::size_t waiters() {
        const auto keys = redis::key_scheme(where_.name_space, where_.key).of("it");
        const auto* all = network_.server().data().peek();
        const auto found = all->find(keys.waiters);
        if (found == all->end()) return 0;
        return std::get<store::hash>(found->second.content).size();
    }

    scheduler world_;
    const redis::options where_;
    simulated_network network_{world_, prng(1), network_faults{}};
    dwelling holder_{world_, network_, where_, prng(2)};
    dwelling other_{world_, network_, where_, prng(3)};
};

// A waiter gives up while its program has no memory: its place in line is left all the same, with
// what was made before it was taken.
TEST_F(Scarcity, AWaiterWithoutMemoryLeavesItsPlace) {
    asking held, waiting;
    ask(holder_, held, {.ttl = 5s});
    pass(50ms);
    ask(other_, waiting, {.ttl = 5s});
    pass(50ms);
    ASSERT_EQ(waiters(), 1u);
    other_.home.has().run_out_of(resource::memory);
    other_.home.post([&] {
        const own_bookkeeping uncounted;
        waiting.cancel.emit(asio::cancellation_type::terminal);
    });
    pass(20ms);
    EXPECT_TRUE(waiting.answer.has_value());
    other_.home.has().recover();
    pass(300ms);
    EXPECT_EQ(waiters(), 0u);
    drop(holder_, held);
}

// The keeper goes on without memory, and what it cannot renew it tells.
TEST_F(Scarcity, AHolderWithoutMemoryIsToldOfItsLossInTime) {
    asking held;
    ask(holder_, held, {.ttl = 300ms});
    pass(50ms);
    ASSERT_TRUE(held.lock.owns_lock());
    const auto lost = held.lock.lost();
    holder_.home.has().run_out_of(resource::memory);
    pass(300ms);
    EXPECT_TRUE(lost.stop_requested());
    EXPECT_EQ(held.lock.state(), lock_state::lost);
    holder_.home.has().recover();
    drop(holder_, held);
    pass(1s);
    asking again;
    ask(holder_, again, {.ttl = 300ms});
    pass(1s);
    EXPECT_TRUE(again.lock.owns_lock());
    drop(holder_, again);
}

TEST_F(Scarcity, AProgramWithoutTimersIsToldSo) {
    asking held, waiting;
    ask(holder_, held, {.ttl = 5s});
    pass(50ms);
    other_.home.has().run_out_of(resource::timers);
    ask(other_, waiting, {.ttl = 5s});
    pass(100ms);
    ASSERT_TRUE(waiting.answer.has_value());
    EXPECT_EQ(*waiting.answer, make_error_code(errc::exhausted));
    other_.home.has().recover();
    drop(holder_, held);
    asking again;
    ask(other_, again, {.ttl = 5s});
    pass(1s);
    EXPECT_TRUE(again.lock.owns_lock());
    drop(other_, again);
}

TEST_F(Scarcity, AProgramWithoutDescriptorsConnectsLater) {
    asking held;
    holder_.home.has().run_out_of(resource::descriptors);
    ask(holder_, held, {.ttl = 5s, .wait = 10s});
    pass(3s);
    EXPECT_FALSE(held.lock.owns_lock());
    holder_.home.has().recover();
    pass(3s);
    EXPECT_TRUE(held.lock.owns_lock());
    drop(holder_, held);
}

// What a client has for its holds goes with them.
TEST_F(Scarcity, AClientGivesItsMemoryBack) {
    const auto bytes = [this] { return holder_.home.has().memory().bytes(); };
    for (int turn = 0; turn < 2; ++turn) {
        asking held;
        ask(holder_, held, {.ttl = 5s});
        pass(50ms);
        drop(holder_, held);
        pass(10s);
    }
    const auto idle = bytes();
    for (int turn = 0; turn < 20; ++turn) {
        asking held;
        ask(holder_, held, {.ttl = 5s});
        pass(50ms);
        EXPECT_GT(bytes(), idle);
        drop(holder_, held);
        pass(10s);
    }
    EXPECT_EQ(bytes(), idle);
}

// Called as functions: a compiler may leave out the pair that expressions make.
bool can_allocate() {
    try {
        ::operator delete(::operator new(1000));
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

TEST(MemoryAccount, CountsAndRefuses) {
    const auto account = memory_account::make(prng(1));
    std::unique_ptr<std::string> kept;
    bool refused = false;
    bool own_refused = true;
    {
        const allocating_for it(account.get());
        kept = std::make_unique<std::string>();
        account->refuse(1);
        refused = !can_allocate();
        const own_bookkeeping uncounted;
        own_refused = !can_allocate();
    }
    EXPECT_EQ(account->bytes(), sizeof(std::string));
    EXPECT_TRUE(refused);
    EXPECT_FALSE(own_refused);
    EXPECT_EQ(account->refusals(), 1u);
    EXPECT_TRUE(can_allocate());
    kept.reset();
    EXPECT_EQ(account->bytes(), 0u);
}

}  // namespace
}  // namespace pawl::simulation
