// Programs that run out of threads or descriptors: a grant that cannot be kept is not left behind,
// and what fails says so.
#include "async_world.hpp"

#include <support/child.hpp>
#include <support/eventually.hpp>

#include <pawl/blocking.hpp>

#include <gtest/gtest.h>

#include <fstream>

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

// Takes a lock, keeps it, gives it back, takes it again and waits until it is lost.
std::string result_of_all_that_a_lock_does(pawl::blocking::client& locks) {
    auto lock = locks.acquire("it", {.ttl = 60s});
    lock.renew();
    if (lock.release() != pawl::release_result::released) return "not released";
    const auto lost = locks.acquire("it", {.ttl = 60s, .max_hold = 50ms});
    std::promise<void> told;
    const std::stop_callback tell(lost.lost(), [&] { told.set_value(); });
    told.get_future().wait();
    const bool free = support::eventually([&] { return !locks.inspect("it").held_by; });
    return free ? "free" : "still held";
}

// The undefined-behaviour sanitizer checks each kind of object once, and needs descriptors for it:
// another client, a file that cannot be opened and an error of Asio come before they are taken
// away.
std::string let_the_sanitizer_see(const pawl::service& where) {
    if (std::ifstream("/nonexistent")) return "a file that is not there";
    try {
        asio::detail::throw_error(asio::error::bad_descriptor, "an attempt");
    } catch (const boost::system::system_error& failed) {
        if (words_of({pawl::errc::exhausted, failed.what()}) != "exhausted") return "another error";
    }
    pawl::blocking::client locks(where);
    return result_of_all_that_a_lock_does(locks);
}

// All that a lock needs is there with the client: without another descriptor it is granted, kept,
// told of its loss and given back.
TEST_P(Shortage, AClientThatHasConnectedNeedsNoMoreDescriptors) {
    const auto found = support::in_child([this] {
        if (const auto before = let_the_sanitizer_see(where); before != "free") return before;
        pawl::blocking::client locks(where);
        (void)locks.inspect("it");
        support::forbid_descriptors();
        return result_of_all_that_a_lock_does(locks);
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
        if (const auto before = let_the_sanitizer_see(where); before != "free") return before;
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
