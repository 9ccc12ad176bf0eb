// Programs that run out of threads or descriptors: a grant that cannot be kept is not left behind,
// and what fails says so.
#include "async_world.hpp"

#include <support/child.hpp>
#include <support/eventually.hpp>

#include <pawl/blocking.hpp>

#include <gtest/gtest.h>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

class Shortage : public testing::TestWithParam<tested::place> {
protected:
    pawl::service where = GetParam().make();
};

std::string words_of(const pawl::error& failed) {
    return failed.reason() == pawl::errc::exhausted ? "exhausted" : failed.what();
}

// All that a lock needs is there with the client: without another descriptor it is granted, kept,
// told of its loss and given back.
TEST_P(Shortage, AClientThatHasConnectedNeedsNoMoreDescriptors) {
    const auto found = support::in_child([this] {
        pawl::blocking::client locks(where);
        (void)locks.inspect("it");
        support::forbid_descriptors();
        auto mine = locks.acquire("it", {.ttl = 60s});
        mine.renew();
        if (mine.release() != pawl::release_result::released) return "not released";
        const auto lost = locks.acquire("it", {.ttl = 60s, .max_hold = 50ms});
        std::promise<void> told;
        const std::stop_callback tell(lost.lost(), [&] { told.set_value(); });
        told.get_future().wait();
        const bool free = support::eventually([&] { return !locks.inspect("it").held_by; });
        return free ? "free" : "still held";
    });
    EXPECT_EQ(found, "free");
}

TEST_P(Shortage, AClientThatHasConnectedNeedsNoMoreThreads) {
    const auto found = support::in_child([this] {
        pawl::blocking::client locks(where);
        (void)locks.inspect("it");
        support::forbid_threads();
        const auto lost = locks.acquire("it", {.ttl = 60s, .max_hold = 50ms});
        std::promise<void> told;
        const std::stop_callback tell(lost.lost(), [&] { told.set_value(); });
        told.get_future().wait();
        return std::string(to_string(lost.why_lost()));
    });
    EXPECT_EQ(found, to_string(pawl::loss_reason::max_hold));
}

TEST_P(Shortage, AClientThatCannotHaveItsThreadsSaysSoAndLeavesTheSignalsAlone) {
    const auto found = support::in_child([this] {
        support::forbid_threads();
        const auto before = support::blocked_signals();
        try {
            const pawl::blocking::client locks(where);
        } catch (const pawl::error& failed) {
            const auto after = support::blocked_signals();
            return after == before ? words_of(failed) : "now blocked: " + after;
        }
        return std::string("no error");
    });
    EXPECT_EQ(found, "exhausted");
}

TEST_P(Shortage, AClientThatCannotHaveItsDescriptorsSaysSo) {
    const auto found = support::in_child([this] {
        support::forbid_descriptors();
        try {
            const pawl::blocking::client locks(where);
        } catch (const pawl::error& failed) {
            return words_of(failed);
        }
        return std::string("no error");
    });
    EXPECT_EQ(found, "exhausted");
}

TEST_P(Shortage, AnEventLoopsClientSaysSoToo) {
    const auto found = support::in_child([this] {
        asio::io_context loop;
        support::forbid_threads();
        const auto before = support::blocked_signals();
        try {
            const pawl::client locks(loop.get_executor(), where);
        } catch (const pawl::error& failed) {
            const auto after = support::blocked_signals();
            return after == before ? words_of(failed) : "now blocked: " + after;
        }
        return std::string("no error");
    });
    EXPECT_EQ(found, "exhausted");
}

INSTANTIATE_TEST_SUITE_P(Backend, Shortage, testing::ValuesIn(tested::async_places()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
