// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The calls of one thread take effect in their order, whichever thread drives the event loop.
#include <pawl/blocking.hpp>
#include <pawl/memory.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace {

using namespace std::chrono_literals;

#ifdef __SANITIZE_THREAD__
constexpr int holds = 30'000;  // 100,000 take about a minute
#else
constexpr int holds = 100'000;
#endif

// The destructor of a handle only posts its release if another thread drives the loop. The other
// thread may stop driving before it has run the release.
TEST(BlockingOrder, ADestroyedHandleIsReleasedBeforeTheNextCall) {
    pawl::blocking::client locks(pawl::memory::at());
    std::atomic<bool> done = false;
    std::jthread other([&] {
        while (!done)
            (void)locks.acquire("other").release();
    });
    for (int i = 0; i < holds; ++i) {
        {
            const auto lock = locks.try_acquire("it");
            EXPECT_TRUE(lock) << "after " << i << " holds";
        }
        if (HasFailure()) break;
    }
    done = true;
}

}  // namespace
