// No name server answers: a client that asks for a name waits, and no other one does.
#include "host_names.hpp"
#include "scene.hpp"

#include <pawl/client.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <redis/name_look_up.hpp>

namespace {

using namespace chaos;
namespace asio = boost::asio;

class DeadNameServer : public testing::Test, protected scene {
protected:
    [[nodiscard]] std::string url(const std::string& host) const {
        return "redis://" + host + ":" + std::to_string(server.port()) + "?connect_timeout_ms=500";
    }
    void cut_connections() {
        (void)server.ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
        (void)server.ask({"CLIENT", "KILL", "TYPE", "pubsub"});
    }

    host_names names;
};

TEST_F(DeadNameServer, KeepsNoClientFromItsEnd) {
    names.hang("dead.test");
    {
        client locks = at(url("dead.test"));
        const auto told = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
        ASSERT_TRUE(told.has_value());
        EXPECT_EQ(told->reason, errc::unreachable) << told;
    }
    EXPECT_EQ(names.hanging(), 1U);  // it goes on, and nobody waits for it
}

// Attempts go on while the first look-up hangs: they share it.
TEST_F(DeadNameServer, IsAskedOnceForOneName) {
    names.hang("dead.test");
    client one = at(url("dead.test"));
    client two = at(url("dead.test"));
    for (int i = 0; i < 3; ++i) {
        for (auto* each : {&one, &two})
            EXPECT_TRUE(failure_of([&] { (void)each->try_acquire("it", {.ttl = 2s}); }));
    }
    EXPECT_EQ(names.asked("dead.test"), 1U);
    names.lead("dead.test", {"127.0.0.1"});
    EXPECT_TRUE(gives_a_lock(one)) << notes.text();
    EXPECT_TRUE(gives_a_lock(two)) << notes.text();
}

// A and B are on one event loop | B's look-up hangs | A connects by a name, and again by the
// address that it knows while its own name has no answer any more
TEST_F(DeadNameServer, LeavesOtherClientsOfTheEventLoopAlone) {
    names.hang("dead.test");
    names.lead("alive.test", {"127.0.0.1"});
    asio::io_context io;
    {
        const auto work = asio::make_work_guard(io);
        const std::jthread runs([&] { io.run(); });
        const std::shared_ptr<void> stops(nullptr, [&](void*) { io.stop(); });
        pawl::client b(io.get_executor(), pawl::redis::at(url("dead.test")));
        auto never = b.async_acquire("it", {.ttl = 2s, .wait = patience}, asio::use_future);
        ASSERT_TRUE(eventually([&] { return names.hanging() == 1; }));
        pawl::client a(io.get_executor(), pawl::redis::at(url("alive.test")));
        const auto first =
            a.async_acquire("first", {.ttl = 2s, .wait = patience}, asio::use_future).get();
        names.hang("alive.test");
        cut_connections();
        const auto second =
            a.async_acquire("second", {.ttl = 2s, .wait = patience}, asio::use_future).get();
        EXPECT_TRUE(eventually([&] { return names.hanging() == 2; })) << names.hanging();
    }
}

// More names than may be looked up at once: the next one is told, and is served afterwards.
TEST_F(DeadNameServer, IsAskedForSoManyNamesAtOnce) {
    std::vector<std::unique_ptr<client>> asking;
    for (std::size_t i = 0; i < pawl::redis::most_look_ups; ++i) {
        const auto name = "dead" + std::to_string(i) + ".test";
        names.hang(name);
        asking.push_back(std::make_unique<client>(at(url(name))));
        EXPECT_TRUE(failure_of([&] { (void)asking.back()->try_acquire("it", {.ttl = 2s}); }));
    }
    EXPECT_EQ(names.hanging(), pawl::redis::most_look_ups);
    names.lead("alive.test", {"127.0.0.1"});
    client next = at(url("alive.test"));
    const auto told = failure_of([&] { (void)next.try_acquire("it", {.ttl = 2s}); });
    ASSERT_TRUE(told.has_value());
    EXPECT_EQ(told->reason, errc::exhausted) << told;
    client numeric = at(url("127.0.0.1"));
    EXPECT_TRUE(gives_a_lock(numeric)) << notes.text();
    EXPECT_EQ(names.asked("127.0.0.1"), 0U);
    names.answer();
    EXPECT_TRUE(gives_a_lock(next)) << notes.text();
}

}  // namespace
