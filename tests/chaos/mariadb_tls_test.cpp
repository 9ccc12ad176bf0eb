// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// TLS to MariaDB and MySQL: certificates are verified, and a server without TLS gets no password.
// MySQL's caching_sha2_password takes other ways with and without TLS.
#include "certificate_folder.hpp"
#include "mariadb_fixture.hpp"

#include <pawl/mysql.hpp>

namespace {

using namespace chaos;

std::vector<std::string> mysql_options_of(const certificate_folder& certificates) {
    const auto file = [&](const char* name) { return certificates.files.file(name); };
    return {"--ssl-ca=" + file("ca.crt"), "--ssl-cert=" + file("server.crt"),
            "--ssl-key=" + file("server.key")};
}

class MySqlTls : public testing::TestWithParam<support::database_product> {
protected:
    // An account with a password, that the server lets in only with TLS.
    static void prepare(mariadb_fixture& fixture) {
        fixture.server.execute("CREATE USER guarded IDENTIFIED BY 'open sesame' REQUIRE SSL");
        support::mariadb_client(fixture.server.port())
            .execute_script(pawl::mysql::schema_of({}, "guarded"));
    }
    static std::string url_for(const mariadb_fixture& fixture, const std::string& options) {
        return fixture.server.url("pawl", options, "guarded:open%20sesame");
    }
    static void expect_refused(mariadb_fixture& fixture, const std::string& options,
                               const std::string& words) {
        const auto failed = fixture.failure_at(url_for(fixture, options));
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, errc::refused) << failed;
        EXPECT_NE(failed->sentence.find(words), std::string::npos) << failed;
    }
};
INSTANTIATE_TEST_SUITE_P(On, MySqlTls, both_products, product_name);

// The password's first use finds no entry in the server's cache. A waiter's second connection has
// TLS, too.
TEST_P(MySqlTls, AVerifiedServerGetsThePassword) {
    const certificate_folder certificates("IP:127.0.0.1");
    mariadb_fixture fixture({.options = mysql_options_of(certificates), .product = GetParam()});
    prepare(fixture);
    const auto ca = "?tls=yes&ca=" + certificates.files.file("ca.crt");
    client locks = fixture.client_at(url_for(fixture, ca));
    client waiting = fixture.client_at(url_for(fixture, ca));
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    held_lock acquired;
    background_task waiter(
        [&] { acquired = waiting.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return fixture.waiters("it") == 1; }));
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_EQ(acquired.release(), release_result::released);
    expect_refused(fixture, "", "password");
}

TEST_P(MySqlTls, AnotherAuthorityOrAnotherNameIsRefused) {
    const certificate_folder certificates("DNS:db.example");
    mariadb_fixture fixture({.options = mysql_options_of(certificates), .product = GetParam()});
    prepare(fixture);
    const auto ca = "?tls=yes&ca=" + certificates.files.file("ca.crt");
    expect_refused(fixture, "?tls=yes&ca=" + certificates.files.file("other.crt"), "ca");
    expect_refused(fixture, ca, "tls_name");
    client locks = fixture.client_at(url_for(fixture, ca + "&tls_name=db.example"));
    fixture.expect_pairs(locks, "it", 1);
}

TEST_P(MySqlTls, AServerWithoutTlsIsRefused) {
    const bool is_mysql = GetParam() == support::database_product::mysql;
    mariadb_fixture fixture(
        {.options = {is_mysql ? "--tls-version=" : "--skip-ssl"}, .product = GetParam()});
    const certificate_folder certificates("IP:127.0.0.1");
    fixture.server.execute("CREATE USER guarded IDENTIFIED BY 'open sesame'");
    support::mariadb_client(fixture.server.port())
        .execute_script(pawl::mysql::schema_of({}, "guarded"));
    expect_refused(fixture, "?tls=yes&ca=" + certificates.files.file("ca.crt"), "TLS");
    // The password travels encrypted, with a key that MySQL sends.
    client locks = fixture.client_at(url_for(fixture, ""));
    fixture.expect_pairs(locks, "it", 1);
}

}  // namespace
