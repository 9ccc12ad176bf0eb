// A program that runs out of threads before its client has connected: it is told so, and the client
// works as soon as there are threads again.
#include <support/child.hpp>
#include <support/eventually.hpp>
#include <support/redis_server.hpp>

#include <pawl/blocking.hpp>
#include <pawl/redis.hpp>

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using pawl::blocking::client;

class Shortage : public testing::Test {
protected:
    // "held", or the error.
    static std::string try_it(client& locks) {
        try {
            return locks.try_acquire("it", {.ttl = 60s}).owns_lock() ? "held" : "somebody else's";
        } catch (const pawl::error& failed) {
            return failed.reason() == pawl::errc::exhausted ? "exhausted" : failed.what();
        }
    }

    support::redis_server server;
};

// The look-up of a name wants a thread of its own.
//   no thread can be started | A asks for the first time: told so, twice | threads can be started
//   | A asks: served by the same client
TEST_F(Shortage, OfThreadsAtTheFirstConnectionIsSaidAndPasses) {
    const auto seen = support::in_child([this] {
        client locks(pawl::redis::at("redis://localhost:" + std::to_string(server.port())));
        support::forbid_threads();
        auto told = try_it(locks) + ", " + try_it(locks);
        support::allow_threads();
        const bool served = support::eventually([&] { return try_it(locks) == "held"; });
        return told + (served ? ", then held" : ", then " + try_it(locks));
    });
    EXPECT_EQ(seen, "exhausted, exhausted, then held");
}

// A numeric address is no name, and wants none.
TEST_F(Shortage, OfThreadsDoesNotTouchANumericAddress) {
    const auto seen = support::in_child([this] {
        client locks(pawl::redis::at(server.url()));
        support::forbid_threads();
        return try_it(locks);
    });
    EXPECT_EQ(seen, "held");
}

}  // namespace
