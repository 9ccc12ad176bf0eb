// Peers free a lock without a word to our waiters. The server tells them.
#include "libraries.hpp"
#include "scene.hpp"

#include <redis_scripts.hpp>

#include <sstream>
#include <thread>

namespace {

using namespace plain;

// When the server carried out this script, in its own seconds; goes on from where it stands.
class spy {
public:
    explicit spy(const support::redis_server& server) : line_(server.connect()) {
        (void)line_->ask({"MONITOR"});
    }

    [[nodiscard]] double next(std::string_view sha1) {
        for (;;) {
            const auto seen = line_->receive(patience_ms);
            if (!seen) throw std::runtime_error("the server was not asked");
            if (seen->text.find(sha1) != std::string::npos) return std::stod(seen->text);
        }
    }

private:
    static constexpr std::chrono::milliseconds patience_ms = 30s;
    std::unique_ptr<support::resp_client> line_;
};

using Pushes = scene;
INSTANTIATE_TEST_SUITE_P(Plain, Pushes, testing::ValuesIn(libraries()),
                         [](const auto& what) { return what.param.name; });

// A waiter looks by itself not sooner than 1.0 s after its last look. One that comes sooner was
// called; on a slow machine some rounds say nothing, so there are as many as it takes.
TEST_P(Pushes, AReleaseWakesOurWaiter) {
    auto locks = ours();
    auto other = theirs();
    // Known to the server, it is sent once for each look.
    (void)server.ask({"SCRIPT", "LOAD", std::string(pawl::redis::scripts::look.text)});
    constexpr int enough = 3;
    constexpr int most_rounds = 40;
    int called = 0;
    int rounds = 0;
    for (; called < enough && rounds < most_rounds; ++rounds) {
        ASSERT_EQ(other.ask("take it" + an_hour), "got");
        spy looks(server);
        pawl::blocking::held_lock got;
        std::jthread waiting(
            [&] { got = locks.acquire("it", {.ttl = long_ttl, .wait = patience}); });
        const double last = looks.next(pawl::redis::scripts::look.sha1);
        ASSERT_EQ(other.ask("give"), "gave");
        if (looks.next(pawl::redis::scripts::look.sha1) - last < 1.0) ++called;
        waiting.join();
        EXPECT_EQ(got.release(), pawl::release_result::released);
    }
    EXPECT_EQ(called, enough) << "of " << rounds << " releases";
    EXPECT_GE(locks.statistics().pushes, static_cast<std::uint64_t>(rounds));
}

}  // namespace
