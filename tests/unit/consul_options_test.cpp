// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The URLs and options of Consul, with the sentences for those that are wrong.
#include "consul/options.hpp"

#include <support/temp_folder.hpp>

#include <pawl/consul.hpp>
#include <pawl/error.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include <sys/stat.h>

namespace {

using namespace pawl::consul;
using namespace std::chrono_literals;

std::string message_of(const std::string& url) {
    try {
        (void)at(url);
    } catch (const pawl::error& failed) {
        return failed.what();
    }
    return "accepted";
}

void expect_message(const std::string& url, const std::string& part) {
    EXPECT_NE(message_of(url).find(part), std::string::npos) << url << ": " << message_of(url);
}

TEST(ConsulOptions, AUrlHasHostsTokenAndOptions) {
    ::setenv("PAWL_TEST_CONSUL_TOKEN", "t-2", 1);
    const auto plain = parse("consul://:t-1@a,b:1,[::1]?namespace=x/y&lock_delay=15s");
    ASSERT_EQ(plain.servers.size(), 3U);
    EXPECT_EQ(plain.servers[0].port, 8500);
    EXPECT_EQ(plain.servers[1].port, 1);
    EXPECT_EQ(plain.servers[2].host, "::1");
    EXPECT_EQ(plain.token, "t-1");
    EXPECT_EQ(plain.name_space, "x/y");
    EXPECT_EQ(plain.lock_delay, 15s);
    const auto secure = parse("consuls://h?token_env=PAWL_TEST_CONSUL_TOKEN&verify=no");
    EXPECT_TRUE(secure.tls.enabled);
    EXPECT_FALSE(secure.tls.verify);
    EXPECT_EQ(secure.servers[0].port, 8501);
    EXPECT_EQ(secure.token, "t-2");
}

TEST(ConsulOptions, TheDescriptionHasNoToken) {
    EXPECT_EQ(at("consul://:secret@a,b:1?connect_timeout=1s").describe(), "consul://a,b:1");
    EXPECT_EQ(at("consuls://:secret@[::1]?namespace=n").describe(), "consuls://[::1]?namespace=n");
}

TEST(ConsulOptions, WhatIsWrongHasASentence) {
    expect_message("consul://", "names no host");
    expect_message("consul://user:token@h", "tokens and no users");
    expect_message("consul://h/jobs", "no path");
    expect_message("consul://h?token=x", "token_file");
    expect_message("consul://h?nmespace=x", "is unknown; known are namespace");
    expect_message("consul://h?namespace=", "is empty");
    expect_message("consul://h?namespace=a//b", "must have 1 to 64 letters");
    expect_message("consul://h?namespace=/a", "must have 1 to 64 letters");
    expect_message("consul://h?namespace=a/..", "must have 1 to 64 letters");
    expect_message("consul://h?namespace=a b", "must have 1 to 64 letters");
    expect_message("consul://h?lock_delay=61s", "0s to 60s");
    expect_message("consul://h?connect_timeout=0", "1ms to 10min");
    expect_message("consul://h?verify=no", "consuls://");
    expect_message("consul://:a%20b@h", "blanks or other characters");
    expect_message("consul://:a%0d%0aX:%20y@h", "blanks or other characters");
    expect_message("consul://:t@h?token_env=HOME", "more than one place");
    expect_message("consul://h?token_env=PAWL_TEST_UNSET", "PAWL_TEST_UNSET");
}

TEST(ConsulOptions, ATokenFileIsNotForEverybody) {
    const support::temp_folder folder;
    const auto path = folder.file("token");
    std::ofstream(path) << "t\n";
    ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
    expect_message("consul://h?token_file=" + path, "chmod o-r");
    ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
    EXPECT_EQ(message_of("consul://h?token_file=" + path), "accepted");
}

}  // namespace
