// Bad input: one sentence on stderr that says what to do, nothing on stdout, the right status.
#include "command.hpp"

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace {

using namespace cli_test;

void expect_sentence(const outcome& found, int code, const std::string& what) {
    EXPECT_EQ(found.code, code) << what << ": " << found.err;
    EXPECT_EQ(found.out, "") << what;
    EXPECT_EQ(found.err.find("pawl: "), 0U) << what << ": " << found.err;
    EXPECT_EQ(std::count(found.err.begin(), found.err.end(), '\n'), 1) << what << ": " << found.err;
    EXPECT_TRUE(found.err.ends_with(".\n")) << what << ": " << found.err;
}

void expect_usage_errors(const world& here, const std::vector<words>& table) {
    for (const words& row : table) {
        std::string what = "pawl";
        for (const auto& word : row)
            what += " '" + word + "'";
        expect_sentence(here.run(row), 64, what);
    }
}

TEST(BadInput, OfTheCommandLine) {
    const world here;
    const std::vector<words> table{
        {},
        {"frobnicate"},
        {"--frobnicate"},
        {"run"},
        {"run", "x"},
        {"run", "x", "--"},
        {"run", "x", "--", ""},
        {"run", "x", "echo", "hi"},
        {"run", "--", "echo"},
        {"run", "--frob", "x", "--", "true"},
        {"run", "--ttl"},
        {"run", "--ttl", "soon", "x", "--", "true"},
        {"run", "--ttl", "-1s", "x", "--", "true"},
        {"run", "--ttl", "0", "x", "--", "true"},
        {"run", "--ttl", "1ms", "x", "--", "true"},
        {"run", "--ttl", "25h", "x", "--", "true"},
        {"run", "--ttl", "forever", "x", "--", "true"},
        {"run", "--wait", "10", "x", "--", "true"},
        {"run", "--wait", "1.5s", "x", "--", "true"},
        {"run", "--max-hold", "0", "x", "--", "true"},
        {"run", "--max-hold", "1s", "--min-hold", "2s", "x", "--", "true"},
        {"run", "--min-hold", "forever", "x", "--", "true"},
        {"run", "--on-loss", "cry", "x", "--", "true"},
        {"run", "--on", "", "x", "--", "true"},
        {"run", "--on", "memory:", "x", "--", "true"},
        {"run", "--url-file", "", "x", "--", "true"},
        {"run", "", "--", "true"},
        {"run", std::string(513, 'n'), "--", "true"},
        {"run", "new\nline", "--", "true"},
        {"run", "x\x7f", "--", "true"},
        {"status"},
        {"status", ""},
        {"status", "a", "b"},
        {"status", "tab\t"},
        {"status", "--on", "", "x"},
        {"ls", "--frob"},
        {"watch", "--interval", "0"},
        {"watch", "--interval", "often"},
        {"release", "x"},
        {"release", "--force", "x"},
        {"release", "--force", "--yes"},
        {"release", "--force", "--yes", std::string(600, 'n')},
        {"bench", "--for", "0"},
        {"bench", "--for", "forever"},
        {"completion"},
        {"completion", "tcsh"},
        {"doctor", "me"},
    };
    expect_usage_errors(here, table);
}

TEST(BadInput, OfModesAndSeveralLocks) {
    const world here;
    const std::vector<words> table{
        {"run", "--permits", "x", "--", "true"},
        {"run", "--permits", "", "x", "--", "true"},
        {"run", "--permits", "0", "x", "--", "true"},
        {"run", "--permits", "-1", "x", "--", "true"},
        {"run", "--permits", "0/5", "x", "--", "true"},
        {"run", "--permits", "1/0", "x", "--", "true"},
        {"run", "--permits", "1/", "x", "--", "true"},
        {"run", "--permits", "/5", "x", "--", "true"},
        {"run", "--permits", "6/5", "x", "--", "true"},
        {"run", "--permits", "1/2/3", "x", "--", "true"},
        {"run", "--permits", "1.5/2", "x", "--", "true"},
        {"run", "--permits", "1/4294967296", "x", "--", "true"},
        {"run", "--permits", "one", "x", "--", "true"},
        {"run", "--permits", "1/2", "--shared", "x", "--", "true"},
        {"run", "--permits", "1/2", "--also", "y", "x", "--", "true"},
        {"run", "--also", "x", "--", "true"},
        {"run", "--also", "x", "x", "--", "true"},
        {"run", "--also", "y", "x", "--also", "y", "--", "true"},
        {"run", "--also", "", "x", "--", "true"},
        {"run", "--also", "new\nline", "x", "--", "true"},
        {"run", "--shared=maybe", "x", "--", "true"},
        {"elect", "--shared", "x", "--", "true"},
        {"elect", "--also", "y", "x", "--", "true"},
        {"resize"},
        {"resize", "x"},
        {"resize", "x", "0"},
        {"resize", "x", "-1"},
        {"resize", "x", "5/5"},
        {"resize", "x", "many"},
        {"resize", "", "5"},
        {"resize", "x", "5", "6"},
    };
    expect_usage_errors(here, table);
}

TEST(BadInput, IsAnsweredWithWhatWouldBeGood) {
    const world here;
    EXPECT_EQ(here.run({"run", "--ttl", "forever", "x", "--", "true"}).err.find("or forever"),
              std::string::npos);
    EXPECT_NE(here.run({"run", "--wait", "5", "x", "--", "true"}).err.find("or forever"),
              std::string::npos);
    EXPECT_EQ(here.run({"run", "--max-hold", "0", "x", "--", "true"}).err.find("pawl::"),
              std::string::npos);
    EXPECT_NE(here.run({"run", "--permits", "6/5", "x", "--", "true"}).err.find("as in 1/5"),
              std::string::npos);
    EXPECT_NE(here.run({"run", "--also", "x", "x", "--", "true"}).err.find("'x' is named twice"),
              std::string::npos);
    EXPECT_NE(here.run({"ls", "--on", "localhost:6379"}).err.find("redis://"), std::string::npos);
}

TEST(BadInput, TooManyLocksAtOnce) {
    const world here;
    words all{"run", "x"};
    for (int i = 0; i < 255; ++i)
        all = all + words{"--also", "y" + std::to_string(i)};
    EXPECT_EQ(here.run(all + words{"--", "true"}).code, 0);
    expect_sentence(here.run(all + words{"--also", "z", "--", "true"}), 64, "257 locks");
}

// Redisson's RLock has no readers, and its ReadWriteLock no strict order.
TEST(BadInput, ModesThatTheServiceDoesNotKnow) {
    support::redis_server server;
    for (const auto& [option, url] : std::vector<std::pair<std::string, std::string>>{
             {"--shared", server.url("?layout=redisson")},
             {"--fair", server.url("?layout=redisson&object=readwrite")}}) {
        const auto found = world(url).run({"run", option, "x", "--", "true"});
        expect_sentence(found, 64, option);
        EXPECT_NE(found.err.find("This service has no "), std::string::npos) << found.err;
    }
}

TEST(BadInput, OfTheUrl) {
    const world here;
    const std::vector<std::string> table{"nonsense",
                                         "ftp://host",
                                         "://",
                                         "redis://",
                                         "redis://host:0",
                                         "redis://host:65536",
                                         "redis://host:port",
                                         "redis://host/two",
                                         "redis://host?frob=1",
                                         "redis://host?key=fixed",
                                         "redis://[::1",
                                         "redis://host?reply_timeout_ms=-1",
                                         "redis://host/%zz",
                                         "redis+unix://",
                                         "sqlite:",
                                         "sqlite://host/x",
                                         "sqlite:/x?mode=ro",
                                         "memory:x?y=z"};
    for (const std::string& url : table) {
        expect_sentence(here.run({"status", "--on", url, "x"}), 64, url);
        expect_sentence(here.run({"run", "x", "--", "true"}, {{"PAWL_URL", url}}), 64, url);
    }
    expect_sentence(here.run({"status", "--on", "memory:", "--url-file", "/dev/null", "x"}), 64,
                    "both");
    expect_sentence(here.run({"status", "--url-file", "/dev/null", "x"}), 64, "an empty file");
    expect_sentence(here.run({"status", "--url-file", here.file("absent"), "x"}), 66, "no file");
    expect_sentence(here.run({"status", "x"}, {{"PAWL_URL_FILE", here.file("absent")}}), 66,
                    "no file");
}

TEST(BadInput, OfTheService) {
    support::redis_server server;
    const auto nobody = server.url();
    const world here(nobody);
    server.ask({"HSET", "pawl:{hash}", "a", "b"});
    for (const words& row : std::vector<words>{{"run", "hash", "--", "true"}, {"status", "hash"}}) {
        expect_sentence(here.run(row), 65, "a key of another type");
    }
    server.ask({"SET", "pawl:{count}:f", "no number"});
    expect_sentence(here.run({"run", "count", "--", "true"}), 65, "a counter that does not count");
    server.ask({"CONFIG", "SET", "requirepass", "pw"});
    expect_sentence(here.run({"run", "x", "--", "true"}), 77, "no password");
    server.kill9();
    for (const words& row : std::vector<words>{{"run", "x", "--", "true"},
                                               {"run", "--wait", "0", "x", "--", "true"},
                                               {"status", "x"},
                                               {"ls"},
                                               {"watch"},
                                               {"release", "--force", "--yes", "x"},
                                               {"doctor"},
                                               {"bench"}}) {
        expect_sentence(here.run(row), 69, row.front() + " without a server");
    }
    expect_sentence(here.run({"status", "--on", "redis://no-such-host.invalid", "x"}), 69,
                    "no such host");
    expect_sentence(here.run({"status", "--on", "redis+unix://" + here.file("absent"), "x"}), 69,
                    "no socket");
}

TEST(BadInput, OfTheSqliteFile) {
    const world here;
    expect_sentence(here.run({"status", "--on", "sqlite:/proc/nowhere/locks.db", "x"}), 64,
                    "a folder that cannot be");
    EXPECT_EQ(
        here.run({"run", "x", "--", "true"}, {{"HOME", ""}, {"XDG_STATE_HOME", here.file("s")}})
            .code,
        0);
}

}  // namespace
