// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Idle clients of the sync API: their leases are renewed, and their failures are logged.
#include "async_fixture.hpp"

#include <support/eventually.hpp>

#include <pawl/blocking.hpp>

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;

class Idle : public testing::TestWithParam<tested::service_under_test> {
protected:
    pawl::service tested_service = GetParam().make_service();
};

// A busy machine may lose such a lease all the same: then the test tries another one.
TEST_P(Idle, TheShortestLeaseIsRenewed) {
    pawl::blocking::client locks(tested_service);
    EXPECT_TRUE(support::eventually([&] {
        const auto own_lock = locks.try_acquire("it", {.ttl = 10ms});
        const auto before = locks.statistics().renewals;
        return own_lock && support::eventually([&] {
                   return !own_lock.owns_lock() || locks.statistics().renewals >= before + 4;
               }) &&
               own_lock.owns_lock();
    })) << "no lease of 10 ms was renewed four times";
}

// A thread that locks twice waits for itself; the log says so.
TEST_P(Idle, AClientThatWaitsForItselfSaysSo) {
    for (const bool fair : {false, true}) {
        std::mutex guard;
        std::string lines;
        pawl::blocking::client locks(tested_service, {.log = [&](std::string_view line) {
                                         const std::lock_guard lock(guard);
                                         lines += std::string(line) + "\n";
                                     }});
        std::stop_source end;
        auto own_lock = locks.acquire("it", {.ttl = 600ms});
        std::jthread same([&] {
            try {
                (void)locks.acquire("it", {.ttl = 600ms, .fair = fair}, end.get_token());
            } catch (const pawl::error& failed) {
                EXPECT_EQ(failed.reason(), pawl::errc::cancelled) << failed.what();
            }
        });
        EXPECT_TRUE(support::eventually([&] {
            const std::lock_guard lock(guard);
            return lines.find("'it' is held by this client") != std::string::npos;
        }));
        end.request_stop();
        same.join();
        (void)own_lock.release();
    }
}

INSTANTIATE_TEST_SUITE_P(Backend, Idle, testing::ValuesIn(tested::async_services()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
