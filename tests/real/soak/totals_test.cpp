// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A broken promise and a growing client lead to a failure, and the report has what a reader needs.
#include "totals.hpp"
#include "report.hpp"

#include <real/clients/client_process.hpp>
#include <real/record/journal.hpp>
#include <real/record/journal_counter.hpp>

#include <support/temp_folder.hpp>

#include <gtest/gtest.h>

#include <sstream>

#include <unistd.h>

namespace {

using namespace real;
using namespace std::chrono_literals;

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

soak::totals totals_of_run() {
    soak::totals result{.environment = "redis", .time = 61s};
    result.faults = {{"crash", 2}, {"clock", 0}};
    result.obstacles = {{"partition", "network namespaces need <root>"}};
    for (const std::size_t holds : {10, 20, 30})
        soak::add_round(result, {.holds = holds, .refused = 1}, {.holds = holds, .losses = 2});
    result.figures = {{{.resident_bytes = 8 * mebibyte, .descriptors = 10},
                       {.resident_bytes = 9 * mebibyte, .descriptors = 12},
                       {.resident_bytes = 9 * mebibyte, .descriptors = 11}}};
    return result;
}

TEST(SoakTotals, AreTheSumsOfTheRounds) {
    const auto result = totals_of_run();
    EXPECT_EQ(result.rounds, 3U);
    EXPECT_EQ(result.outcome.holds, 60U);
    EXPECT_EQ(result.outcome.refused, 3U);
    EXPECT_EQ(result.load.losses, 6U);
    EXPECT_EQ(result.fault_count(), 2U);
    EXPECT_EQ(soak::exit_status({result}), 0);
}

TEST(SoakTotals, ABrokenPromiseIsASentenceAndExitStatus1) {
    const verdict broken{.holds = 5, .equal_tokens = 1, .overlaps = 2};
    EXPECT_EQ(broken_promises(broken),
              (std::vector<std::string>{
                  "A promise is broken: 1 equal tokens.",
                  "A promise is broken: 2 overlapping holds where the table forbids them."}));
    EXPECT_TRUE(broken_promises({.holds = 5, .refused = 1, .overlaps_by_loss = 1}).empty());
    auto failed = totals_of_run();
    failed.failures = broken_promises(broken);
    EXPECT_EQ(soak::exit_status({totals_of_run(), failed}), 1);
}

TEST(SoakTotals, NothingCheckedIsNoSuccess) {
    EXPECT_EQ(soak::exit_status({}), 1);
    EXPECT_EQ(soak::exit_status({{.environment = "redis"}}), 1);
}

TEST(SoakTotals, GrowthIsALastThirdAboveTheFirst) {
    EXPECT_TRUE(soak::has_grown({1, 2, 3, 4, 5, 9}, 1));
    EXPECT_FALSE(soak::has_grown({1, 2, 3, 4, 5, 9}, 3));
    EXPECT_FALSE(soak::has_grown({1, 9, 9, 9, 9, 9}, 0)) << "a plateau";
    EXPECT_FALSE(soak::has_grown({1, 1, 9, 9, 9, 1}, 0)) << "a peak";
    EXPECT_FALSE(soak::has_grown({1, 9}, 0)) << "too few values";
    EXPECT_FALSE(soak::has_grown({}, 0));
}

TEST(SoakTotals, AClientThatGrowsIsALeak) {
    auto result = totals_of_run();
    EXPECT_TRUE(soak::leaks(result).empty());
    result.figures.front().back() = {.resident_bytes = 13 * mebibyte, .descriptors = 19};
    EXPECT_EQ(soak::leaks(result),
              (std::vector<std::string>{
                  "The memory of client 0 grew from 8.0 to 13.0 MiB in 3 rounds.",
                  "The open descriptors of client 0 grew from 10 to 19 in 3 rounds."}));
}

TEST(SoakFigures, CountTheOpenDescriptorsOfAProcess) {
    const auto before = figures_of(::getpid());
    ASSERT_TRUE(before);
    EXPECT_GT(before->resident_bytes, mebibyte);
    const int descriptor = ::dup(0);
    const auto after = figures_of(::getpid());
    ::close(descriptor);
    ASSERT_TRUE(after);
    EXPECT_EQ(after->descriptors, before->descriptors + 1);
    EXPECT_FALSE(figures_of(0));
}

TEST(SoakFigures, CountWhatIsNewInTheJournals) {
    const support::temp_folder folder;
    journal_counter counter(folder.path().string());
    EXPECT_EQ(counter.update(1).holds, 0U);
    const real::journal first(journal_path(folder.path().string(), 0));
    first.write("got 1 0 7 1 2 3");
    EXPECT_EQ(counter.update(1).holds, 1U);
    const real::journal second(journal_path(folder.path().string(), 2));
    for (const auto* line : {"got 2 0 8 1 2 3", "lost 2 4", "refused 2 5", "error 3 6 no server"})
        second.write(line);
    const auto counts = counter.update(3);
    EXPECT_EQ(counts.holds, 2U);
    EXPECT_EQ(counts.losses, 1U);
    EXPECT_EQ(counts.refused, 1U);
    EXPECT_EQ(counts.errors, 1U);
    EXPECT_EQ(counter.update(3).holds, 2U) << "nothing is counted twice";
}

TEST(SoakReport, ALineHasTheFiguresUnderTheirTitles) {
    std::ostringstream output;
    soak::progress figures(output);
    figures.begin_environment("redis", "one server");
    figures.add({.environment = "redis", .round = 2, .holds = 1234, .overlaps = 3});
    std::istringstream lines(output.str());
    std::string empty, name, titles, line;
    std::getline(std::getline(std::getline(std::getline(lines, empty), name), titles), line);
    EXPECT_EQ(name, "redis: one server");
    EXPECT_EQ(titles.size(), line.size());
    EXPECT_EQ(titles.find("overlap") + 6, line.find(" 3 ") + 1);
    EXPECT_NE(line.find("0:00:00            redis     2       1234"), std::string::npos) << line;
}

TEST(SoakReport, ThePageHasTheDrawingTheTotalsAndTheFailures) {
    auto failed = totals_of_run();
    failed.failures = {"A promise is broken: 1 equal tokens. (round 3)"};
    const soak::report result{.all = {failed}, .notes = {"A note & more."}, .seed = 9};
    const std::vector<soak::sample> samples{
        {.at = 30s, .environment = "redis", .holds_per_minute = 1500, .server_bytes = mebibyte},
        {.at = 60s, .environment = "redis", .holds_per_minute = 700}};
    const auto page = soak::page_of(result, samples, {{10s, "crash"}, {20s, "crash"}});
    for (const auto* part :
         {"<title>Soak</title>", "<svg xmlns=", ">1500</text>", "<title>crash</title>",
          "<th scope=\"row\">holds</th><td>60</td>", "<th scope=\"row\">crash</th><td>2</td>",
          "<td>8.0-9.0</td>", "<td>10-11</td>", "0:01:01", "--seed 9", "A note &amp; more.",
          "namespaces need &lt;root>",
          "<p class=\"complaint\">redis: A promise is broken: 1 equal tokens. (round 3)</p>"})
        EXPECT_NE(page.find(part), std::string::npos) << part << " is missing in\n" << page;
    EXPECT_EQ(page.find("Every promise was kept."), std::string::npos);
    EXPECT_NE(soak::text_of({.all = {totals_of_run()}}).find("Every promise was kept."),
              std::string::npos);
}

}  // namespace
