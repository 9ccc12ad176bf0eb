// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Names and commands with deceptive characters: no view shows these characters.
#include "terminal_process.hpp"

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

namespace {

using namespace cli_test;

// A right-to-left override, an invisible space, and bytes that are not UTF-8.
const std::string name = "pay\u202E\u200Bloot\xff\xc0.z";
const std::string shown = "pay??loot\uFFFD\uFFFD.z";
const std::string label = "run\u2066\xfe";
const std::string shown_label = "run?\uFFFD";

void expect_harmless(const std::string& text) {
    for (const char* each : {"\u202E", "\u200B", "\u2066", "\xff", "\xfe", "\xc0"})
        EXPECT_EQ(text.find(each), std::string::npos) << text;
}

void check_every_view(const test_sandbox& sandbox) {
    const auto holder = sandbox.start({"run", "--label", label, name, "--", "sleep", "600"});
    ASSERT_TRUE(sandbox.eventually_held(name)) << holder->err();
    for (const words& view :
         {words{"ls"}, words{"ls", "--names"}, words{"status", name}, words{"ls", "pay"}}) {
        const auto result = sandbox.run(view);
        EXPECT_NE(result.out.find(shown), std::string::npos) << result.out;
        expect_harmless(result.out);
    }
    EXPECT_NE(sandbox.run({"status", name}).out.find(shown_label), std::string::npos);
    for (const words& view : {words{"watch"}, words{"watch", "--json"}}) {
        const auto watch = sandbox.start(view);
        EXPECT_TRUE(
            support::eventually([&] { return watch->out().find("run") != watch->out().npos; }));
        expect_harmless(watch->out());
    }
    terminal_process live(sandbox, {PAWL_COMMAND, "watch"});
    EXPECT_TRUE(live.eventually_shows("pay??")) << live.all_output();  // shortened to the width
    expect_harmless(live.all_output());
    // JSON shows the exact value.
    for (const auto& [view, in] : std::vector<std::pair<words, std::string>>{
             {{"ls", "--json"}, "it[0]"}, {{"status", "--json", name}, "it"}}) {
        const auto output = sandbox.run(view).out;
        expect_harmless(output);
        EXPECT_EQ(from_json(output, "ascii(" + in + "['name'])"),
                  "'pay\\u202e\\u200bloot\\ufffd\\ufffd.z'");
    }
    const auto waiting = sandbox.run({"run", "--wait", "0", name, "--", "true"});
    EXPECT_NE(waiting.err.find(shown), std::string::npos) << waiting.err;
    expect_harmless(waiting.err);
    const auto released = sandbox.run({"release", "--force", "--yes", name});
    EXPECT_EQ(released.out, "Released '" + shown + "'.\n");
    expect_harmless(holder->wait().err);
    expect_harmless(sandbox.run({"--" + name}).err);
}

TEST(Names, AreShownHarmlesslyOnSqlite) { check_every_view(test_sandbox()); }
TEST(Names, AreShownHarmlesslyOnRedis) {
    support::redis_server server;
    check_every_view(test_sandbox(server.url()));
}

}  // namespace
