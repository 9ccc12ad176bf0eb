// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// TLS: certificates that are refused, each with one sentence, names for nodes known by address, CA
// folders and encrypted keys.
#include "redis_fixture.hpp"

#include <support/certificates.hpp>
#include <support/sentinel_group.hpp>
#include <support/temp_folder.hpp>

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace {

using namespace chaos;
using support::redis_server;
using testing::HasSubstr;

std::string file_of(const redis_server& server, const std::string& name) {
    return server.folder().file(name);
}

std::string ca_option(const redis_server& server) { return "?ca=" + file_of(server, "ca.crt"); }

void write_secret(const std::string& path, const std::string& secret) {
    std::ofstream(path) << secret << "\n";
    std::filesystem::permissions(path, std::filesystem::perms(0600));
}

bool works(const std::string& url) {
    client locks(pawl::redis::at(url));
    return locks.acquire("it", {.ttl = 2s, .wait = patience}).owns_lock();
}

// Fails at once, whatever its wait is.
void expect_sentence(const std::string& url, errc reason, const std::string& part,
                     pawl::duration longest = pawl::forever) {
    client locks(pawl::redis::at(url));
    for (const auto wait : {pawl::duration(0s), longest}) {
        try {
            (void)locks.acquire("it", {.ttl = 2s, .wait = wait});
            ADD_FAILURE() << url;
        } catch (const pawl::error& e) {
            EXPECT_EQ(e.reason(), reason) << e.what();
            EXPECT_THAT(e.what(), HasSubstr(part));
        }
    }
}

TEST(TlsSentences, OfAnUnknownSigner) {
    const redis_server server({.tls = true});
    expect_sentence(server.url(), errc::refused, "was signed by an unknown CA; name the CA");
    expect_sentence(server.url("?ca=" + file_of(server, "other-ca.crt")), errc::refused,
                    "other-ca.crt' is not the certificate of the CA");
}

TEST(TlsSentences, OfASelfSignedCertificate) {
    const redis_server server(
        {.config = {"tls-cert-file ca.crt", "tls-key-file ca.key"}, .tls = true});
    expect_sentence(server.url(), errc::refused, "certificate is self-signed");
    expect_sentence(server.url(), errc::refused, "?ca=FILE");
}

TEST(TlsSentences, OfAnExpiredCertificate) {
    const redis_server server(
        {.tls = true,
         .certificate = {.valid_from = "20200101000000Z", .valid_until = "20200201123000Z"}});
    expect_sentence(server.url(ca_option(server)), errc::refused,
                    "the server's certificate has expired at 2020-02-01 12:30 UTC; renew it");
}

TEST(TlsSentences, OfACertificateThatIsNotValidYet) {
    const redis_server server(
        {.tls = true,
         .certificate = {.valid_from = "20700101000000Z", .valid_until = "20710101000000Z"}});
    expect_sentence(server.url(ca_option(server)), errc::refused,
                    "is not valid before 2070-01-01 00:00 UTC; set the clock of this host");
}

TEST(TlsSentences, OfAnotherHost) {
    const redis_server server({.tls = true, .certificate = {.host_names = "DNS:db1,IP:10.0.0.1"}});
    expect_sentence(server.url(ca_option(server)), errc::refused,
                    "is not for '127.0.0.1', but for db1, 10.0.0.1; write the host");
    expect_sentence(server.url(ca_option(server) + "&tls_name=db2"), errc::refused,
                    "is not for 'db2'");
    EXPECT_TRUE(works(server.url(ca_option(server) + "&tls_name=db1")));
    EXPECT_TRUE(works(server.url(ca_option(server) + "&tls_name=10.0.0.1")));
}

TEST(TlsSentences, OfAMissingClientCertificate) {
    const redis_server server({.tls = true, .client_certificates = true});
    expect_sentence(server.url(ca_option(server)), errc::refused,
                    "the server wants a certificate of this client; give one with "
                    "?cert=FILE&cert_key=FILE");
}

TEST(TlsSentences, OfAClientCertificateThatTheServerDoesNotAccept) {
    const redis_server server({.tls = true, .client_certificates = true});
    const support::certificate_authority other(server.folder().path(), "third-ca");
    other.issue("foreign");
    const auto url = server.url(ca_option(server) + "&cert=" + file_of(server, "foreign.crt") +
                                "&cert_key=" + file_of(server, "foreign.key"));
    expect_sentence(url, errc::refused,
                    "the server does not accept the certificate of this client");
}

TEST(TlsSentences, OfAnExpiredClientCertificate) {
    const redis_server server({.tls = true, .client_certificates = true});
    const support::certificate_authority other(server.folder().path());  // replaces ca.crt
    other.issue("client", {.valid_from = "20200101000000Z", .valid_until = "20200201000000Z"});
    other.issue("server");
    redis_server renewed({.tls = true,
                          .client_certificates = true,
                          .certificates = server.folder().path().string()});
    const auto url = renewed.url(ca_option(server) + "&cert=" + file_of(server, "client.crt") +
                                 "&cert_key=" + file_of(server, "client.key"));
    expect_sentence(url, errc::refused, "client.crt', has expired; renew it");
}

TEST(TlsSentences, OfATlsPortWithoutTls) {
    const redis_server server({.tls = true});
    // The server closes without a byte, as a proxy does whose server is down: a wait continues.
    expect_sentence("redis://127.0.0.1:" + std::to_string(server.port()), errc::unreachable,
                    "a TLS port wants rediss in place of redis", 1500ms);
}

// A Redis takes the handshake for the beginning of a line: it is silent, or replies that the line
// is invalid.
TEST(TlsSentences, OfAPlainPortWithTls) {
    const redis_server plain;
    const auto url = "rediss://127.0.0.1:" + std::to_string(plain.port());
    for (int i = 0; i < 3; ++i) {
        client locks(pawl::redis::at(url + "?connect_timeout=300&reply_timeout=300"));
        try {
            (void)locks.acquire("it", {.ttl = 2s, .wait = 500ms});
            ADD_FAILURE() << url;
        } catch (const pawl::error& e) {
            EXPECT_TRUE(e.reason() == errc::unreachable || e.reason() == errc::protocol)
                << e.what();
            EXPECT_THAT(e.what(), HasSubstr("redis in place of rediss"));
        }
    }
}

class CaFolder : public testing::Test {
protected:
    CaFolder() { std::filesystem::create_directory(folder); }

    void add(const std::string& file, const std::string& as) {
        std::filesystem::copy_file(file_of(server, file), folder + "/" + as);
    }

    redis_server server{{.tls = true}};
    const std::string folder = file_of(server, "cas");
    const std::string url = server.url("?ca=" + folder);
};

TEST_F(CaFolder, HasTheCaAmongOtherFiles) {
    add("other-ca.crt", "a.pem");
    std::ofstream(folder + "/README") << "no certificate\n";
    std::filesystem::create_directory(folder + "/older");
    expect_sentence(url, errc::refused, "'" + folder + "' is not the certificate of the CA");
    // As the secrets of a container are mounted.
    std::filesystem::create_symlink(file_of(server, "ca.crt"), folder + "/b.crt");
    EXPECT_TRUE(works(url));
}

TEST_F(CaFolder, WithoutCertificatesIsRefused) {
    const auto sentence = "The CA folder '" + folder + "' has no file with a certificate; put";
    expect_sentence(url, errc::bad_option, sentence);
    std::ofstream(folder + "/README") << "no certificate\n";
    add("ca.crt", ".hidden");
    expect_sentence(url, errc::bad_option, sentence);
}

TEST_F(CaFolder, WithADamagedFileIsRefused) {
    add("ca.crt", "a.crt");
    std::ofstream(folder + "/b.crt")
        << "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
    expect_sentence(url, errc::bad_option, "The CA file '" + folder + "/b.crt' cannot be used");
}

TEST_F(CaFolder, WithTooManyFilesIsRefused) {
    for (int i = 0; i <= 1000; ++i)
        std::ofstream(folder + "/" + std::to_string(i)).flush();
    expect_sentence(url, errc::bad_option, "has more than 1000 files; name a folder that has only");
}

class EncryptedKey : public testing::Test {
protected:
    EncryptedKey() {
        const support::certificate_authority ca(server.folder().path());  // replaces ca.crt
        ca.issue("server");
        ca.issue("client", {.pass_phrase = "open-sesame"});
        strict.emplace(support::redis_options{.tls = true,
                                              .client_certificates = true,
                                              .certificates = server.folder().path().string()});
    }
    std::string url(const std::string& more) const {
        return strict->url(ca_option(server) + "&cert=" + file_of(server, "client.crt") +
                           "&cert_key=" + file_of(server, "client.key") + more);
    }

    redis_server server{{.tls = true}};
    std::optional<redis_server> strict;
    const std::string file = file_of(server, "phrase");
};

TEST_F(EncryptedKey, OpensWithItsPassPhrase) {
    write_secret(file, "open-sesame");
    EXPECT_TRUE(works(url("&cert_key_password_file=" + file)));
    ::setenv("PAWL_CHAOS_PHRASE", "open-sesame", 1);
    EXPECT_TRUE(works(url("&cert_key_password_env=PAWL_CHAOS_PHRASE")));
    ::unsetenv("PAWL_CHAOS_PHRASE");
}

// Without the library's own question for the pass phrase, openssl would ask at the terminal.
TEST_F(EncryptedKey, WithoutThePassPhraseIsRefused) {
    expect_sentence(url(""), errc::bad_option,
                    "client.key' is encrypted; give its pass phrase with "
                    "cert_key_password_file=FILE.");
}

TEST_F(EncryptedKey, WithAWrongPassPhraseIsRefused) {
    write_secret(file, "open-barley");
    expect_sentence(url("&cert_key_password_file=" + file), errc::bad_option,
                    "client.key'; give the right one in '" + file + "'.");
    std::filesystem::permissions(file, std::filesystem::perms(0644));
    expect_sentence(url("&cert_key_password_file=" + file), errc::bad_option,
                    "Everybody may read the pass phrase file '" + file + "'; run: chmod o-r");
    expect_sentence(url("&cert_key_password_file=/no/such"), errc::bad_option,
                    "The pass phrase file '/no/such' cannot be read");
}

// Sentinels name servers by address, and the certificates have names.
TEST(TlsOfSentinels, TakesTheNamesFromTheUrl) {
    const support::temp_folder folder;
    const support::certificate_authority ca(folder.path());
    ca.issue("server", {.host_names = "DNS:db.example"});
    support::sentinel_group group({.replicas = 1, .certificates = folder.path().string()});
    const auto url = group.url("?ca=" + folder.file("ca.crt"));
    const auto sentence_at = [](const std::string& at) {
        client locks(pawl::redis::at(at));
        try {
            (void)locks.acquire("it", {.ttl = 2s, .wait = 2s});
        } catch (const pawl::error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    EXPECT_THAT(sentence_at(url + "&tls_name=db.example"),
                HasSubstr("the server's certificate is not for '127.0.0.1', but for db.example"));
    EXPECT_THAT(sentence_at(url + "&sentinel_tls_name=db.example"),
                HasSubstr("tls_name=NAME in the URL"));
    const auto both = url + "&tls_name=db.example&sentinel_tls_name=db.example";
    client locks(pawl::redis::at(both));
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    ASSERT_TRUE(group.is_replicated());
    const auto port = group.master_port();
    group.begin_failover();
    ASSERT_TRUE(group.eventually_moved_from(port));
    // A release within the switch may be `unknown`.
    const auto is_at_new_master = [&] {
        return locks.acquire("other", {.ttl = 2s, .wait = patience}).token().value() >> 47 != 0;
    };
    ASSERT_TRUE(eventually(is_at_new_master));
    EXPECT_EQ(lock.release(), release_result::released);
}

}  // namespace
