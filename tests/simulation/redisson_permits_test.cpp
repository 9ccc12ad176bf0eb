// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The messages of Pawl's scripts to Java's waiters for a semaphore.
#include "server/known_scripts.hpp"
#include "server/replies.hpp"
#include "server/simulated_redis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::simulation {
namespace {

std::string text_of_script(std::string_view name) {
    const auto script = std::ranges::find(known_scripts(), name, &known_script::name);
    return std::string(script->code->text);
}

class NewSemaphore : public testing::TestWithParam<const char*> {};

// Java: acquire() finds no number of permits, subscribes, tries again and sleeps without a limit.
// Pawl: acquire with a total sets the number, and takes one of three permits.
TEST_P(NewSemaphore, IsAnnouncedToWaiters) {
    constexpr simulated_redis::connection java = 1, pawl = 2;
    std::vector<words> pushes;
    simulated_redis server(
        [&](simulated_redis::connection to, words message) {
            if (to == java && message.at(0) == "message") pushes.push_back(std::move(message));
        },
        injected_bug::none);
    server.set_clock(1'900'000'000'000'000);
    static_cast<void>(server.execute(java, {"SUBSCRIBE", "redisson_sc:{s}"}));
    const words acquire{
        "EVAL",    text_of_script(GetParam()), "2", "s", "other", "123456789012", "1000",
        "PUBLISH", "redisson_sc:{s}",          "1", "3"};
    EXPECT_EQ(to_string(server.execute(pawl, acquire)), "[1, 0]");
    EXPECT_EQ(pushes, (std::vector<words>{{"message", "redisson_sc:{s}", "3"}}));
    pushes.clear();
    static_cast<void>(server.execute(pawl, acquire));
    EXPECT_EQ(pushes, std::vector<words>());
}

INSTANTIATE_TEST_SUITE_P(Each, NewSemaphore,
                         testing::Values("redisson/permits_acquire", "redisson/semaphore_acquire"),
                         [](const auto& test) {
                             const std::string_view script(test.param);
                             return std::string(script.substr(script.find('/') + 1));
                         });

}  // namespace
}  // namespace pawl::simulation
