// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Durations as text: for the command and for programs, and as options of URLs.
#include <pawl/error.hpp>
#include <pawl/options.hpp>
#include <pawl/parse_duration.hpp>
#include <pawl/redlock.hpp>
#include <pawl/service.hpp>

#include <redis/transport/options.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace pawl {
namespace {

using namespace std::chrono_literals;

TEST(Durations, AreReadAsPeopleWriteThem) {
    const std::vector<std::pair<const char*, duration>> good{
        {"0", 0s},      {"500ms", 500ms},     {"30s", 30s}, {"2m", 2min},
        {"2min", 2min}, {"1h", 1h},           {"1d", 24h},  {"1h30m", 90min},
        {"0s", 0s},     {"1m500ms", 60500ms}, {"007s", 7s}, {"forever", forever}};
    for (const auto& [text, value] : good)
        EXPECT_EQ(parse_duration(text), value) << text;
}

TEST(Durations, OtherTextIsRefused) {
    for (const char* text : {"", "1", "s", "-1s", "+1s", "1.5s", "1 s", " 1s", "1s ", "1S", "1us",
                             "infinite", "99999999999999999999s", "9223372036854775807d",
                             "106751d23h47min16s855ms", "foreverx", "1h30", "0x10s", "1h-1s"}) {
        EXPECT_EQ(parse_duration(text), std::nullopt) << text;
    }
}

using texts = std::vector<std::pair<std::string, duration>>;

TEST(Durations, AreTimeoutsOfUrlsWithAUnitOrInMilliseconds) {
    const texts good{{"1", 1ms},     {"5000", 5s},   {"1ms", 1ms},      {"5s", 5s},
                     {"2min", 2min}, {"1m30s", 90s}, {"600000", 10min}, {"10min", 10min}};
    for (const auto& [text, value] : good) {
        const auto options = "?connect_timeout=" + text + "&reply_timeout=" + text;
        for (const std::string url : {"redis://h", "rediss://h", "redis+unix:///s",
                                      "redis+sentinel://h/master", "redis+cluster://h"}) {
            const auto parsed = redis::parse_options(url + options);
            EXPECT_EQ(parsed.connect_timeout, value) << url << " " << text;
            EXPECT_EQ(parsed.reply_timeout, value) << url << " " << text;
        }
        const auto nodes = redlock::parse("redlock://a,b,c" + options);
        EXPECT_EQ(nodes.connect_timeout, value) << text;
        EXPECT_EQ(nodes.reply_timeout, value) << text;
    }
}

TEST(Durations, AreOtherOptionsOfUrlsWithAUnitOrInMilliseconds) {
    const texts retentions{{"1000", 1s},
                           {"1s", 1s},
                           {"90min", 90min},
                           {"365d", 365 * 24h},
                           {"31536000000", 365 * 24h}};
    for (const auto& [text, value] : retentions)
        EXPECT_EQ(redis::parse_options("redis://h?token_retention=" + text).token_retention, value)
            << text;
    const texts longest_ttls{{"100", 100ms}, {"5s", 5s}, {"3600000", 1h}, {"1h", 1h}};
    for (const auto& [text, value] : longest_ttls)
        EXPECT_EQ(redlock::parse("redlock://a,b,c?ttl_max=" + text).ttl_max, value) << text;
}

std::string sentence_of(const std::string& url) {
    try {
        static_cast<void>(from_url(url));
    } catch (const error& refused) {
        EXPECT_EQ(refused.reason(), errc::bad_url) << url;
        return refused.what();
    }
    return url + " was accepted";
}

struct limited_option {
    std::string url;  // up to the option's value
    std::string name;
    std::string range;
    std::vector<std::string> out_of_range;
};

const std::vector<limited_option> limited_options{
    {"redis://h?connect_timeout=",
     "connect_timeout",
     "1ms to 10min",
     {"0", "0s", "600001", "11min"}},
    {"redis://h?reply_timeout=", "reply_timeout", "1ms to 10min", {"0", "0s", "600001", "11min"}},
    {"rediss+cluster://h?reply_timeout=", "reply_timeout", "1ms to 10min", {"0ms", "1h"}},
    {"redis+sentinel://h/m?connect_timeout=", "connect_timeout", "1ms to 10min", {"0ms", "1h"}},
    {"redis://h?token_retention=",
     "token_retention",
     "1s to 365d",
     {"999", "999ms", "31536000001", "366d"}},
    {"redlock://a,b,c?connect_timeout=", "connect_timeout", "1ms to 10min", {"0", "601s"}},
    {"redlock://a,b,c?ttl_max=", "ttl_max", "100ms to 1h", {"5", "99ms", "3600001", "61min"}}};

TEST(Durations, OfUrlsThatAreNoneAreRefusedWithAnExample) {
    for (const auto& each : limited_options)
        for (const std::string bad : {"5 parsecs", "5sec", "1.5s", "-1", "-1s", "s", "1h30", "5S"})
            EXPECT_EQ(sentence_of(each.url + bad),
                      "The URL's option " + each.name + "=" + bad +
                          " is not a duration; give one such as 500ms, 5s or 2min (a bare number "
                          "is milliseconds), from " +
                          each.range + ".");
}

TEST(Durations, OfUrlsOutOfRangeAreRefusedWithTheRange) {
    for (auto each : limited_options) {
        for (const auto* too_long :
             {"forever", "99999999999999999999", "99999999999999999999d", "106752d"})
            each.out_of_range.emplace_back(too_long);
        for (const auto& bad : each.out_of_range)
            EXPECT_EQ(sentence_of(each.url + bad), "The URL's option " + each.name + "=" + bad +
                                                       " is out of range; give " + each.range +
                                                       ".");
    }
}

TEST(Durations, OfUrlsHaveNoUnitInTheNameOfTheOption) {
    for (const std::string name : {"connect_timeout", "reply_timeout", "token_retention"})
        for (const std::string url : {"redis://h", "redlock://a,b,c"})
            EXPECT_EQ(sentence_of(url + "?" + name + "_ms=5000"),
                      "The URL's option '" + name + "_ms' is unknown; write " + name +
                          " with a unit, as in " + name + "=5s.");
    EXPECT_TRUE(sentence_of("redis://h?ttl_max_ms=5").find("known are namespace") !=
                std::string::npos);
}

}  // namespace
}  // namespace pawl
