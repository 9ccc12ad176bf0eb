// The pieces of the command that need no process.
#include <back_off.hpp>
#include <changes.hpp>
#include <duration.hpp>
#include <failure.hpp>
#include <json.hpp>
#include <lock_view.hpp>
#include <place.hpp>
#include <style.hpp>

#include <pawl/options.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace {

using namespace pawl::cli;
using namespace std::chrono_literals;

TEST(Durations, AreReadAsPeopleWriteThem) {
    const std::vector<std::pair<const char*, pawl::duration>> good{
        {"0", 0s},      {"500ms", 500ms},     {"30s", 30s}, {"2m", 2min},
        {"2min", 2min}, {"1h", 1h},           {"1d", 24h},  {"1h30m", 90min},
        {"0s", 0s},     {"1m500ms", 60500ms}, {"007s", 7s}, {"forever", pawl::forever}};
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

TEST(Durations, AreShownShortly) {
    EXPECT_EQ(readable(850ms), "850 ms");
    EXPECT_EQ(readable(29s), "29 s");
    EXPECT_EQ(readable(185s), "3 min 5 s");
    EXPECT_EQ(readable(2h), "2 h");
    EXPECT_EQ(readable(49h), "2 d 1 h");
    EXPECT_EQ(readable(-5s), "0 s");
    EXPECT_EQ(readable(pawl::forever), "forever");
    EXPECT_EQ(exact(1500ms), "1 s 500 ms");
    EXPECT_EQ(exact(10ms), "10 ms");
    EXPECT_EQ(exact(90min + 1ms), "1 h 30 min 1 ms");
    EXPECT_EQ(exact(48h), "2 d");
    EXPECT_EQ(exact(pawl::forever), "forever");
    EXPECT_EQ(exact(0s), "0 ms");
    EXPECT_EQ(measured(43100ns), "43.1 µs");
    EXPECT_EQ(measured(1234ms), "1.23 s");
    EXPECT_EQ(measured(999ns), "999 ns");
}

TEST(BackOff, GrowsToALimitAndBeginsAgain) {
    back_off pauses;
    for (const auto expected : {1s, 2s, 4s, 8s, 16s, 16s, 16s})
        EXPECT_EQ(pauses.next(), expected);
    pauses.reset();
    EXPECT_EQ(pauses.next(), 1s);
    EXPECT_EQ(pauses.next(), 2s);
}

TEST(Json, EscapesWhatMustBe) {
    json text;
    text.begin_object().field("a\"b", "\\ \n \x01 \x1f é 😀").key("n").null();
    text.key("list")
        .begin_array()
        .number(std::int64_t{-1})
        .boolean(true)
        .number(1.5, 2)
        .end_array();
    text.field("bad", "a\xff\xc0\xaf\xed\xa0\x80z").end_object();
    EXPECT_EQ(text.str(),
              "{\"a\\\"b\":\"\\\\ \\n \\u0001 \\u001f é 😀\",\"n\":null,\"list\":[-1,true,1.50],"
              "\"bad\":\"a\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDz\"}");
}

TEST(Style, TextFromAServerCannotSteerTheTerminal) {
    EXPECT_EQ(printable("a\x1b[2Jb\n\x7f\xc2\x9b"
                        "c é"),
              "a?[2Jb??"
              "?c é");
    EXPECT_EQ(printable("pay\u202Eloot\u202C \u2066x\u2069 \u200Fy\u200B\uFEFF \u2028z\u00AD"),
              "pay?loot? ?x? ?y?? ?z?");
    EXPECT_EQ(printable("tag \U000E0041."), "tag ?.");
    EXPECT_EQ(printable("größe → 😀 日本"), "größe → 😀 日本");
}

TEST(Style, BytesThatAreNoTextAreShownAsSuch) {
    EXPECT_EQ(printable("a\xff\xc0\xaf\xed\xa0\x80z"), "a\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDz");
    EXPECT_EQ(printable("cut \xf0\x9f\x98"), "cut \uFFFD\uFFFD\uFFFD");
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD") << "beyond Unicode";
    EXPECT_EQ(width_of(printable("\xff\xfe")), 2U);
}

TEST(Json, WhatATerminalWouldNotShowIsEscapedAndStaysTheSame) {
    json text;
    text.text("a\u202Eb \xc2\x9b \x7f \U000E0041");
    EXPECT_EQ(text.str(), "\"a\\u202eb \\u009b \\u007f \\udb40\\udc41\"");
}

TEST(Style, ShortensByCodePoints) {
    EXPECT_EQ(shortened("größe", 5), "größe");
    EXPECT_EQ(shortened("größer", 5), "größ…");
    EXPECT_EQ(shortened("ab", 0), "");
}

TEST(Style, ATableFitsItsWidth) {
    table wide({{.title = "NAME", .side = table::align::left, .flexible = true},
                {.title = "N", .side = table::align::right, .flexible = false}});
    wide.add({{std::string(50, 'x')}, {"123"}});
    for (const std::string& line : wide.lines(20, false))
        EXPECT_LE(width_of(line), 20U) << line;
    EXPECT_EQ(wide.lines(20, false)[1], std::string(14, 'x') + "…  123");
}

TEST(Passwords, AreTakenOutOfUrls) {
    const std::vector<std::pair<const char*, const char*>> table{
        {"redis://h:1/0", "redis://h:1/0"},
        {"redis://user@h", "redis://user@h"},
        {"redis://user:pw@h:1/2?namespace=x", "redis://user@h:1/2?namespace=x"},
        {"redis://:pw@h", "redis://h"},
        {"redis://:p@w@h", "redis://h"},
        {"redis://u:p/w?x@h/0", "redis://u@h/0"},
        {"--on=redis://u:pw@h", "--on=redis://u@h"},
        {"redis+unix://u:pw@/tmp/s", "redis+unix://u@/tmp/s"},
        {"redis+unix:///tmp/a:b@c", "redis+unix:///tmp/a:b@c"},
        {"redis://h?a=1&password=pw&b=2", "redis://h?a=1&b=2"},
        {"redis://h?password=pw", "redis://h"},
        {"sqlite:/a/b", "sqlite:/a/b"},
        {"plain", "plain"}};
    for (const auto& [url, expected] : table)
        EXPECT_EQ(without_password(url), expected);
}

TEST(Passwords, TheVariableThatHasOneIsKnown) {
    EXPECT_EQ(variables_of("redis://h?password_env=SECRET&x=1"),
              std::vector<std::string>{"SECRET"});
    EXPECT_TRUE(variables_of("redis://h?password_file=/x").empty());
}

TEST(ExitCodes, EveryErrorHasOne) {
    using pawl::errc;
    EXPECT_EQ(code_for(errc::timed_out), exit_code::timed_out);
    EXPECT_EQ(code_for(errc::lost), exit_code::lost);
    for (const auto each : {errc::unreachable, errc::unavailable, errc::protocol}) {
        EXPECT_EQ(code_for(each), exit_code::unreachable);
    }
    EXPECT_EQ(code_for(errc::refused), exit_code::refused);
    EXPECT_EQ(code_for(errc::wrong_type), exit_code::wrong_data);
    for (const auto each :
         {errc::bad_name, errc::bad_option, errc::bad_url, errc::unsupported, errc::deadlock}) {
        EXPECT_EQ(code_for(each), exit_code::usage);
    }
    for (const auto each : {errc::exhausted, errc::not_held}) {
        EXPECT_EQ(code_for(each), exit_code::system);
    }
}

pawl::lock_info lock(const char* name, const char* owner, std::uint64_t waiters = 0) {
    pawl::lock_info one{.name = name, .held_by = {}, .waiters = waiters};
    if (owner != nullptr) one.held_by = pawl::holder{};
    if (owner != nullptr) one.held_by->owner = owner;
    return one;
}

std::string seen(change_log& log, const std::vector<pawl::lock_info>& locks) {
    std::string text;
    for (const auto& each : log.look(locks))
        text += std::string(to_string(each.what)) + ":" + each.now.name + " ";
    return text;
}

TEST(Changes, AreToldOnce) {
    change_log log;
    EXPECT_EQ(seen(log, {lock("b", "1"), lock("a", "2")}), "held:a held:b ");
    EXPECT_EQ(seen(log, {lock("b", "1"), lock("a", "2")}), "");
    EXPECT_EQ(seen(log, {lock("b", "3", 2), lock("c", "4")}), "freed:a taken:b waiters:b taken:c ");
    EXPECT_EQ(seen(log, {}), "freed:b waiters:b freed:c ");
    EXPECT_EQ(seen(log, {}), "");
}

pawl::holder reader(const char* owner, pawl::lock_mode mode = pawl::lock_mode::shared) {
    pawl::holder one;
    one.owner = owner;
    one.mode = mode;
    return one;
}

pawl::lock_info read_by(std::vector<pawl::holder> all) {
    pawl::lock_info one{.name = "x", .held_by = all.front(), .waiters = 0};
    one.others.assign(all.begin() + 1, all.end());
    return one;
}

TEST(Changes, AreToldOfEachHolder) {
    change_log log;
    EXPECT_EQ(seen(log, {read_by({reader("1"), reader("2")})}), "held:x held:x ");
    EXPECT_EQ(seen(log, {read_by({reader("2"), reader("3"), reader("1")})}), "joined:x ");
    EXPECT_EQ(seen(log, {read_by({reader("3")})}), "left:x left:x ");
    EXPECT_EQ(seen(log, {read_by({reader("4"), reader("5")})}), "taken:x joined:x ");
    const auto alone = reader("6", pawl::lock_mode::exclusive);
    EXPECT_EQ(seen(log, {read_by({alone})}), "taken:x ");
    EXPECT_EQ(seen(log, {read_by({reader("6")})}), "downgraded:x ");
    EXPECT_EQ(seen(log, {}), "freed:x ");
}

TEST(Changes, OfTheNumberOfPermitsAreTold) {
    change_log log;
    auto pool = read_by({reader("1", pawl::lock_mode::permits)});
    pool.permits = 5;
    EXPECT_EQ(seen(log, {pool}), "held:x ");
    pool.permits = 3;
    const auto found = log.look({pool});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].what, change::kind::resized);
    EXPECT_EQ(found[0].before, 5U);
    const auto freed = log.look({});
    ASSERT_EQ(freed.size(), 1U);
    EXPECT_EQ(freed[0].what, change::kind::freed);
    EXPECT_EQ(freed[0].now.permits, 3U);
}

TEST(Views, HoldersAreAlwaysInTheSameOrder) {
    auto first = reader("b"), second = reader("a"), third = reader("c");
    third.since += 1s;
    const auto owners = [](const pawl::lock_info& what) {
        std::string text;
        for (const auto& each : holders_of(what))
            text += each.owner;
        return text;
    };
    EXPECT_EQ(owners(read_by({first, third, second})), "bac");
    EXPECT_EQ(owners(read_by({first, second, third})), "bac");
}

TEST(Views, ModesAreShownShortly) {
    auto info = read_by({reader("1"), reader("2")});
    EXPECT_EQ(mode_summary(info), ", shared by 2");
    EXPECT_EQ(mode_summary(read_by({reader("1", pawl::lock_mode::exclusive)})), "");
    auto one = reader("1", pawl::lock_mode::permits);
    one.permits = 1;
    info = read_by({one});
    EXPECT_EQ(mode_summary(info), ", 1 permit");
    info = read_by({one, one});
    EXPECT_EQ(mode_summary(info), ", 2 permits");
    info.permits = 5;
    EXPECT_EQ(mode_summary(info), ", 2 of 5 permits");
    EXPECT_EQ(mode_text(info, one), "1 of 5");
}

}  // namespace
