// Names and commands that lie about themselves: no view shows them raw.
#include "on_terminal.hpp"

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

namespace {

using namespace cli_test;

// Right-to-left override, an invisible space, bytes that are no UTF-8.
const std::string name = "pay\u202E\u200Bloot\xff\xc0.z";
const std::string shown = "pay??loot\uFFFD\uFFFD.z";
const std::string label = "run\u2066\xfe";
const std::string shown_label = "run?\uFFFD";

void expect_harmless(const std::string& text) {
    for (const char* each : {"\u202E", "\u200B", "\u2066", "\xff", "\xfe", "\xc0"})
        EXPECT_EQ(text.find(each), std::string::npos) << text;
}

void every_view(const world& here) {
    const auto holder = here.start({"run", "--label", label, name, "--", "sleep", "600"});
    ASSERT_TRUE(here.soon_held(name)) << holder->err();
    for (const words& view :
         {words{"ls"}, words{"ls", "--names"}, words{"status", name}, words{"ls", "pay"}}) {
        const auto found = here.run(view);
        EXPECT_NE(found.out.find(shown), std::string::npos) << found.out;
        expect_harmless(found.out);
    }
    EXPECT_NE(here.run({"status", name}).out.find(shown_label), std::string::npos);
    for (const words& view : {words{"watch"}, words{"watch", "--json"}}) {
        const auto watch = here.start(view);
        EXPECT_TRUE(
            support::eventually([&] { return watch->out().find("run") != watch->out().npos; }));
        expect_harmless(watch->out());
    }
    on_terminal live(here, {PAWL_COMMAND, "watch"});
    EXPECT_TRUE(live.shows("pay??")) << live.all();  // cut to the width
    expect_harmless(live.all());
    // Exact as far as JSON can say it.
    for (const auto& [view, in] : std::vector<std::pair<words, std::string>>{
             {{"ls", "--json"}, "it[0]"}, {{"status", "--json", name}, "it"}}) {
        const auto found = here.run(view).out;
        expect_harmless(found);
        EXPECT_EQ(from_json(found, "ascii(" + in + "['name'])"),
                  "'pay\\u202e\\u200bloot\\ufffd\\ufffd.z'");
    }
    const auto waiting = here.run({"run", "--wait", "0", name, "--", "true"});
    EXPECT_NE(waiting.err.find(shown), std::string::npos) << waiting.err;
    expect_harmless(waiting.err);
    const auto taken = here.run({"release", "--force", "--yes", name});
    EXPECT_EQ(taken.out, "Released '" + shown + "'.\n");
    expect_harmless(holder->wait().err);
    expect_harmless(here.run({"--" + name}).err);
}

TEST(Names, AreShownHarmlesslyOnSqlite) { every_view(world()); }
TEST(Names, AreShownHarmlesslyOnRedis) {
    support::redis_server server;
    every_view(world(server.url()));
}

}  // namespace
