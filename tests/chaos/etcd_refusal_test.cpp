// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// etcd with TLS, users and rights, and ports that are not etcd's for clients: one sentence each.
#include "etcd_fixture.hpp"

#include <support/certificates.hpp>
#include <support/redis_server.hpp>
#include <support/resp.hpp>
#include <support/temp_folder.hpp>

namespace {

using namespace chaos;

// The certificates of a server and of a user.
struct secured_files {
    secured_files() : authority(files.path().string()) {
        authority.issue("server");
        authority.issue("client");
        const support::certificate_authority other(files.path().string(), "other");
    }
    [[nodiscard]] std::string file(const std::string& name) const { return files.file(name); }
    [[nodiscard]] std::vector<std::string> server_arguments(bool wants_clients) const {
        std::vector<std::string> arguments{"--cert-file=" + file("server.crt"),
                                           "--key-file=" + file("server.key")};
        if (wants_clients) {
            arguments.push_back("--client-cert-auth");
            arguments.push_back("--trusted-ca-file=" + file("ca.crt"));
        }
        return arguments;
    }

    support::temp_folder files;
    support::certificate_authority authority;
};

TEST(EtcdTls, TheServerIsVerified) {
    const secured_files files;
    etcd_fixture fixture({.arguments = files.server_arguments(false)});
    const auto verified = fixture.cluster.url("?ca=" + files.file("ca.crt"));
    client locks = fixture.client_at(verified);
    etcd_fixture::expect_pair(locks, "it");
    EXPECT_TRUE(says(fixture.failure_at(fixture.cluster.url("?ca=" + files.file("other.crt"))),
                     errc::refused, "certificate"));
    const auto plain = "etcd://127.0.0.1:" + std::to_string(fixture.cluster.port());
    EXPECT_TRUE(says(fixture.failure_at(plain), errc::unreachable, "etcds in place of etcd"));
}

TEST(EtcdTls, AClientCertificateIsWanted) {
    const secured_files files;
    etcd_fixture fixture({.arguments = files.server_arguments(true)});
    const auto verified = fixture.cluster.url("?ca=" + files.file("ca.crt"));
    client locks = fixture.client_at(verified + "&cert=" + files.file("client.crt") +
                                     "&cert_key=" + files.file("client.key"));
    etcd_fixture::expect_pair(locks, "it");
    EXPECT_TRUE(says(fixture.failure_at(verified), errc::refused, "cert="));
}

// Users with passwords: root, and shop with the rights of the page.
struct guarded_cluster : etcd_fixture {
    guarded_cluster() {
        cluster.etcdctl({"user", "add", "root:open sesame"});
        cluster.etcdctl({"user", "grant-role", "root", "root"});
        cluster.etcdctl({"role", "add", "locks"});
        cluster.etcdctl(
            {"role", "grant-permission", "locks", "--prefix=true", "readwrite", "pawl/"});
        cluster.etcdctl({"user", "add", "shop:sesame"});
        cluster.etcdctl({"user", "grant-role", "shop", "locks"});
        cluster.etcdctl({"auth", "enable"});
        cluster.etcdctl_options = {"--user=root:open sesame"};
    }
    [[nodiscard]] std::string url(const std::string& user, const std::string& more = {}) const {
        return "etcd://" + user + "@127.0.0.1:" + std::to_string(cluster.port()) + more;
    }
};

TEST(EtcdUsers, TheLeastRightsAreEnough) {
    guarded_cluster fixture;
    client locks = fixture.client_at(fixture.url("shop:sesame"));
    client waiting = fixture.client_at(fixture.url("shop:sesame"));
    auto lock = locks.acquire("it", {.ttl = 3s, .wait = patience});
    auto next = std::async(std::launch::async,
                           [&] { return waiting.acquire("it", {.ttl = 3s, .wait = patience}); });
    ASSERT_TRUE(etcd_fixture::has_waiter(locks, "it"));
    EXPECT_TRUE(locks.list("").size() == 1);
    EXPECT_TRUE(locks.force_release("it"));
    EXPECT_GT(next.get().token(), lock.token());
    (void)locks.acquire("room", two_of_three).release();
    EXPECT_FALSE(locks.examine().findings.empty());
}

TEST(EtcdUsers, AMemberThatForgetsTheTokenGetsAnotherLogin) {
    guarded_cluster fixture;
    client locks = fixture.client_at(fixture.url("shop:sesame"));
    etcd_fixture::expect_pair(locks, "it");
    fixture.cluster.kill9(0);
    fixture.cluster.start(0);
    fixture.cluster.wait_until_ready(0);
    etcd_fixture::expect_pair(locks, "it");
}

TEST(EtcdUsers, WrongLoginsAreRefused) {
    guarded_cluster fixture;
    EXPECT_TRUE(says(fixture.failure_at(fixture.url("shop:open%20sesame")), errc::refused,
                     "does not accept this user and password"));
    EXPECT_TRUE(says(fixture.failure_at(fixture.cluster.url()), errc::refused,
                     "wants a user and a password"));
    EXPECT_TRUE(says(fixture.failure_at(fixture.url("shop:sesame", "?namespace=other")),
                     errc::refused, "refuses this user the keys"));
}

TEST(EtcdUsers, APasswordIsNotNeededWhereNobodyAsks) {
    etcd_fixture fixture;
    client locks =
        fixture.client_at("etcd://shop:sesame@127.0.0.1:" + std::to_string(fixture.cluster.port()));
    etcd_fixture::expect_pair(locks, "it");
}

TEST(EtcdStrangers, OtherPortsAreNamed) {
    const auto metrics = support::free_port();
    etcd_fixture fixture(
        {.arguments = {"--listen-metrics-urls=http://127.0.0.1:" + std::to_string(metrics)}});
    const auto at = [](std::uint16_t port) { return "etcd://127.0.0.1:" + std::to_string(port); };
    EXPECT_TRUE(says(fixture.failure_at(at(metrics)), errc::protocol,
                     "is not etcd's port for clients: it speaks HTTP/1.1"));
    const support::redis_server redis;
    EXPECT_TRUE(says(fixture.failure_at(at(redis.port())), errc::protocol,
                     "is not etcd's port for clients"));
    EXPECT_TRUE(says(fixture.failure_at(at(1)), errc::unreachable, "check host and port"));
    const auto with_tls = "etcds://127.0.0.1:" + std::to_string(fixture.cluster.port());
    EXPECT_TRUE(says(fixture.failure_at(with_tls), errc::unreachable, "etcd in place of etcds"));
    const auto too_short =
        fixture.failure_of([&] { (void)fixture.client_with().try_acquire("it", {.ttl = 1s}); });
    EXPECT_TRUE(says(too_short, errc::bad_option, "2 s"));
}

}  // namespace
