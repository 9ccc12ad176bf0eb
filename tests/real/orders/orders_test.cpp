// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The parts of the experiment that need no servers: the command line, the plan of the faults, and
// the verdict on a run.
#include "report.hpp"
#include "settings.hpp"

#include <real/arguments.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace real::orders {
namespace {

using words = std::vector<std::string>;

std::string refusal_of(const words& arguments) {
    try {
        (void)is_for_orders(arguments);
        (void)parse_settings(arguments);
    } catch (const bad_usage& problem) {
        return problem.what();
    }
    return "";
}

run_result result_with(const std::string& rule, std::size_t count) {
    run_result result;
    result.options = {.story = story::creation, .without = "key", .orders = 100};
    result.rules = {{"orders made twice", 0, ""}, {rule, count, "order-7"}};
    return result;
}

TEST(OrderSettings, AreReadOrRefusedWithASentence) {
    const words arguments{"--on",      "orders", "--orders", "300",    "--without",
                          "key,fence", "--seed", "7",        "--html", "a.html"};
    EXPECT_TRUE(is_for_orders(arguments));
    EXPECT_FALSE(is_for_orders({"--on", "sentinel"}));
    const auto options = parse_settings(arguments);
    EXPECT_EQ(options.orders, 300U);
    EXPECT_EQ(options.seed, 7U);
    EXPECT_EQ(options.without, "key,fence");
    EXPECT_EQ(options.html, "a.html");
    EXPECT_EQ(refusal_of({"--on", "orders,sentinel"}),
              "The orders are another experiment than the servers; use --on orders.");
    EXPECT_EQ(refusal_of({"--orders", "5"}), "'5' is no number for --orders; use 60 to 1000000.");
    EXPECT_EQ(refusal_of({"--for", "5min"}),
              "The option --for is not for the orders; use --orders.");
    EXPECT_NE(refusal_of({"--without", "luck"}).find("There is no layer \"luck\""),
              std::string::npos);
}

TEST(OrderFaults, EachMeetsSomeOrderOfEachProgramThatCanHaveIt) {
    for (const auto program : every_story) {
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            const fault_plan plan(program, 60, seed);
            std::array<std::size_t, fault_cases.size()> hits{};
            for (std::size_t order = 0; order < 60; ++order)
                if (const auto planned = plan.of(order)) ++hits.at(planned->index);
            for (std::size_t i = 0; i < hits.size(); ++i)
                EXPECT_EQ(hits.at(i) > 0, is_possible(program, fault_cases.at(i)))
                    << to_string(program) << ", " << fault_cases.at(i).name << ", seed " << seed;
        }
    }
}

TEST(OrderFaults, MeetAHundredOrdersInAFullRun) {
    std::array<std::size_t, fault_cases.size()> hits{};
    for (const auto program : every_story) {
        const fault_plan plan(program, 5000, 3);
        for (std::size_t order = 0; order < 5000; ++order)
            if (const auto planned = plan.of(order)) ++hits.at(planned->index);
    }
    EXPECT_GE(*std::ranges::min_element(hits), 150U);
}

TEST(OrderVerdict, ComplainsOfDamageWithAllLayersAndOfNoneWithout) {
    const auto* key = experiment_of("key");
    ASSERT_NE(key, nullptr);
    EXPECT_EQ(experiment_of("key,fence")->layer, std::string("fence"));
    const auto damaged = result_with(key->rule, 10);
    EXPECT_EQ(complaints(damaged), words{"creation: effects twice outside: 10 (order-7)"});
    EXPECT_TRUE(complaints(*key, damaged, 10).empty());
    EXPECT_EQ(complaints(*key, damaged, 11),
              words{"without key: \"effects twice outside\" is 10, and at least 11 was expected: "
                    "the faults do not bite"});
    EXPECT_TRUE(complaints(result_with(key->rule, 0)).empty());
}

TEST(OrderVerdict, ComplainsOfDamageWithoutALayerThatOthersReplace) {
    const auto* lock = experiment_of("lock");
    ASSERT_NE(lock, nullptr);
    auto result = result_with("effects twice outside", 1);
    EXPECT_EQ(complaints(*lock, result, 1).size(), 2U) << "also no work in vain";
    result.rules.clear();
    result.vain.polls = 49;
    EXPECT_EQ(complaints(*lock, result, 1).size(), 1U);
    result.vain.polls = 50;
    EXPECT_TRUE(complaints(*lock, result, 1).empty());
}

TEST(OrderVerdict, ComplainsOfAFaultThatMetTooFewOrders) {
    run_result result;
    result.hits.fill(3);
    result.hits[1] = 0;
    EXPECT_EQ(missing_faults({result}, 3),
              words{"\"killed after the claim\" met 0 orders, and at least 3 was expected"});
}

TEST(OrderReport, HasTheDamageOfEachRun) {
    report shown{.all_layers = {}, .complaints = {}, .seed = 7};
    shown.parts.push_back({experiment_of("key"), result_with("effects twice outside", 12)});
    const auto text = text_of(shown);
    EXPECT_NE(text.find("without key, creation"), std::string::npos) << text;
    EXPECT_NE(text.find("12 of 100: effects twice outside"), std::string::npos) << text;
    EXPECT_NE(text.find("--seed 7"), std::string::npos);
    const auto page = page_of(shown);
    EXPECT_NE(page.find("<svg"), std::string::npos);
    EXPECT_NE(page.find("The damage is as expected."), std::string::npos);
    shown.complaints.emplace_back("a < b");
    EXPECT_NE(page_of(shown).find("<p class=\"complaint\">a &lt; b</p>"), std::string::npos);
}

}  // namespace
}  // namespace real::orders
