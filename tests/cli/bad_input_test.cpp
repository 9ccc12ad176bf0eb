// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Invalid input: one sentence on stderr with advice, nothing on stdout, the right exit status.
#include "command.hpp"

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace {

using namespace cli_test;

void expect_sentence(const outcome& result, int code, const std::string& input) {
    EXPECT_EQ(result.code, code) << input << ": " << result.err;
    EXPECT_EQ(result.out, "") << input;
    EXPECT_EQ(result.err.find("pawl: "), 0U) << input << ": " << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1)
        << input << ": " << result.err;
    EXPECT_TRUE(result.err.ends_with(".\n") || result.err.ends_with("?\n"))
        << input << ": " << result.err;
}

void expect_usage_errors(const test_sandbox& sandbox, const std::vector<words>& table) {
    for (const words& row : table) {
        std::string command_line = "pawl";
        for (const auto& word : row)
            command_line += " '" + word + "'";
        expect_sentence(sandbox.run(row), 64, command_line);
    }
}

TEST(BadInput, OfTheCommandLine) {
    const test_sandbox sandbox;
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
        {"run", "--ttl", "400d", "x", "--", "true"},
        {"run", "--ttl", "forever", "x", "--", "true"},
        {"run", "--wait", "10", "x", "--", "true"},
        {"run", "--wait", "1.5s", "x", "--", "true"},
        {"run", "--max-hold", "0", "x", "--", "true"},
        {"run", "--max-hold", "1s", "--min-hold", "2s", "x", "--", "true"},
        {"run", "--max-hold", "2s", "--min-hold", "2s", "x", "--", "true"},
        {"run", "--min-hold", "forever", "x", "--", "true"},
        {"run", "--on-loss", "cry", "x", "--", "true"},
        {"run", "--quiet", "--verbose", "x", "--", "true"},
        {"elect", "--quiet", "x", "--", "true"},
        {"run", "--busy-exit", "256", "x", "--", "true"},
        {"run", "--busy-exit", "-1", "x", "--", "true"},
        {"run", "--busy-exit", "busy", "x", "--", "true"},
        {"run", "--busy-exit", "", "x", "--", "true"},
        {"elect", "--busy-exit", "3", "x", "--", "true"},
        {"run", "--on", "", "x", "--", "true"},
        {"run", "--on", "memory:", "x", "--", "true"},
        {"elect", "--on", "memory:", "x", "--", "true"},
        {"resize", "--on", "memory:", "x", "5"},
        {"resize", "--on", "memory:", "--create", "x", "5"},
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
    expect_usage_errors(sandbox, table);
}

TEST(BadInput, OfModesAndSeveralLocks) {
    const test_sandbox sandbox;
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
        {"run", "--permits", "1/2", "--permits", "1/2", "x", "--", "true"},
        {"run", "--wait", "1s", "--wait", "1s", "x", "--", "true"},
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
        {"resize", "x", "4294967296"},
        {"resize", "", "5"},
        {"resize", "x", "5", "6"},
    };
    expect_usage_errors(sandbox, table);
}

void expect_words(const std::string& message, const char* expected) {
    EXPECT_NE(message.find(expected), std::string::npos) << message;
}

