// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The parts of the command that need no process.
#include <config/url_passwords.hpp>
#include <run/back_off.hpp>
#include <ui/duration.hpp>
#include <ui/failure.hpp>
#include <ui/json.hpp>
#include <ui/lock_view.hpp>
#include <ui/style.hpp>
#include <verbs/changes.hpp>

#include <pawl/error.hpp>
#include <pawl/options.hpp>
#include <pawl/service.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace {

using namespace pawl::cli;
using namespace std::chrono_literals;

TEST(Durations, AreShownShortly) {
    EXPECT_EQ(format_readable(850ms), "850 ms");
    EXPECT_EQ(format_readable(29s), "29 s");
    EXPECT_EQ(format_readable(185s), "3 min 5 s");
    EXPECT_EQ(format_readable(2h), "2 h");
    EXPECT_EQ(format_readable(49h), "2 d 1 h");
    EXPECT_EQ(format_readable(-5s), "0 s");
    EXPECT_EQ(format_readable(pawl::forever), "forever");
    EXPECT_EQ(format_exact(1500ms), "1 s 500 ms");
    EXPECT_EQ(format_exact(10ms), "10 ms");
    EXPECT_EQ(format_exact(90min + 1ms), "1 h 30 min 1 ms");
    EXPECT_EQ(format_exact(48h), "2 d");
    EXPECT_EQ(format_exact(pawl::forever), "forever");
    EXPECT_EQ(format_exact(0s), "0 ms");
    EXPECT_EQ(format_measured(43100ns), "43.1 µs");
    EXPECT_EQ(format_measured(1234ms), "1.23 s");
    EXPECT_EQ(format_measured(999ns), "999 ns");
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
        {"redis://:p@w#x@h:1", "redis://h:1"},
        {"redis+unix://u:pw@/tmp/s", "redis+unix://u@/tmp/s"},
        {"redis+unix:///tmp/a:b@c", "redis+unix:///tmp/a:b@c"},
        {"redis://h?a=1&password=pw&b=2", "redis://h?a=1&b=2"},
        {"redis://h?password=pw", "redis://h"},
        {"sqlite:/a/b", "sqlite:/a/b"},
        {"plain", "plain"}};
    for (const auto& [url, expected] : table) {
        EXPECT_EQ(without_password(url), expected);
        EXPECT_EQ(hide_password(url), expected);
        EXPECT_EQ(hide_password(std::string("--on=") + url), std::string("--on=") + expected);
    }
}

TEST(Passwords, AnAtSignBehindTheHostIsNoEndOfOne) {
    for (const std::string url :
         {"redis://127.0.0.1:1/0?namespace=a@localhost:1", "redis://h:1/0?key=app@{name}",
          "redis://h:1?password_file=/job@nightly/pw", "redis://[::1]:1/0?key=@{name}",
          "redis://h:1?namespace=a@b", "redis://u@h:1/0?key=a:@{name}"}) {
        EXPECT_EQ(without_password(url), url);
        EXPECT_EQ(hide_password(url), url);
    }
    EXPECT_EQ(without_password("redis://u:p@h:1/0?key=@{name}"), "redis://u@h:1/0?key=@{name}");
    EXPECT_EQ(without_password("sqlite:/a://u:p@b"), "sqlite:/a://u:p@b");
    EXPECT_EQ(without_password("postgresql://u@h/d?sslpassword=p&sslmode=require"),
              "postgresql://u@h/d?sslmode=require");
}

TEST(Passwords, OfMistakenUrlsAreHidden) {
    const std::vector<std::pair<const char*, const char*>> table{
        {"redis://u:p/w?x@h/0", "redis:***"},      {"redis://u:12/w@h/0", "redis:***"},
        {"redis://u:12?w@h/0", "redis:***"},       {"redis://u:p@w/x@h", "redis:***"},
        {"--on=redis://:p/w@h", "--on=redis:***"}, {"foo://u:p/w@h", "foo:***"}};
    for (const auto& [url, expected] : table)
        EXPECT_EQ(hide_password(url), expected);
    EXPECT_THROW(static_cast<void>(pawl::from_url("redis:***")), pawl::error);
}

TEST(Passwords, TheVariableThatHasOneIsKnown) {
    EXPECT_EQ(variables_of("redis://h?password_env=SECRET&x=1"),
              std::vector<std::string>{"SECRET"});
    EXPECT_EQ(variables_of("redis://h?x=1&password%5Fenv=SE%43RET"),
              std::vector<std::string>{"SECRET"});
    EXPECT_TRUE(variables_of("redis://h?password_file=/x").empty());
}

