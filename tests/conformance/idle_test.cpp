// Clients of threads that nobody calls: their leases are renewed, and they say what goes wrong.
#include "async_world.hpp"

#include <support/eventually.hpp>

#include <pawl/blocking.hpp>

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;

class Idle : public testing::TestWithParam<tested::place> {
protected:
    pawl::service where = GetParam().make();
};

// A machine that is busy may lose such a lease all the same: then another one is tried.
TEST_P(Idle, TheShortestLeaseIsRenewed) {
    pawl::blocking::client locks(where);
    EXPECT_TRUE(support::eventually([&] {
        const auto mine = locks.try_acquire("it", {.ttl = 10ms});
        const auto before = locks.statistics().renewals;
        return mine && support::eventually([&] {
                   return !mine.owns_lock() || locks.statistics().renewals >= before + 4;
               }) &&
               mine.owns_lock();
    })) << "no lease of 10 ms was renewed four times";
}

// A thread that locks twice waits for itself: a person finds the reason in the log.
TEST_P(Idle, AClientThatWaitsForItselfSaysSo) {
    for (const bool fair : {false, true}) {
        std::mutex guard;
        std::string lines;
        pawl::blocking::client locks(where, {.log = [&](std::string_view line) {
                                         const std::lock_guard lock(guard);
                                         lines += std::string(line) + "\n";
                                     }});
        std::stop_source end;
        auto mine = locks.acquire("it", {.ttl = 600ms});
        std::jthread same([&] {
            try {
                (void)locks.acquire("it", {.ttl = 600ms, .fair = fair}, end.get_token());
            } catch (const pawl::error& failed) {
                EXPECT_EQ(failed.reason(), pawl::errc::cancelled) << failed.what();
            }
        });
        EXPECT_TRUE(support::eventually([&] {
            const std::lock_guard lock(guard);
            return lines.find("'it' has been held by this client") != std::string::npos;
        }));
        end.request_stop();
        same.join();
        mine.release();
    }
}

INSTANTIATE_TEST_SUITE_P(Backend, Idle, testing::ValuesIn(tested::async_places()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
