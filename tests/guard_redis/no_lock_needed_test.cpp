// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The damage of the usual wrong ways, and its absence. A wrong way that does no damage fails the
// test: then the right way was not tested either.
#include "redis_fixture.hpp"

#include <pawl/guard/counters.hpp>

#include <array>
#include <barrier>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

using namespace guard_tests;
using pawl::guard::counters;
using pawl::guard::redis_reply;

// 1600 buyers want one of 100 items each, in 8 threads. Every third buyer gives the item back.
struct sale_result {
    std::int64_t kept = 0;
    std::int64_t counter = 0;
    // Neither sold nor for sale.
    [[nodiscard]] std::int64_t vanished() const { return 100 - kept - std::max(counter, {}); }
};

template <class Buy, class Return>
sale_result sell(const support::redis_server& server, const Buy& buy, const Return& return_item) {
    std::array<std::int64_t, 8> kept{};
    {
        std::vector<std::jthread> threads;
        for (std::size_t thread = 0; thread < kept.size(); ++thread)
            threads.emplace_back([&, thread] {
                resp_connection connection(server);
                for (int buyer = 0; buyer < 200; ++buyer) {
                    if (!buy(connection)) continue;
                    if (buyer % 3 == 0)
                        return_item(connection);
                    else
                        ++kept[thread];
                }
            });
    }
    sale_result result;
    for (const std::int64_t each : kept)
        result.kept += each;
    resp_connection connection(server);
    result.counter = counters(connection).get("stock");
    return result;
}

void print(const char* way, const sale_result& result) {
    std::printf("%s: %lld kept, counter %lld, %lld vanished\n", way,
                static_cast<long long>(result.kept), static_cast<long long>(result.counter),
                static_cast<long long>(result.vanished()));
}

class FlashSale : public redis_test {
protected:
    void SetUp() override { ASSERT_TRUE(counters(connection).create("stock", 100)); }
};

// A buyer in vain leaves the counter below 0, and a returned item only raises it towards 0.
TEST_F(FlashSale, LosesItemsByDecrAndALook) {
    const auto buy = [](resp_connection& each) {
        return each.execute({"DECR", "stock"}).integer >= 0;
    };
    const auto return_item = [](resp_connection& each) { (void)each.execute({"INCR", "stock"}); };
    // Threads may take turns so that each item comes back in time; a buyer in vain prevents that.
    (void)server.execute({"DECRBY", "stock", "101"});
    (void)server.execute({"INCRBY", "stock", "100"});
    const auto result = sell(server, buy, return_item);
    print("DECR and a look", result);
    EXPECT_LT(result.counter, 0);
    EXPECT_GT(result.vanished(), 0) << "the wrong way does no damage, so it shows nothing";
}

TEST_F(FlashSale, SellsEachItemOnceByABoundedStep) {
    const auto buy = [](resp_connection& each) {
        return counters(each).subtract("stock", 1).has_value();
    };
    const auto return_item = [](resp_connection& each) {
        EXPECT_TRUE(counters(each).add("stock", 1, {.ceiling = 100}));
    };
    const auto result = sell(server, buy, return_item);
    print("subtract with a floor", result);
    EXPECT_EQ(result.kept, 100);
    EXPECT_EQ(result.counter, 0);
}

constexpr int writers = 8;

// The interleaving: all writers read the value before the first one writes.
TEST_F(FlashSale, LosesUpdatesByReadModifyWrite) {
    (void)server.execute({"SET", "text", "0"});
    std::barrier all_have_read(writers);
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < writers; ++thread)
            threads.emplace_back([&] {
                resp_connection each(server);
                for (int round = 0; round < 20; ++round) {
                    all_have_read.arrive_and_wait();
                    const auto old_value = std::stoll(each.execute({"GET", "text"}).text);
                    all_have_read.arrive_and_wait();
                    (void)each.execute({"SET", "text", std::to_string(old_value + 1)});
                }
            });
    }
    const auto survived = std::stoll(stored("text"));
    std::printf("GET, then SET: %lld of %d updates survived\n", survived, writers * 20);
    EXPECT_LT(survived, writers * 20) << "the wrong way does no damage, so it shows nothing";
}

TEST_F(FlashSale, KeepsEveryUpdate) {
    (void)server.execute({"SET", "text", "0"});
    std::array<int, writers> tries{};
    {
        std::vector<std::jthread> threads;
        for (auto& tries_of_thread : tries)
            threads.emplace_back([&] {
                resp_connection each(server);
                counters values(each);
                const auto next = [&](const std::string& old_value) {
                    ++tries_of_thread;
                    return std::to_string(std::stoll(old_value) + 1);
                };
                for (int round = 0; round < 20; ++round)
                    (void)values.update("text", next, {.tries = 1000});
            });
    }
    int total = 0;
    for (const int each : tries)
        total += each;
    std::printf("update: %s of %d updates survived, in %d tries\n", stored("text").c_str(),
                writers * 20, total);
    EXPECT_EQ(stored("text"), std::to_string(writers * 20));
}

// The interleaving: the answer to a step is lost, and its caller repeats it.
TEST_F(FlashSale, CountsARepeatedStepTwiceWithoutAnId) {
    counters stock(connection);
    (void)stock.subtract("stock", 1);
    (void)stock.subtract("stock", 1);
    EXPECT_EQ(stock.get("stock"), 98) << "the wrong way does no damage, so it shows nothing";
    std::printf("a repeated step: 1 item vanished without an id, 0 with one\n");
    (void)stock.subtract("stock", 1, {}, "order 7");
    (void)stock.subtract("stock", 1, {}, "order 7");
    EXPECT_EQ(stock.get("stock"), 97);
}

}  // namespace
