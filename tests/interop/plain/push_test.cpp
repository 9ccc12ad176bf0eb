// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Peers free a lock without a message to Pawl's waiters. The server notifies them.
#include "libraries.hpp"
#include "library_fixture.hpp"

#include <redis_scripts.hpp>

#include <sstream>
#include <thread>

namespace {

using namespace plain;

// The requests that the server executes, in their order.
class monitor_connection {
public:
    explicit monitor_connection(const support::redis_server& server)
        : connection_(server.connect()) {
        (void)connection_->execute({"MONITOR"});
    }

    // When the server executed the next request for this script, in seconds of the server's clock.
    [[nodiscard]] double next_time(std::string_view sha1) {
        for (;;) {
            const auto seen = connection_->receive(patience_ms);
            if (!seen) throw std::runtime_error("the server received no request");
            if (seen->text.find(sha1) != std::string::npos) return std::stod(seen->text);
        }
    }

private:
    static constexpr std::chrono::milliseconds patience_ms = 30s;
    std::unique_ptr<support::resp_client> connection_;
};

using Pushes = library_fixture;
INSTANTIATE_TEST_SUITE_P(Plain, Pushes, testing::ValuesIn(libraries()),
                         [](const auto& parameter) { return parameter.param.name; });

// A waiter refreshes by itself at the earliest 1.0 s after its last refresh. An earlier refresh was
// caused by a message. On a slow machine some rounds decide nothing, so there are as many as
// needed.
TEST_P(Pushes, AReleaseWakesOurWaiter) {
    auto locks = own_client();
    auto other = other_library();
    // A loaded script is sent once for each refresh.
    (void)server.execute({"SCRIPT", "LOAD", std::string(pawl::redis::scripts::refresh.text)});
    constexpr int enough = 3;
    constexpr int most_rounds = 40;
    int woken = 0;  // rounds in which a message woke the waiter early
    int rounds = 0;
    for (; woken < enough && rounds < most_rounds; ++rounds) {
        ASSERT_EQ(other.execute("take it" + an_hour), "got");
        monitor_connection monitor(server);
        pawl::blocking::held_lock acquired;
        std::jthread waiting(
            [&] { acquired = locks.acquire("it", {.ttl = long_ttl, .wait = patience}); });
        const double last = monitor.next_time(pawl::redis::scripts::refresh.sha1);
        ASSERT_EQ(other.execute("give"), "gave");
        if (monitor.next_time(pawl::redis::scripts::refresh.sha1) - last < 1.0) ++woken;
        waiting.join();
        EXPECT_EQ(acquired.release(), pawl::release_result::released);
    }
    EXPECT_EQ(woken, enough) << "of " << rounds << " releases";
    EXPECT_GE(locks.statistics().pushes, static_cast<std::uint64_t>(rounds));
}

}  // namespace