TEST(BadInput, IsAnsweredWithWhatWouldBeGood) {
    const test_sandbox sandbox;
    const auto of_run = [&](const words& options) {
        return sandbox.run(words{"run"} + options + words{"x", "--", "true"}).err;
    };
    EXPECT_EQ(of_run({"--ttl", "forever"}).find("or forever"), std::string::npos);
    EXPECT_EQ(of_run({"--max-hold", "0"}).find("pawl::"), std::string::npos);
    expect_words(of_run({"--ttl", "400d"}), "The ttl is 400 d; it must be between 10 ms and 24 h");
    expect_words(of_run({"--ttl", "1d1h"}), "The ttl is 1 d 1 h; it must be");
    expect_words(of_run({"--wait", "5"}), "or forever");
    for (const char* permits : {"6/5", "3/", "/5", "/"})
        expect_words(of_run({"--permits", permits}), "as in 1/5");
    expect_words(of_run({"--permits", "1/4294967296"}), "from 1 to 4294967295");
    expect_words(of_run({"--also", "x"}), "'x' is named twice");
    for (const char* at_once : {"-n", "--nonblock"})
        EXPECT_EQ(of_run({at_once}), "pawl: There is no option '" + std::string(at_once) +
                                         "'; did you mean --wait 0?\n");
    for (const words& limit : std::vector<words>{{"--timeout", "5s"}, {"--timeout=5s"}})
        EXPECT_EQ(of_run(limit),
                  "pawl: There is no option '--timeout'; did you mean --wait TIME?\n");
    const std::pair<words, const char*> options_of_others[] = {
        {{"-x"}, "'-x'; a lock is exclusive unless --shared is given"},
        {{"-s"}, "'-s'; did you mean --shared?"},
        {{"-E", "3"}, "'-E'; did you mean --busy-exit N?"},
        {{"-c", "ls"}, "as in: pawl run NAME -- sh -c 'COMMAND'."},
        {{"--minhold", "5s"}, "'--minhold'; did you mean --min-hold?"},
        {{"--tll=5s"}, "'--tll'; did you mean --ttl?"}};
    for (const auto& [options, expected] : options_of_others)
        expect_words(of_run(options), expected);
    expect_words(sandbox.run({"elect", "-s", "x", "--", "true"}).err, "'-s'; see `pawl elect");
    const std::pair<const char*, const char*> verbs[] = {
        {"rum", "run"}, {"rn", "run"},         {"eelct", "elect"}, {"stauts", "status"},
        {"list", "ls"}, {"unlock", "release"}, {"stat", "status"}, {"version", "--version"}};
    for (const auto& [word, verb] : verbs)
        EXPECT_EQ(
            sandbox.run({word, "x", "--", "true"}).err,
            "pawl: There is no verb '" + std::string(word) + "'; did you mean " + verb + "?\n");
    expect_words(sandbox.run({"frobnicate"}).err, "see `pawl --help`.");
    expect_words(of_run({"--ttl", "99999999999h"}), "is too long for --ttl; use 10ms to 24h.");
    expect_words(of_run({"--wait", "300000d"}), "for --wait; use 0 to 106751d, or forever.");
    expect_words(of_run({"--wait", "5"}), "'5' has no unit, which --wait needs; ");
    expect_words(of_run({"--wait", "1.5s"}),
                 "'1.5s' has a fraction, which --wait does not accept; ");
    expect_words(of_run({"--on-loss", "cry"}), "'cry' is not a value of --on-loss; use kill");
    EXPECT_EQ(of_run({"--permits", "1/2", "--permits", "1/2"}),
              "pawl: --permits is given twice; give it once.\n");
    EXPECT_EQ(of_run({"--ttl=1s", "--ttl", "2s"}), "pawl: --ttl is given twice; give it once.\n");
    expect_words(sandbox.run({"run", "x", "--ttl"}).err, "--ttl needs a value");
    expect_words(sandbox.run({"resize", "x", "4294967296"}).err, "from 1 to 4294967295");
    expect_words(sandbox.run({"resize", "--help"}).out, "The semaphore");
    EXPECT_EQ(sandbox.run({"ls", "--on", "redis://host/?layout=native&layout=redisson"}).err,
              "pawl: The URL has the option 'layout' twice; give it once.\n");
    expect_words(sandbox.run({"ls", "--on", "localhost:6379"}).err, "redis://");
    expect_words(sandbox.run({"ls", "--on", "redis+unix:///s?frob=1"}).err, "and database.");
}

