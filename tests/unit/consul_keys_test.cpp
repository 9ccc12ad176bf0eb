// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Names as keys of Consul: every name has a key of its own, and every key is a clean path.
#include "consul/api.hpp"
#include "consul/json.hpp"
#include "consul/keys.hpp"

#include <pawl/error.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace {

using namespace pawl::consul;

bool is_clean_key(const std::string& key) {
    std::string part;
    for (const char c : key + "/") {
        if (c != '/') {
            part += c;
            continue;
        }
        if (part.empty() || part == "." || part == "..") return false;
        part.clear();
    }
    return true;
}

std::vector<std::string> odd_names() {
    return {"a",        "a/b",  "a//b",  "/a",           "a/",       "/",        "//",
            "///",      ".",    "..",    "a/./b",        "a/../b",   "...",      "a.b",
            "%",        "%2F",  "a%2Fb", "a%2F/b",       " a ",      "a/.lock",  ".guard/x",
            "\xC3\xA4", "\xFF", "a\xC3", "\xED\xA0\x80", "\xC0\x80", "a/\xFF/b", "a\\b",
            "./a",      "a/.",  "a/..",  "./",           "/.",       "//./",     "a?b#c&d=e"};
}

TEST(ConsulKeys, EachNameHasAnotherCleanKeyThatLeadsBack) {
    const key_scheme keys("pawl");
    std::set<std::string> seen;
    for (const auto& name : odd_names()) {
        const auto key = keys.lock_key(name);
        EXPECT_TRUE(is_clean_key(key)) << key;
        EXPECT_TRUE(seen.insert(key).second) << key;
        EXPECT_EQ(keys.name_in(key), name);
    }
}

// Every text of up to four of the characters that matter.
TEST(ConsulKeys, AllShortNames) {
    const key_scheme keys("n");
    std::set<std::string> seen;
    std::vector<std::string> names{""};
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i].size() == 4) break;
        for (const char c : std::string("a/.%2\xFF"))
            names.push_back(names[i] + c);
    }
    names.erase(names.begin());
    for (const auto& name : names) {
        const auto key = keys.lock_key(name);
        ASSERT_TRUE(is_clean_key(key)) << key;
        ASSERT_TRUE(seen.insert(key).second) << key;
        ASSERT_EQ(keys.name_in(key), name);
        for (std::size_t size = 0; size <= name.size(); ++size)
            ASSERT_TRUE(key.starts_with(keys.list_key(name.substr(0, size))))
                << key << " and " << keys.list_key(name.substr(0, size));
    }
}

TEST(ConsulKeys, PlainNamesStayAsTheyAre) {
    EXPECT_EQ(key_scheme("pawl").lock_key("jobs/report 1"), "pawl/jobs/report 1/.lock");
    EXPECT_EQ(key_scheme("a/b").lock_key("\xC3\xA4"), "a/b/\xC3\xA4/.lock");
    EXPECT_EQ(encode_key("a b/%2F?"), "a%20b/%252F%3F");
}

TEST(ConsulKeys, OtherKeysAreNoLocks) {
    const key_scheme keys("pawl");
    for (const std::string key : {"pawl/.lock", "pawl/x", "pawl/.guard/1", "other/x/.lock",
                                  "pawl/a%2fb/.lock", "pawl/a%/.lock", "pawl/a%41/.lock"})
        EXPECT_FALSE(keys.name_in(key).has_value()) << key;
}

TEST(ConsulKeys, TheValueNamesTheHolder) {
    const auto value = make_value("0123456789abcdef", {"db\xFF", 17, "a \"b\""}, 1500);
    EXPECT_EQ(owner_in(value), "0123456789abcdef");
    const auto shown = parse_value(value);
    EXPECT_EQ(shown.owner, "01234567");
    EXPECT_EQ(shown.host, "db?");
    EXPECT_EQ(shown.pid, 17);
    EXPECT_EQ(shown.command, "a \"b\"");
    EXPECT_EQ(shown.since.time_since_epoch(), std::chrono::milliseconds(1500));
}

TEST(ConsulKeys, AValueOfOthersHasNoOwner) {
    for (const std::string value :
         {"", "x", "[]", "{}", "{\"owner\":1}", "{\"owner\":", "[[[[[[[[[[[[[[[[[[[["})
        EXPECT_EQ(owner_in(value), "") << value;
}

TEST(ConsulJson, Base64) {
    for (const std::string bytes : {"", "a", "ab", "abc", "\xFF\x01z\x7F"})
        EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
    EXPECT_EQ(to_base64("ab"), "YWI=");
    EXPECT_FALSE(from_base64("YW").has_value());
    EXPECT_FALSE(from_base64("*WI=").has_value());
}

TEST(ConsulJson, Transactions) {
    const auto done = read_transaction(
        R"({"Results":[{"KV":{"Key":"k","Flags":3304740253564472344,"Value":"YQ==",)"
        R"("Session":"s","ModifyIndex":12}}],"Errors":null})",
        "Consul");
    ASSERT_EQ(done.entries.size(), 1U);
    EXPECT_EQ(done.entries[0].value, "a");
    EXPECT_EQ(done.entries[0].session, "s");
    EXPECT_EQ(done.entries[0].flags, lock_flags);
    EXPECT_EQ(done.entries[0].modify_index, 12U);
    const auto refused =
        read_transaction(R"({"Results":null,"Errors":[{"OpIndex":2,"What":"why"}]})", "Consul");
    ASSERT_EQ(refused.refusals.size(), 1U);
    EXPECT_EQ(refused.refusals[0].operation, 2U);
    EXPECT_EQ(refused.refusals[0].reason, "why");
}

TEST(ConsulJson, WhatConsulDoesNotSendIsRefused) {
    for (const std::string body :
         {"", "null", "[]", "{}", "{\"Results\":7}", "{\"Results\":[7]}", "{\"Results\":[{}]}",
          R"({"Results":[{"KV":{"Key":"k","Value":"*","ModifyIndex":1}}]})",
          R"({"Results":[{"KV":{"Key":"k","Value":""}}]})",
          R"({"Results":[{"KV":{"Key":"k","ModifyIndex":-1}}]})",
          R"({"Results":[{"KV":{"Key":"","ModifyIndex":1}}]})",
          "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}}}}}"})
        EXPECT_THROW((void)read_transaction(body, "Consul"), pawl::error) << body;
    EXPECT_THROW((void)read_session_id(R"({"ID":"../x"})", "Consul"), pawl::error);
    EXPECT_THROW((void)read_session_id("{}", "Consul"), pawl::error);
}

}  // namespace
