// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// TLS to PostgreSQL with libpq's parameters: certificates are verified, a server without TLS is
// refused, and a role may be known by its own certificate.
#include "certificate_folder.hpp"
#include "postgres_fixture.hpp"

#include <pawl/postgres.hpp>

namespace {

using namespace chaos;

support::postgres_options postgres_with(const certificate_folder& certificates) {
    const auto file = [&](const std::string& name) {
        return "'" + certificates.files.file(name) + "'";
    };
    return {
        .config = {"ssl = on", "ssl_ca_file = " + file("ca.crt"),
                   "ssl_cert_file = " + file("server.crt"), "ssl_key_file = " + file("server.key")},
        .access = {"hostssl all guarded 127.0.0.1/32 scram-sha-256",
                   "hostssl all shop 127.0.0.1/32 cert", "host all guarded 127.0.0.1/32 reject",
                   "host all shop 127.0.0.1/32 reject"}};
}

// Databases with TLS, and roles that need it.
struct tls_database {
    explicit tls_database(const std::string& host_names)
        : certificates(host_names), fixture(postgres_with(certificates)) {
        fixture.execute("CREATE ROLE guarded LOGIN PASSWORD 'open sesame'");
        fixture.execute("CREATE ROLE shop LOGIN");
        fixture.execute(pawl::postgres::schema_of({}, "guarded"));
        fixture.execute(pawl::postgres::schema_of({}, "shop"));
    }
    [[nodiscard]] std::string url(const std::string& options) const {
        return fixture.url_for("guarded:open%20sesame") + options;
    }
    [[nodiscard]] std::string verified_by(const std::string& ca) const {
        return "?sslmode=verify-full&sslrootcert=" + certificates.files.file(ca);
    }
    void expect_refused(const std::string& url, const std::string& words) {
        const auto failed = fixture.failure_at(url);
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, errc::refused) << failed;
        EXPECT_NE(failed->sentence.find(words), std::string::npos) << failed;
        EXPECT_EQ(failed->sentence.find("open sesame"), std::string::npos) << failed;
    }

    certificate_folder certificates;
    postgres_fixture fixture;
};

TEST(PostgresTls, AVerifiedServerGetsThePassword) {
    tls_database database("IP:127.0.0.1");
    auto& fixture = database.fixture;
    client locks = fixture.client_at(database.url(database.verified_by("ca.crt")));
    client waiting = fixture.client_at(database.url(database.verified_by("ca.crt")));
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    held_lock acquired;
    background_task waiter(
        [&] { acquired = waiting.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return fixture.waiters("it") == 1; }));
    EXPECT_EQ(fixture.number("SELECT count(*) FROM pg_stat_ssl s JOIN pg_stat_activity a "
                             "ON a.pid = s.pid WHERE a.usename = 'guarded' AND s.ssl"),
              2);
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_EQ(acquired.release(), release_result::released);
    database.expect_refused(database.url("?sslmode=disable"), "pg_hba.conf");
}

TEST(PostgresTls, AnotherAuthorityOrAnotherNameIsRefused) {
    tls_database database("DNS:db.example");
    database.expect_refused(database.url(database.verified_by("other.crt")), "sslrootcert");
    database.expect_refused(database.url(database.verified_by("ca.crt")), "sslmode");
    const auto by_address = "&host=db.example&hostaddr=127.0.0.1";
    client locks =
        database.fixture.client_at(database.url(database.verified_by("ca.crt") + by_address));
    database.fixture.expect_pairs(locks, "it", 1);
}

TEST(PostgresTls, ARoleMayBeKnownByItsCertificate) {
    tls_database database("IP:127.0.0.1");
    database.certificates.authority.issue("shop");
    const auto url = database.fixture.url_for("shop") + database.verified_by("ca.crt");
    const auto& files = database.certificates.files;
    database.expect_refused(url + "&sslcert=" + files.file("none.crt"), "certificate");
    client locks = database.fixture.client_at(url + "&sslcert=" + files.file("shop.crt") +
                                              "&sslkey=" + files.file("shop.key"));
    database.fixture.expect_pairs(locks, "it", 1);
}

TEST(PostgresTls, AServerWithoutTlsIsRefused) {
    postgres_fixture fixture;
    const auto failed = fixture.failure_at(fixture.url_with("?sslmode=require"));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed;
    EXPECT_NE(failed->sentence.find("set ssl = on in the server"), std::string::npos) << failed;
}

}  // namespace
