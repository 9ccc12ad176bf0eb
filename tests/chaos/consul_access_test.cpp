// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Tokens, rights and TLS of Consul, and the sentences for those that are wrong.
#include <support/certificates.hpp>
#include <support/consul_server.hpp>
#include <support/temp_folder.hpp>

#include <pawl/blocking.hpp>
#include <pawl/consul.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>

#include <sys/stat.h>

namespace {

using namespace std::chrono_literals;
using support::consul_server;

constexpr pawl::try_options once{.ttl = 10s};

std::string message_of(const std::string& url) {
    pawl::blocking::client locks(pawl::consul::at(url), {.try_limit = 10s});
    try {
        return locks.try_acquire("it", once).owns_lock() ? "acquired" : "held";
    } catch (const pawl::error& failed) {
        return failed.what();
    }
}

void expect_message(const std::string& url, const std::string& part) {
    const auto message = message_of(url);
    EXPECT_NE(message.find(part), std::string::npos) << url << ": " << message;
}

// The secret of a new token with these rules.
std::string make_token(const consul_server& server, const std::string& name,
                       const std::string& rules) {
    server.run({"acl", "policy", "create", "-name", name, "-rules", rules});
    const auto printed = server.run({"acl", "token", "create", "-policy-name", name});
    const auto begin = printed.find("SecretID:") + 9;
    const auto first = printed.find_first_not_of(' ', begin);
    return printed.substr(first, printed.find('\n', first) - first);
}

TEST(ConsulAccess, TheLeastRightsAreEnoughAndLessHasASentence) {
    const consul_server server({.has_acl = true});
    const std::string sessions = "session_prefix \"\" { policy = \"write\" }";
    const std::string keys = "key_prefix \"pawl/\" { policy = \"write\" }";
    const auto token = make_token(server, "locks", keys + sessions);
    const auto url = "consul://:" + token + "@" + server.address();
    pawl::blocking::client locks(pawl::consul::at(url), {.try_limit = 10s});
    auto held = locks.acquire("it", {.ttl = 10s, .wait = 60s});
    EXPECT_TRUE(locks.inspect("it").held_by.has_value());
    EXPECT_EQ(locks.list("").size(), 1U);
    held.renew();
    EXPECT_EQ(message_of(url), "held");
    EXPECT_TRUE(locks.force_release("it"));
    EXPECT_FALSE(locks.examine().findings.empty());

    expect_message("consul://" + server.address(), "denies the permission");
    expect_message("consul://:nobody@" + server.address(), "does not know the token");
    expect_message(url + "?namespace=other", "denies the permission");
    const auto without_sessions = make_token(server, "keys", keys);
    expect_message("consul://:" + without_sessions + "@" + server.address(),
                   "denies the permission");
}

// A token that is deleted may be replaced in its file while the client runs.
TEST(ConsulAccess, ATokenFileIsReadAgain) {
    const consul_server server({.has_acl = true});
    const support::temp_folder folder;
    const auto path = folder.file("token");
    std::ofstream(path) << support::consul_root_token << '\n';
    ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
    pawl::blocking::client locks(
        pawl::consul::at("consul://" + server.address() + "?token_file=" + path),
        {.try_limit = 10s});
    EXPECT_TRUE(locks.try_acquire("it", once).owns_lock());
    std::ofstream(path) << "wrong\n";
    pawl::blocking::client other(
        pawl::consul::at("consul://" + server.address() + "?token_file=" + path),
        {.try_limit = 10s});
    EXPECT_THROW((void)other.try_acquire("it", once), pawl::error);
    std::ofstream(path) << support::consul_root_token << '\n';
    EXPECT_TRUE(other.try_acquire("it", once).owns_lock());
}

TEST(ConsulAccess, Tls) {
    const support::temp_folder folder;
    const support::certificate_authority authority(folder.path().string());
    authority.issue("server");
    const consul_server server({.ca_file = folder.file("ca.crt"),
                                .cert_file = folder.file("server.crt"),
                                .key_file = folder.file("server.key")});
    const auto secure = "consuls://127.0.0.1:" + std::to_string(server.https_port());
    EXPECT_EQ(message_of(secure + "?ca=" + folder.file("ca.crt")), "acquired");
    EXPECT_EQ(message_of(secure + "?verify=no"), "acquired");
    expect_message(secure, "certificate");
    expect_message(secure + "?tls_name=other&ca=" + folder.file("ca.crt"), "other");
    expect_message("consul://127.0.0.1:" + std::to_string(server.https_port()),
                   "write consuls in place of consul");
    expect_message("consuls://" + server.address(), "write consul in place of consuls");
}

}  // namespace
