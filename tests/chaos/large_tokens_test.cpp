// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Tokens above 2^53, where Lua's own numbers would round, up to the end of the counter.
#include "redis_fixture.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace chaos;

constexpr std::uint64_t largest = INT64_MAX;
// 2^53 - 2 is the last start before rounding; the others need 54 to 63 bits.
constexpr std::uint64_t starts[] = {(std::uint64_t{1} << 53) - 2, (std::uint64_t{1} << 53) + 1,
                                    (std::uint64_t{1} << 62) + 3, largest - 100};

class LargeTokens : public testing::Test, protected redis_fixture {
protected:
    void set_counter(const std::string& name, std::uint64_t token) {
        (void)server.execute({"SET", counter_of(name), std::to_string(token)});
    }
    std::string counter_of(const std::string& name) const { return prefix + "{" + name + "}:f"; }
    // Each token is the one before plus one.
    void expect_next(const held_lock& lock, std::uint64_t& last, const char* how) {
        ++last;
        EXPECT_EQ(lock.token().value(), last) << how;
    }

    std::string prefix = "pawl:";
};

TEST_F(LargeTokens, OfEveryKindGrowByOne) {
    client locks = direct_client(), other = direct_client();
    for (auto last : starts) {
        set_counter("it", last);
        set_counter("two", last);
        auto lock = locks.acquire("it", {.ttl = long_ttl});
        expect_next(lock, last, "an acquire");
        held_lock next;
        background_task waiting([&] { next = other.acquire("it", {.ttl = long_ttl}); });
        ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
        EXPECT_EQ(lock.release(), release_result::released);
        waiting.join();
        expect_next(next, last, "a hand-off");
        background_task local([&] { lock = other.acquire("it", {.ttl = long_ttl}); });
        ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
        EXPECT_EQ(next.release(), release_result::released);
        local.join();
        expect_next(lock, last, "a local hand-off");
        ASSERT_TRUE(locks.force_release("it"));
        ++last;  // the forced release took one
        auto reader = locks.acquire("it", {.ttl = long_ttl, .mode = pawl::lock_mode::shared});
        expect_next(reader, last, "a first reader");
        auto beside = other.acquire("it", {.ttl = long_ttl, .mode = pawl::lock_mode::shared});
        EXPECT_EQ(beside.token(), reader.token());
        (void)reader.release();
        (void)beside.release();
        auto permits = locks.acquire(
            "it", {.ttl = long_ttl, .mode = pawl::lock_mode::permits, .total_permits = 2});
        expect_next(permits, last, "a permit");
        (void)permits.release();
        auto valued = locks.acquire_as("it", "ticket", {.ttl = long_ttl});
        expect_next(valued, last, "an acquire with a value");
        auto adopted = other.adopt("it", "ticket", {.ttl = long_ttl});
        expect_next(adopted, last, "an adopted hold");
        EXPECT_EQ(locks.inspect("it").held_by->token.value(), last);
        (void)adopted.release();
        auto both = locks.acquire_all({"it", "two"}, {.ttl = long_ttl});
        EXPECT_EQ(both.token("it").value(), last + 1) << "a set";
        (void)both.release();
    }
}

TEST_F(LargeTokens, AreUniqueAndWithoutGaps) {
    client locks = direct_client(), other = direct_client();
    for (auto last : starts) {
        set_counter("it", last);
        for (int i = 0; i < 50; ++i) {
            auto lock = (i % 2 == 0 ? locks : other).acquire("it", {.ttl = long_ttl});
            expect_next(lock, last, "an acquire");
            (void)lock.release();
        }
    }
}

// The bound of the counter. Nothing is held afterwards.
TEST_F(LargeTokens, EndWithOneSentence) {
    client locks = direct_client();
    set_counter("it", largest - 1);
    auto lock = locks.acquire("it", {.ttl = long_ttl});
    EXPECT_EQ(lock.token().value(), largest);
    EXPECT_EQ(lock.release(), release_result::released);
    const auto failed = failure_of([&] { (void)locks.acquire("it", {.ttl = long_ttl}); });
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->reason, errc::wrong_type);
    EXPECT_NE(failed->sentence.find("the counter of its tokens"), std::string::npos);
    EXPECT_TRUE(becomes_clean());
    (void)server.execute({"DEL", counter_of("it")});
    EXPECT_TRUE(locks.acquire("it", {.ttl = long_ttl}).owns_lock());
}

// A counter that is below the clock, or that somebody has made negative, follows the clock.
TEST_F(LargeTokens, StartAtTheClock) {
    client locks = direct_client();
    for (const std::string bad : {"-9000000000000000000", "-1", "0", "999999999999"}) {
        (void)server.execute({"SET", counter_of("it"), bad});
        auto lock = locks.acquire("it", {.ttl = long_ttl});
        const auto clock =
            static_cast<std::uint64_t>((server.time_ms() - 1'704'067'200'000) * 65536 / 1000);
        EXPECT_LE(lock.token().value(), clock + 65536) << bad;
        EXPECT_GE(lock.token().value(), clock - 60 * 65536) << bad;
        (void)lock.release();
    }
}

TEST_F(LargeTokens, OfRedissonsObjectsGrowByOne) {
    const std::pair<std::string, pawl::lock_options> objects[] = {
        {"", {.ttl = long_ttl}},
        {"", {.ttl = long_ttl, .fair = true}},
        {"&object=readwrite", {.ttl = long_ttl, .mode = pawl::lock_mode::shared}},
        {"&object=readwrite", {.ttl = long_ttl}},
        {"", {.ttl = long_ttl, .mode = pawl::lock_mode::permits, .total_permits = 2}},
        {"&object=semaphore",
         {.ttl = long_ttl, .mode = pawl::lock_mode::permits, .total_permits = 2}}};
    for (const auto& [object, options] : objects) {
        for (auto last : starts) {
            (void)server.execute({"FLUSHALL"});
            (void)server.execute({"SET", "redisson_lock_token:{it}", std::to_string(last)});
            client locks = direct_client("?layout=redisson" + object);
            for (int i = 0; i < 3; ++i) {
                auto lock = locks.acquire("it", options);
                expect_next(lock, last, object.c_str());
                (void)lock.release();
            }
        }
    }
}

}  // namespace
