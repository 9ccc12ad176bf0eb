// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl acl`: the least rights for a user. The servers in these URLs do not exist.
#include "command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace {

using namespace cli_test;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

outcome acl(const words& arguments) { return test_sandbox("").run(words{"acl"} + arguments); }

TEST(Acl, IsALineForTheServer) {
    const auto result = acl({"--on", "redis://app:secret@127.0.0.1:1"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, StartsWith("user app reset on >PASSWORD resetchannels ~pawl:{* "
                                       "&pawl:c:0:* &pawl:{* +select +ping "));
    EXPECT_EQ(result.out.find('\n'), result.out.size() - 1);
    EXPECT_EQ((result.out + result.err).find("secret"), std::string::npos);
    EXPECT_THAT(result.err, HasSubstr("ACL SETUSER default off"));
}

TEST(Acl, FollowsTheOptionsOfTheUrl) {
    const auto shop = acl({"--on", "redis://127.0.0.1:1/2?namespace=shop"});
    EXPECT_THAT(shop.out, HasSubstr("user locks reset on >PASSWORD resetchannels ~shop:{* "
                                    "&shop:c:2:* &shop:{* "));
    EXPECT_THAT(shop.out, Not(HasSubstr("client|caching")));
    const auto shared = acl({"--on", "redis://127.0.0.1:1?key=redlock:{name}"});
    EXPECT_THAT(shared.out, HasSubstr("~redlock:* ~pawl:x:* ~pawl:y:* &pawl:c:0:* "));
    EXPECT_THAT(shared.out, HasSubstr(" +client|caching "));
    const auto java = acl({"--on", "redis://127.0.0.1:1?layout=redisson&key=app:{name}"});
    EXPECT_THAT(java.out, HasSubstr("~app:* ~redisson_*app:* ~{app:* "));
    EXPECT_THAT(java.out, HasSubstr("&redisson_lock__channel:*app:* "));
}

TEST(Acl, HasOnlyTheRightsForTheFeatures) {
    const std::string url = "redis://127.0.0.1:1";
    const auto all = acl({"--on", url}).out;
    EXPECT_EQ(acl({"--on", url, "--for", "admin,latches,modes"}).out, all);
    const auto exclusive = acl({"--on", url, "--for", "exclusive"}).out;
    for (const std::string each :
         {" +getrange", " +hmget", " +scan", " +config|get", " &pawl:{*"}) {
        EXPECT_THAT(all, HasSubstr(each));
        EXPECT_THAT(exclusive, Not(HasSubstr(each)));
    }
    EXPECT_THAT(acl({"--on", url, "--for", "latches"}).out, HasSubstr(" +hmget"));
}

TEST(Acl, WithoutScriptsHasNoScriptsAndNoChannels) {
    const auto result = acl({"--on", "redis://app@127.0.0.1:1?scripts=no", "--for", "exclusive"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out,
              "user app reset on >PASSWORD resetchannels ~pawl:{* +select +ping +info +time "
              "+client|tracking +set +exists +incr +pexpire\n");
}

TEST(Acl, OfSentinelsHasTwoLines) {
    const auto result = acl(
        {"--on",
         "redis+sentinel://app@127.0.0.1:1/orders?sentinel_user=eye&sentinel_password_env=PATH"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, StartsWith("# For the master and its replicas:\nuser app reset "));
    EXPECT_THAT(result.out, HasSubstr("\n# For the Sentinels:\nuser eye reset on >PASSWORD "
                                      "resetchannels &+switch-master +info "));
}

TEST(Acl, OfANodeOfRedlockWithSentinelsHasTwoLines) {
    const auto result =
        acl({"--on", "redlock://a,b,orders=s?sentinel_user=eye&sentinel_password_env=PATH"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, StartsWith("# For the nodes, also for the replicas of a master:\nuser "
                                       "locks reset on >PASSWORD "));
    EXPECT_THAT(result.out, HasSubstr(" ~pawl:redlock"));
    EXPECT_THAT(result.out, HasSubstr("\n# For the Sentinels:\nuser eye reset on >PASSWORD "));
    EXPECT_THAT(acl({"--on", "redlock://a,b,c"}).out, StartsWith("user locks "));
}

// The rule is needed before there is a password.
TEST(Acl, NeedsNoPassword) {
    const std::string places =
        "?password_file=/absent/1&sentinel_user=eye&sentinel_password_file=/absent/2";
    for (const std::string url : {"redlock://app@a,b,orders=s", "redis+sentinel://app@s/orders"}) {
        const auto result = acl({"--on", url + places});
        EXPECT_EQ(result.code, 0) << result.err;
        EXPECT_THAT(result.out, HasSubstr("\nuser app reset on >PASSWORD "));
        EXPECT_THAT(result.out, HasSubstr("\nuser eye reset on >PASSWORD "));
    }
    const auto variable = acl({"--on", "redis://app@a?password_env=ABSENT_PASSWORD"});
    EXPECT_EQ(variable.code, 0) << variable.err;
    EXPECT_EQ(acl({"--on", "redis://a?colour=red&password_file=/absent/1"}).code, 64);
}

TEST(Acl, OfRedlockKnowsItsFeatures) {
    const std::string url = "redlock://a,b,c";
    EXPECT_THAT(acl({"--on", url, "--for", "modes"}).out, HasSubstr(" +zrangebyscore "));
    EXPECT_THAT(acl({"--on", url, "--for", "exclusive"}).out, Not(HasSubstr(" +zrangebyscore ")));
    for (const std::string feature : {"latches", "replicas", "disk"}) {
        const auto refused = acl({"--on", url, "--for", "exclusive," + feature});
        EXPECT_EQ(refused.code, 64) << feature;
        EXPECT_EQ(refused.out, "");
        EXPECT_EQ(refused.err, "pawl: Redlock has no latches and no durable acquires; leave " +
                                   feature + " out of --for.\n");
    }
}

TEST(Acl, OfANodeOfAClusterIsForRedissonsLayout) {
    const std::string java = "redis://127.0.0.1:1?layout=redisson";
    EXPECT_THAT(acl({"--on", java, "--cluster-node"}).out, HasSubstr(" +ssubscribe "));
    EXPECT_THAT(acl({"--on", java}).out, Not(HasSubstr("ssubscribe")));
    const auto native = acl({"--on", "redis://127.0.0.1:1", "--cluster-node"});
    EXPECT_EQ(native.code, 64);
    EXPECT_EQ(native.err,
              "pawl: A single node of a cluster is only for Redisson's layout; write "
              "redis+cluster://HOST1,HOST2,HOST3, or add layout=redisson.\n");
    const auto cluster = acl({"--on", "redis+cluster://127.0.0.1:1,127.0.0.1:2"}).out;
    for (const std::string each : {" +cluster|nodes ", " +asking ", " +ssubscribe "})
        EXPECT_THAT(cluster, HasSubstr(each));
}

TEST(Acl, AsJsonHasThePartsAndTheLine) {
    const auto result = acl({"--json", "--on", "redis+sentinel://127.0.0.1:1/orders"});
    EXPECT_EQ(from_json(result.out, "[it['for'] for it in it]"), "['server', 'sentinel']");
    EXPECT_EQ(from_json(result.out, "it[0]['keys']"), "['pawl:{*']");
    EXPECT_EQ(from_json(result.out, "it[1]['channels']"), "['+switch-master']");
    EXPECT_EQ(from_json(result.out, "'select' in it[0]['commands']"), "True");
    const auto line = from_json(result.out, "it[1]['line']");
    EXPECT_THAT(acl({"--on", "redis+sentinel://127.0.0.1:1/orders"}).out, HasSubstr(line));
}

TEST(Acl, RefusesWhatHasNoRights) {
    for (const std::string url : {"sqlite:/tmp/locks.db", "memory:name"}) {
        const auto result = acl({"--on", url});
        EXPECT_EQ(result.code, 64) << url;
        EXPECT_EQ(result.out, "");
    }
    EXPECT_EQ(acl({"--on", "sqlite:/tmp/locks.db"}).err,
              "pawl: Only Redis and Valkey have users with rights; name a server, as in: pawl acl "
              "--on redis://HOST.\n");
    EXPECT_EQ(acl({}).err, acl({"--on", "sqlite:/tmp/locks.db"}).err);
    const auto feature = acl({"--on", "redis://127.0.0.1:1", "--for", "modes,latch"});
    EXPECT_EQ(feature.code, 64);
    EXPECT_EQ(feature.err,
              "pawl: There is no feature 'latch' for --for; use exclusive, modes, latches, admin, "
              "replicas or disk, "
              "separated by commas.\n");
}

// Each `$ pawl acl …` of the page, with the lines after it.
TEST(Acl, IsAsThePageShowsIt) {
    std::ifstream page(PAWL_SOURCE_DIR "/docs/backends/security.md");
    const std::string prompt = "$ pawl acl ";
    int count = 0;
    for (std::string line; std::getline(page, line);) {
        if (!line.starts_with(prompt)) continue;
        ++count;
        std::istringstream text(line.substr(prompt.size()));
        words arguments;
        for (std::string word; text >> word;)
            arguments.push_back(word);
        std::string shown;
        for (std::string next; std::getline(page, next) && next != "```";)
            shown += next + "\n";
        EXPECT_EQ(acl(arguments).out, shown) << line;
    }
    EXPECT_EQ(count, 3);
}

}  // namespace
