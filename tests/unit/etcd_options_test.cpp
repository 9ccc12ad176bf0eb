// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// URLs and options of etcd. Bad ones: one sentence each, without the password.
#include <pawl/error.hpp>
#include <pawl/etcd.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

namespace pawl::etcd {
namespace {

testing::AssertionResult refuses(const std::function<void()>& call, errc code,
                                 std::string_view words) {
    try {
        call();
    } catch (const error& failed) {
        const std::string_view sentence = failed.what();
        if (failed.reason() == code && sentence.find(words) != sentence.npos &&
            sentence.ends_with('.') && sentence.find("secret") == sentence.npos)
            return testing::AssertionSuccess();
        return testing::AssertionFailure() << failed.code().message() << ": " << sentence;
    }
    return testing::AssertionFailure() << "no error";
}

testing::AssertionResult refuses(std::string_view url, errc code, std::string_view words) {
    return refuses([&] { static_cast<void>(at(url)); }, code, words);
}

testing::AssertionResult refuses(const options& settings, errc code, std::string_view words) {
    return refuses([&] { static_cast<void>(at(settings)); }, code, words);
}

TEST(EtcdOptions, AUrlNamesTheMembers) {
    const auto settings = parse("etcds://u:secret@a,b:7,[::1]?namespace=shop&reply_timeout=1s");
    ASSERT_EQ(settings.servers.size(), 3U);
    EXPECT_EQ(settings.servers[0].port, 2379);
    EXPECT_EQ(settings.servers[1].port, 7);
    EXPECT_EQ(settings.servers[2].host, "::1");
    EXPECT_EQ(settings.user, "u");
    EXPECT_EQ(settings.password, "secret");
    EXPECT_TRUE(settings.tls.enabled);
    EXPECT_EQ(settings.reply_timeout, std::chrono::seconds(1));
    EXPECT_EQ(at(settings).describe(), "etcds://a:2379,b:7,[::1]:2379?namespace=shop");
}

TEST(EtcdOptions, ADescriptionHasWhatMakesLocksTheSame) {
    EXPECT_EQ(at("etcd://u:secret@db?connect_timeout=1s").describe(), "etcd://db:2379");
    EXPECT_EQ(at("etcd://db?layout=concurrency").describe(), "etcd://db:2379?layout=concurrency");
}

TEST(EtcdOptions, BadUrlsAreRefused) {
    EXPECT_TRUE(refuses("etcd://db/pawl", errc::bad_url, "namespace=NAME"));
    EXPECT_TRUE(refuses("etcd://db?layout=go", errc::bad_url, "layout=concurrency"));
    EXPECT_TRUE(refuses("etcd://db?namespace=", errc::bad_url, "is empty"));
    EXPECT_TRUE(refuses("etcd://db?password=secret", errc::bad_url, "'password' is unknown"));
    EXPECT_TRUE(refuses("etcd://db?reply_timeout=0", errc::bad_url, "reply_timeout"));
    EXPECT_TRUE(refuses("etcd://db?ca=ca.pem", errc::bad_option, "etcds://"));
    EXPECT_TRUE(refuses("etcd://:secret@db", errc::bad_option, "without a user"));
    EXPECT_TRUE(refuses("etcds://db?cert=a.pem", errc::bad_option, "cert_key"));
}

TEST(EtcdOptions, BadOptionsAreRefused) {
    EXPECT_TRUE(refuses(options{.servers = {}}, errc::bad_option, "1 to 16 members"));
    EXPECT_TRUE(refuses(options{.servers = {{.host = ""}}}, errc::bad_option, "a host and a port"));
    EXPECT_TRUE(refuses(options{.name_space = ""}, errc::bad_option, "1 to 64 characters"));
    EXPECT_TRUE(refuses(options{.name_space = "a\nb"}, errc::bad_option, "control characters"));
    EXPECT_TRUE(refuses(options{.connect_timeout = {}}, errc::bad_option, "above 0"));
    options two{.user = "u", .password = "secret"};
    two.credentials = [] { return login(); };
    EXPECT_TRUE(refuses(two, errc::bad_option, "password"));
}

}  // namespace
}  // namespace pawl::etcd
