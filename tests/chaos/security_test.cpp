// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Passwords, permissions, TLS, and secrets that must not be written down.
#include "redis_fixture.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

using namespace chaos;

const std::string secret = "Tr0ub4dor-and-3-h0rses";

class Passwords : public testing::Test, protected redis_fixture {
protected:
    Passwords()
        : redis_fixture(
              {.config = {"requirepass " + secret,
                          "user worker on >" + secret + "-of-worker ~pawl:* &pawl:* +@all",
                          "user reader on >" + secret +
                              "-of-reader ~pawl:* &pawl:* +@read +@connection"},
               .password = secret}) {}
    std::string url_with(const std::string& credentials) {
        return "redis://" + credentials + "@127.0.0.1:" + std::to_string(proxy.port());
    }
    errc reason_at(const std::string& url) {
        client locks = client_at(url);
        const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
        return failed ? failed->reason : errc{};
    }
};

TEST_F(Passwords, TheRightOnesOpen) {
    for (const std::string& user :
         {":" + secret, "default:" + secret, "worker:" + secret + "-of-worker"}) {
        client locks = client_at(url_with(user));
        auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
        EXPECT_EQ(lock.release(), release_result::released) << user;
    }
    EXPECT_TRUE(becomes_clean());
}

TEST_F(Passwords, TheWrongOnesAreRefused) {
    EXPECT_EQ(reason_at(proxy.url()), errc::refused);
    EXPECT_EQ(reason_at(url_with(":wrong-" + secret)), errc::refused);
    EXPECT_EQ(reason_at(url_with("nobody:" + secret)), errc::refused);
    EXPECT_EQ(reason_at(url_with("worker:" + secret)), errc::refused);
}

TEST_F(Passwords, MissingPermissionsAreRefused) {
    EXPECT_EQ(reason_at(url_with("reader:" + secret + "-of-reader")), errc::refused);
    EXPECT_EQ(reason_at(url_with("worker:" + secret + "-of-worker") + "?namespace=else"),
              errc::refused);
    EXPECT_TRUE(becomes_clean());
}

// A permission that is revoked while a lock is held: the loss is reported in time.
TEST_F(Passwords, PermissionsThatAreTakenAwayCostTheLockInTime) {
    client locks = client_at(url_with("worker:" + secret + "-of-worker"));
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const loss_recorder loss(lock);
    const auto before = boot_clock::now();
    (void)server.execute({"ACL", "SETUSER", "worker", "-@all", "+@connection"});
    ASSERT_TRUE(loss.is_told_within(5s));
    EXPECT_LE(loss.told_at(), before + 2s);
}

// Every log line and every error message, of successes, failures, reconnects and refreshes, with
// the secret in the URL.
TEST_F(Passwords, AppearInNoLogAndNoSentence) {
    const std::string wrong = "wrong-" + secret;
    for (const std::string& url :
         {url_with(":" + secret), url_with("worker:" + secret + "-of-worker"),
          url_with(":" + wrong), url_with("nobody:" + wrong), url_with(":" + wrong) + "/99",
          url_with("reader:" + secret + "-of-reader")}) {
        client_log.write(pawl::redis::at(url).describe());
        client locks = client_at(url);
        (void)failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
        (void)failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 300ms}); });
        (void)failure_of([&] { (void)locks.inspect("it"); });
        (void)failure_of([&] {
            for (const auto& each : locks.examine().findings)
                client_log.write(each.topic + each.fact + each.advice);
        });
        proxy.kill_connections();
        (void)failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 300ms}); });
        proxy.refuse(true);
        proxy.kill_connections();
        (void)failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 300ms}); });
        proxy.refuse(false);
    }
    for (const std::string& bad :
         {url_with(":" + secret) + "/nodb", url_with(":" + secret) + "?nonsense=1",
          "redis://:" + secret + "@:0x", "redis://:" + secret + "@127.0.0.1:99999",
          "rediss+x://:" + secret + "@h",
          "redis://:" + secret + "@127.0.0.1:1?reply_timeout=" + "soon"})
        EXPECT_TRUE(failure_of([&] { (void)pawl::redis::at(bad); }).has_value()) << bad;
    EXPECT_FALSE(client_log.text().empty());
    EXPECT_EQ(client_log.text().find(secret), std::string::npos) << client_log.text();
}

TEST_F(Passwords, ComeFromAFileOrTheEnvironment) {
    const std::string file = server.folder().file("password");
    std::ofstream(file) << secret << "\n";
    std::filesystem::permissions(file, std::filesystem::perms(0600));
    ::setenv("PAWL_CHAOS_PASSWORD", secret.c_str(), 1);
    for (const std::string& suffix :
         {"?password_file=" + file, std::string("?password_env=PAWL_CHAOS_PASSWORD")}) {
        client locks = client_at(proxy.url(suffix));
        EXPECT_TRUE(locks.try_acquire("it", {.ttl = 2s}).owns_lock()) << suffix;
        EXPECT_TRUE(becomes_clean());
    }
    EXPECT_EQ(failure_of([&] {
                  (void)pawl::redis::at(
                      proxy.url("?password_env=PAWL_CHAOS_PASSWORD&password_file=" + file));
              })->reason,
              errc::bad_option);
    ::unsetenv("PAWL_CHAOS_PASSWORD");
    EXPECT_TRUE(
        failure_of([&] { (void)pawl::redis::at(proxy.url("?password_env=PAWL_CHAOS_PASSWORD")); }));
    EXPECT_TRUE(
        failure_of([&] { (void)pawl::redis::at(proxy.url("?password_file=/nowhere/at/all")); }));
}

class Tls : public testing::Test {
protected:
    std::string file(const std::string& name) { return server.folder().file(name); }
    std::optional<pawl::errc> reason_at(const std::string& url) {
        try {
            client locks(pawl::redis::at(url));
            (void)locks.acquire("it", {.ttl = 2s, .wait = 3s});
        } catch (const pawl::error& thrown) {
            return thrown.reason();
        }
        return std::nullopt;
    }

    support::redis_server server{{.tls = true, .client_certificates = true}};
};

TEST_F(Tls, WorksWithTheRightCertificates) {
    const std::string all =
        "?ca=" + file("ca.crt") + "&cert=" + file("client.crt") + "&cert_key=" + file("client.key");
    EXPECT_EQ(reason_at(server.url(all)), std::nullopt);
    client locks(pawl::redis::at(server.url(all)));
    auto lock = locks.acquire("it", {.ttl = 1s, .wait = patience});
    const auto before = lock.safe_until();
    EXPECT_TRUE(eventually([&] { return lock.safe_until() > before; }));
    EXPECT_EQ(lock.release(), release_result::released);
}

TEST_F(Tls, TrustsNobodyElse) {
    const std::string own_options =
        "&cert=" + file("client.crt") + "&cert_key=" + file("client.key");
    const std::string short_wait = "&connect_timeout=1000";
    EXPECT_NE(reason_at(server.url("?ca=" + file("other-ca.crt") + own_options + short_wait)),
              std::nullopt);
    EXPECT_NE(reason_at(server.url("?verify=yes" + own_options + short_wait)), std::nullopt);
    EXPECT_NE(reason_at(server.url("?ca=" + file("ca.crt") + short_wait)), std::nullopt);
    const std::string plain = "redis://127.0.0.1:" + std::to_string(server.port());
    EXPECT_NE(reason_at(plain + "?connect_timeout=1000"), std::nullopt);
    EXPECT_EQ(reason_at(server.url("?verify=no" + own_options)), std::nullopt);
}

}  // namespace
