// Memory that ends when a handle is dropped: no lock stays behind that nobody has a handle of.
#include "failing_memory.hpp"
#include "hand_time.hpp"

#include <pawl/client.hpp>
#include <pawl/memory.hpp>

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <optional>

namespace pawl {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr duration ttl = 10s;

class OutOfMemory : public testing::Test {
protected:
    OutOfMemory() {
        client_options named;
        named.time = &time_;
        service where = memory::make();
        locks_.emplace(loop_.get_executor(), where, named);
        other_.emplace(loop_.get_executor(), where, named);
    }
    ~OutOfMemory() override {
        locks_.reset();
        other_.reset();
        run();
    }

    void run() {
        loop_.restart();
        loop_.poll();
    }

    bool is_free() {
        bool free = false;
        other_->async_inspect("it", [&](const boost::system::error_code& ec, const lock_info& at) {
            free = !ec && !at.held_by;
        });
        run();
        return free;
    }

    asio::io_context loop_;
    hand_moved time_;
    std::optional<client> locks_, other_;
};

// The handle cannot say that it is gone: the keeper sees it at the next renewal.
TEST_F(OutOfMemory, ADroppedHandleIsNoticedAtTheNextRenewal) {
    std::optional<held_lock> mine;
    locks_->async_acquire("it", {.ttl = ttl}, [&](const boost::system::error_code&, held_lock got) {
        mine.emplace(std::move(got));
    });
    run();
    ASSERT_TRUE(mine && mine->owns_lock());
    {
        const failing_memory::none_for_this_thread none;
        mine.reset();
    }
    run();
    EXPECT_FALSE(is_free()) << "nothing has run since";
    time_.move(ttl / 2);
    run();
    EXPECT_TRUE(is_free());
}

}  // namespace
}  // namespace pawl