TEST(BadInput, OfTheWordsIsAnsweredWithTheRightOnes) {
    const test_sandbox sandbox;
    EXPECT_EQ(sandbox.run({"-v"}).err, "pawl: There is no option '-v'; did you mean --version?\n");
    EXPECT_EQ(sandbox.run({"redlock", "status", "--local"}).err,
              "pawl: There is no option '--local'; see `pawl redlock --help`.\n");
    expect_words(sandbox.run({"--json"}).err, "'--json' must come after the verb, as in: pawl ");
    expect_words(sandbox.run({"run", "--", "true"}).err,
                 "The lock's name is missing, as in: pawl run NAME -- COMMAND.");
    expect_words(sandbox.run({"status"}).err, "name is missing, as in: pawl status NAME.");
    expect_words(sandbox.run({"run", "x", "y", "--", "true"}).err,
                 "'y' is one argument too many; for a second lock write --also y.");
    expect_words(sandbox.run({"run", "x", "--", "--wait", "0", "echo"}).err,
                 "Cannot run '--wait': No such file or directory; options of pawl come before --.");
    expect_words(sandbox.run({"run", "--permits", "1:3", "x", "--", "true"}).err,
                 "such as 5, or K/N as in 1/3.");
    expect_words(
        sandbox.run({"run", "--on", "redlock://a,b,c", "--durable", "disk", "x", "--", "true"}).err,
        "Redlock has no --durable: ");
    expect_words(sandbox.run({"ls", "--on", " redis://h"}).err,
                 "The URL begins with a blank; remove it.");
    expect_words(sandbox.run({"ls", "--on", "redis://h:6379 "}).err,
                 "The URL ends with a blank; remove it.");
}

TEST(BadInput, TheHelpCallsAVerbAVerbAndExplainsTimes) {
    const test_sandbox sandbox;
    expect_words(sandbox.run({"--help"}).out, "Usage: pawl [OPTIONS] VERB\n");
    expect_words(sandbox.run({"--help"}).out, "\nVerbs:\n");
    for (const char* verb : {"run", "elect", "watch"})
        expect_words(sandbox.run({verb, "--help"}).out, "TIME: 500ms, 30s, 2min, 1h30m");
    EXPECT_EQ(sandbox.run({"redlock", "--help"}).out.find("--local"), std::string::npos);
}

TEST(BadInput, TooManyLocksAtOnce) {
    const test_sandbox sandbox;
    words all{"run", "x"};
    for (int i = 0; i < 255; ++i)
        all = all + words{"--also", "y" + std::to_string(i)};
    EXPECT_EQ(sandbox.run(all + words{"--", "true"}).code, 0);
    expect_sentence(sandbox.run(all + words{"--also", "z", "--", "true"}), 64, "257 locks");
}

// Redisson's RLock has no readers, and its ReadWriteLock has no strict order. The error names the
// setting.
TEST(BadInput, ModesThatTheServiceDoesNotKnow) {
    support::redis_server server;
    const auto refusal = [&](const std::string& option, const std::string& url) {
        const auto result = test_sandbox(server.url(url)).run({"run", option, "x", "--", "true"});
        expect_sentence(result, 64, option);
        return result.err;
    };
    EXPECT_EQ(refusal("--shared", "?layout=redisson"),
              "pawl: This service has no shared locks; set object=readwrite in the URL, for "
              "Redisson's ReadWriteLock.\n");
    EXPECT_EQ(
        refusal("--fair", "?layout=redisson&object=readwrite")
            .find("pawl: This service has no strictly fair locks; leave object=readwrite out"),
        0U);
}

