// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Reports as text and as JSON, with keys of any bytes.
#include <guard/report_text.hpp>

#include <pawl/guard/reconcile_report.hpp>

#include <gmock/gmock.h>

#include <string>

namespace {

namespace guard = pawl::guard;
using testing::HasSubstr;
using namespace std::chrono_literals;

TEST(ReportText, IsJsonWhateverTheBytes) {
    EXPECT_EQ(guard::json_text("a\"b\\c"), "\"a\\\"b\\\\c\"");
    EXPECT_EQ(guard::json_text(std::string("\0\n\x1b\x7f", 4)), "\"\\u0000\\u000a\\u001b\\u007f\"");
    EXPECT_EQ(guard::json_text("é €😀"), "\"é €😀\"");
    EXPECT_EQ(guard::json_text("\xc2\x85"), "\"\\u0085\"");
    // Not UTF-8: a lone byte, an overlong form, a surrogate, too large, cut off.
    for (const auto& [bytes, count] : {std::pair{"\xff", 1},
                                       {"\xc0\xaf", 2},
                                       {"\xed\xa0\x80", 3},
                                       {"\xf5\x80\x80\x80", 4},
                                       {"\xe2\x82", 2}}) {
        std::string expected;
        for (int i = 0; i < count; ++i)
            expected += "\xef\xbf\xbd";
        EXPECT_EQ(guard::json_text(bytes), '"' + expected + '"');
    }
}

TEST(ReportText, ControlsNoTerminal) {
    EXPECT_EQ(guard::plain_text("a\x1b[2Jb\n"), "a\\x1b[2Jb\\x0a");
    EXPECT_EQ(guard::plain_text("\xc2\x9b"), "\\xc2\\x9b");
    EXPECT_EQ(guard::plain_text("é\xff"), "é\\xff");
}

TEST(ReportText, HasTimesInUtc) {
    const std::chrono::system_clock::time_point begin{};
    EXPECT_EQ(guard::utc_text(begin), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(guard::utc_text(begin + 1709251199999ms), "2024-02-29T23:59:59.999Z");
    EXPECT_EQ(guard::utc_text(begin - 1ms), "1969-12-31T23:59:59.999Z");
}

TEST(ReportText, ShowsAReport) {
    guard::reconcile_report report;
    report.end = guard::reconcile_end::finished;
    report.resumed = true;
    report.token = pawl::fencing_token((1ULL << 53) + 1);
    report.counts = {5, 2, 1, 2};
    report.failures = {{"o\n1", "no \"answer\""}, {"o2", ""}};
    EXPECT_EQ(to_table(report),
              "resumed, finished; keys 5, repaired 2, agreed 1, failed 2\n"
              "failed  o\\x0a1: no \"answer\"\nfailed  o2\n");
    EXPECT_EQ(to_json(report),
              "{\"end\":\"finished\",\"resumed\":true,\"dry_run\":false,\"token\":"
              "\"9007199254740993\",\"keys\":5,\"repaired\":2,\"agreed\":1,\"failed\":2,"
              "\"failures\":[{\"key\":\"o\\u000a1\",\"reason\":\"no \\\"answer\\\"\"},{\"key\":"
              "\"o2\",\"reason\":\"\"}]}");
    report.counts.failed = 102;
    EXPECT_THAT(to_table(report), HasSubstr("and 100 more"));
    EXPECT_THAT(to_json(guard::reconcile_report{}), HasSubstr("\"token\":null"));
}

TEST(ReportText, ShowsAHistory) {
    guard::reconcile_run run;
    run.name = "orders/nightly";
    run.number = pawl::fencing_token(7);
    run.token = pawl::fencing_token(9);
    run.after = "o5";
    run.counts = {5, 4, 0, 1};
    run.began = std::chrono::system_clock::time_point(1700000000s);
    run.error = "o3: no\tanswer";
    const std::vector<guard::reconcile_run> runs{run, run};
    EXPECT_THAT(guard::to_table(runs), HasSubstr("2023-11-14T22:13:20.000Z  not yet "));
    EXPECT_THAT(guard::to_table(runs), HasSubstr("failed: o3: no\\x09answer"));
    const std::string once =
        "{\"name\":\"orders/nightly\",\"run\":\"7\",\"token\":\"9\",\"after\":\"o5\",\"keys\":5,"
        "\"repaired\":4,\"agreed\":0,\"failed\":1,\"began\":\"2023-11-14T22:13:20.000Z\","
        "\"ended\":null,\"error\":\"o3: no\\u0009answer\"}";
    EXPECT_EQ(guard::to_json(runs), '[' + once + ',' + once + ']');
    EXPECT_EQ(guard::to_json(std::vector<guard::reconcile_run>{}), "[]");
}

}  // namespace