TEST(ExitCodes, EveryErrorHasOne) {
    using pawl::errc;
    EXPECT_EQ(code_for(errc::timed_out), exit_code::timed_out);
    EXPECT_EQ(code_for(errc::lost), exit_code::lost);
    for (const auto each :
         {errc::unreachable, errc::unavailable, errc::no_quorum, errc::protocol}) {
        EXPECT_EQ(code_for(each), exit_code::unreachable);
    }
    for (const auto each : {errc::no_set, errc::other_set})
        EXPECT_EQ(code_for(each), exit_code::no_set);
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

pawl::lock_info make_lock(const char* name, const char* owner, std::uint64_t waiters = 0) {
    pawl::lock_info result{.name = name, .held_by = {}, .waiters = waiters};
    if (owner != nullptr) result.held_by = pawl::holder{};
    if (owner != nullptr) result.held_by->owner = owner;
    return result;
}

std::string changes_text(change_log& log, const std::vector<pawl::lock_info>& locks) {
    std::string text;
    for (const auto& each : log.update(locks))
        text += std::string(to_string(each.event)) + ":" + each.lock.name + " ";
    return text;
}

TEST(Changes, AreReportedOnce) {
    change_log log;
    EXPECT_EQ(changes_text(log, {make_lock("b", "1"), make_lock("a", "2")}), "held:a held:b ");
    EXPECT_EQ(changes_text(log, {make_lock("b", "1"), make_lock("a", "2")}), "");
    EXPECT_EQ(changes_text(log, {make_lock("b", "3", 2), make_lock("c", "4")}),
              "freed:a taken:b waiters:b taken:c ");
    EXPECT_EQ(changes_text(log, {}), "freed:b waiters:b freed:c ");
    EXPECT_EQ(changes_text(log, {}), "");
}

pawl::holder make_reader(const char* owner, pawl::lock_mode mode = pawl::lock_mode::shared) {
    pawl::holder result;
    result.owner = owner;
    result.mode = mode;
    return result;
}

pawl::lock_info make_read_lock(std::vector<pawl::holder> all) {
    pawl::lock_info result{.name = "x", .held_by = all.front(), .waiters = 0};
    result.others.assign(all.begin() + 1, all.end());
    return result;
}

TEST(Changes, AreReportedForEachHolder) {
    change_log log;
    EXPECT_EQ(changes_text(log, {make_read_lock({make_reader("1"), make_reader("2")})}),
              "held:x held:x ");
    EXPECT_EQ(
        changes_text(log, {make_read_lock({make_reader("2"), make_reader("3"), make_reader("1")})}),
        "joined:x ");
    EXPECT_EQ(changes_text(log, {make_read_lock({make_reader("3")})}), "left:x left:x ");
    EXPECT_EQ(changes_text(log, {make_read_lock({make_reader("4"), make_reader("5")})}),
              "taken:x joined:x ");
    const auto alone = make_reader("6", pawl::lock_mode::exclusive);
    EXPECT_EQ(changes_text(log, {make_read_lock({alone})}), "taken:x ");
    EXPECT_EQ(changes_text(log, {make_read_lock({make_reader("6")})}), "downgraded:x ");
    EXPECT_EQ(changes_text(log, {}), "freed:x ");
}

TEST(Changes, OfTheNumberOfPermitsAreReported) {
    change_log log;
    auto pool = make_read_lock({make_reader("1", pawl::lock_mode::permits)});
    pool.permits = 5;
    EXPECT_EQ(changes_text(log, {pool}), "held:x ");
    pool.permits = 3;
    const auto changes = log.update({pool});
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].event, change::kind::resized);
    EXPECT_EQ(changes[0].old_count, 5U);
    const auto freed = log.update({});
    ASSERT_EQ(freed.size(), 1U);
    EXPECT_EQ(freed[0].event, change::kind::freed);
    EXPECT_EQ(freed[0].lock.permits, 3U);
}

TEST(Views, HoldersAreAlwaysInTheSameOrder) {
    auto first = make_reader("b"), second = make_reader("a"), third = make_reader("c");
    third.since += 1s;
    const auto owners = [](const pawl::lock_info& info) {
        std::string text;
        for (const auto& each : holders_of(info))
            text += each.owner;
        return text;
    };
    EXPECT_EQ(owners(make_read_lock({first, third, second})), "bac");
    EXPECT_EQ(owners(make_read_lock({first, second, third})), "bac");
}

TEST(Views, ModesAreShownShortly) {
    auto info = make_read_lock({make_reader("1"), make_reader("2")});
    EXPECT_EQ(mode_summary(info), ", shared by 2");
    EXPECT_EQ(mode_summary(make_read_lock({make_reader("1", pawl::lock_mode::exclusive)})), "");
    auto permit_holder = make_reader("1", pawl::lock_mode::permits);
    permit_holder.permits = 1;
    info = make_read_lock({permit_holder});
    EXPECT_EQ(mode_summary(info), ", 1 permit");
    info = make_read_lock({permit_holder, permit_holder});
    EXPECT_EQ(mode_summary(info), ", 2 permits");
    info.permits = 5;
    EXPECT_EQ(mode_summary(info), ", 2 of 5 permits");
    EXPECT_EQ(mode_text(info, permit_holder), "1 of 5");
}

}  // namespace