// A name that is used as another kind of object in Redisson's layout.
TEST(BadInput, OtherObjectsOfRedisson) {
    support::redis_server server;
    server.execute({"SET", "pool", "3"});
    const auto refusal = [&](const words& options, const std::string& object) {
        const auto result = test_sandbox(server.url("?layout=redisson" + object))
                                .run(words{"run"} + options + words{"--", "true"});
        expect_sentence(result, 65, options.back() + object);
        return result.err;
    };
    for (const words& options : std::vector<words>{{"pool"}, {"--fair", "pool"}})
        EXPECT_NE(refusal(options, "").find("pool: is a semaphore in Redisson's layout"),
                  std::string::npos);
    for (const words& options : std::vector<words>{{"pool"}, {"--shared", "pool"}})
        EXPECT_NE(refusal(options, "&object=readwrite").find("object=semaphore in the URL"),
                  std::string::npos);
    server.execute({"HSET", "lock", "176d4c5e-cbab-4c45-831e-b8c949d7ba8c:1", "1"});
    for (const std::string object : {"", "&object=semaphore"})
        EXPECT_NE(refusal({"--permits", "1/2", "lock"}, object).find("lock: is no semaphore in "),
                  std::string::npos);
    const auto huge = test_sandbox(server.url("?layout=redisson"))
                          .run({"resize", "--create", "huge", "2147483648"});
    expect_sentence(huge, 64, "more than Java can count");
    EXPECT_EQ(server.execute({"EXISTS", "huge"}).number(), 0);
    EXPECT_EQ(server.execute({"GET", "pool"}).text, "3");
    EXPECT_EQ(server.execute({"HLEN", "lock"}).number(), 1);
}

TEST(BadInput, OfTheUrl) {
    const test_sandbox sandbox;
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
                                         "redis://host?reply_timeout=-1",
                                         "redis://host/%zz",
                                         "redis+unix://",
                                         "sqlite:",
                                         "sqlite://host/x",
                                         "sqlite:/x?mode=ro",
                                         "redis://host?layout=native&layout=redisson",
                                         "redis://host?key=a%7Bname%7D&k%65y=a%7Bname%7D",
                                         "sqlite:/x?namespace=a&namespace=a",
                                         "memory:x?a=1&a=1",
                                         "memory://x",
                                         "redis+unix://otherhost/tmp/x",
                                         "redis://host?key=",
                                         "redis://host?ca=/x",
                                         "memory:x?y=z"};
    for (const std::string& url : table) {
        expect_sentence(sandbox.run({"status", "--on", url, "x"}), 64, url);
        const auto by_variable = sandbox.run({"run", "x", "--", "true"}, {{"PAWL_URL", url}});
        expect_sentence(by_variable, 64, url);
        EXPECT_NE(by_variable.err.find("PAWL_URL"), std::string::npos) << by_variable.err;
    }
    expect_sentence(sandbox.run({"status", "--on", "memory:", "--url-file", "/dev/null", "x"}), 64,
                    "both");
    expect_sentence(sandbox.run({"status", "--url-file", "/dev/null", "x"}), 64, "an empty file");
    expect_sentence(sandbox.run({"status", "--url-file", sandbox.file("absent"), "x"}), 66,
                    "no file");
    expect_sentence(
        sandbox.run({"status", "x"}, {{"PAWL_URL", ""}, {"PAWL_URL_FILE", sandbox.file("absent")}}),
        66, "no file");
}

