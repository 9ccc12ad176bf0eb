// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How new nodes that are far away become a set.
#include "redlock/redlock_programs.hpp"

#include <gtest/gtest.h>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;

class FarNodes : public testing::TestWithParam<instant> {
protected:
    [[nodiscard]] static network_faults faults() {
        return {.latency_low = GetParam(), .latency_high = GetParam()};
    }
    [[nodiscard]] static bool are_members(redlock_programs& set) {
        for (auto* const each : set.networks)
            if (each->server().execute(0, {"HGET", "pawl:redlock", "highest"}).text.empty())
                return false;
        return true;
    }
    static void close(redlock_programs::program& by, bool& closed) {
        by.process.post([&by, &closed] {
            by.locks->async_close(redlock_programs::run_in(by, [&closed] { closed = true; }));
        });
    }
};

//   P: a try takes a second, in which the nodes do not become a set | the error says what to do
//   P: closes, as a command does | its repair goes on, so the next commands find a set
TEST_P(FarNodes, FormASetThroughProgramsOfOneTry) {
    redlock_programs set(3, 4, faults(), 1, {}, false);
    for (const auto& program : set.programs) {
        auto& request = set.try_acquire(*program, {.ttl = 5s});
        ASSERT_TRUE(set.run_until([&] { return request.outcome.has_value(); }));
        EXPECT_TRUE(request.has_failed_with(errc::no_set) ||
                    request.has_failed_with(errc::no_quorum))
            << request.messages.message();
        EXPECT_NE(request.messages.message().find("pawl redlock init"), std::string::npos)
            << request.messages.message();
        bool closed = false;
        close(*program, closed);
        ASSERT_TRUE(set.run_until([&] { return closed; }, 6s));
    }
    EXPECT_TRUE(are_members(set));
}

INSTANTIATE_TEST_SUITE_P(Each, FarNodes, testing::Values(60ms, 75ms, 90ms), [](const auto& test) {
    return "After" + std::to_string(test.param / 1ms) + "ms";
});

}  // namespace
}  // namespace pawl::simulation