TEST(BadInput, OfTheService) {
    support::redis_server server;
    const auto nobody = server.url();
    const test_sandbox sandbox(nobody);
    server.execute({"HSET", "pawl:{hash}", "a", "b"});
    for (const words& row : std::vector<words>{{"run", "hash", "--", "true"}, {"status", "hash"}}) {
        expect_sentence(sandbox.run(row), 65, "a key of another type");
    }
    EXPECT_EQ(
        sandbox.run({"status", "hash"}).err,
        "pawl: pawl:{hash} holds a hash, where Pawl keeps the lock; for a lock of Redisson set "
        "layout=redisson in the URL, for another program's data choose another name, "
        "namespace or key template.\n");
    const auto result_of_several =
        sandbox.run({"run", "a", "--also", "hash", "--also", "z", "--", "true"});
    expect_sentence(result_of_several, 65, "a key of another type among several");
    EXPECT_EQ(result_of_several.err.find("pawl: pawl:{hash} holds a hash"), 0U)
        << result_of_several.err;
    server.execute({"SET", "pawl:{count}:f", "no number"});
    const auto counter = sandbox.run({"run", "count", "--", "true"});
    expect_sentence(counter, 65, "a counter that does not count");
    EXPECT_EQ(counter.err.find("script"), std::string::npos) << counter.err;
    server.execute({"CONFIG", "SET", "requirepass", "pw"});
    expect_sentence(sandbox.run({"run", "x", "--", "true"}), 77, "no password");
    server.kill9();
    const auto waited = sandbox.run({"run", "--wait", "1500ms", "x", "--", "true"});
    EXPECT_EQ(waited.code, 69) << waited.err;
    EXPECT_NE(waited.err.find("be reached"), std::string::npos) << waited.err;
    for (const words& row : std::vector<words>{{"run", "--wait", "0", "x", "--", "true"},
                                               {"status", "x"},
                                               {"ls"},
                                               {"watch"},
                                               {"release", "--force", "--yes", "x"},
                                               {"doctor"},
                                               {"bench"}}) {
        expect_sentence(sandbox.run(row), 69, row.front() + " without a server");
    }
    for (const auto& url :
         {std::string("redis://no-such-host.invalid"), "redis+unix://" + sandbox.file("absent")})
        expect_sentence(sandbox.run({"status", "--on", url, "x"}), 69, url);
}

TEST(BadInput, ANameThatIsAKeyBesideALock) {
    support::redis_server server;
    const test_sandbox sandbox(server.url("?key={name}"));
    const std::string name = "pawl:x:{a}:f";
    for (const words& row : std::vector<words>{{"run", name, "--", "true"},
                                               {"run", "a", "--also", name, "--", "true"},
                                               {"elect", name, "--", "true"},
                                               {"status", name},
                                               {"release", "--force", "--yes", name},
                                               {"resize", "--create", name, "2"}}) {
        const auto result = sandbox.run(row);
        expect_sentence(result, 64, row.front());
        EXPECT_EQ(result.err,
                  "pawl: The lock's key 'pawl:x:{a}:f' has the form of Pawl's own keys beside the "
                  "locks; choose another name or key template.\n");
    }
    EXPECT_EQ(server.keys(), std::vector<std::string>{});
}

TEST(BadInput, OfTheClientCertificate) {
    support::redis_server server({.tls = true});
    const auto file = [&](const char* name) { return server.folder().file(name); };
    const auto ca = "?ca=" + file("ca.crt");
    const auto status_with = [&](const std::string& more) {
        return test_sandbox(server.url(ca + more)).run({"status", "x"});
    };
    const auto half = status_with("&cert=" + file("client.crt"));
    expect_sentence(half, 64, "a certificate without its key");
    EXPECT_NE(half.err.find("cert and cert_key go together; give both."), std::string::npos);
    const auto wrong =
        status_with("&cert=" + file("client.crt") + "&cert_key=" + file("server.key"));
    expect_sentence(wrong, 64, "the key of another certificate");
    EXPECT_NE(wrong.err.find("server.key' is not that of the certificate '" + file("client.crt")),
              std::string::npos)
        << wrong.err;
    EXPECT_EQ(status_with("&cert=" + file("client.crt") + "&cert_key=" + file("client.key")).code,
              1);
}

TEST(BadInput, OfTheSqliteFile) {
    const test_sandbox sandbox;
    expect_sentence(sandbox.run({"status", "--on", "sqlite:/proc/nowhere/locks.db", "x"}), 64,
                    "a folder that cannot be");
    const words work{"run", "x", "--", "true"};
    EXPECT_EQ(
        sandbox.run(work, {{"PAWL_URL", ""}, {"HOME", ""}, {"XDG_STATE_HOME", sandbox.file("s")}})
            .code,
        0);
}

}  // namespace
