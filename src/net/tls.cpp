// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "tls.hpp"

#include "option_values.hpp"

#include "../core/util/limited_file.hpp"

#include <pawl/error.hpp>

#include <boost/asio/ssl/error.hpp>
#include <boost/system/system_error.hpp>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <filesystem>
#include <memory>
#include <vector>

namespace ssl = boost::asio::ssl;

namespace pawl::net {
namespace {

// OpenSSL would wait for a FIFO, and read a device forever. A host's CA bundle has about 200 KB.
constexpr std::size_t longest_pem_file = 16 << 20;
// The system's folder has about 450, of which a third are certificates.
constexpr std::size_t max_folder_files = 1000;

int reason_of(const boost::system::error_code& failure) noexcept {
    return ERR_GET_REASON(static_cast<unsigned long>(failure.value()));
}

// The file has no PEM block of a certificate at all.
bool has_no_certificate(const boost::system::error_code& failure) noexcept {
    return reason_of(failure) == X509_R_NO_CERTIFICATE_OR_CRL_FOUND ||
           reason_of(failure) == PEM_R_NO_START_LINE;
}

error bad_file(const std::string& role, const std::string& file,
               const boost::system::error_code& failure) {
    return {errc::bad_option, "The " + role + " '" + file + "' cannot be used: " +
                                  failure.message() + "; give a readable PEM file."};
}

void load_ca_file(ssl::context& context, const std::string& file, const std::string& role,
                  boost::system::error_code& failure) {
    core::expect_regular_file(file, "The " + role, longest_pem_file);
    ERR_clear_error();
    context.load_verify_file(file, failure);
}

// Symbolic links are followed: secrets of a container are often mounted as such.
std::vector<std::string> files_in(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code failure;
    for (std::filesystem::directory_iterator at(folder, failure), end; !failure && at != end;
         at.increment(failure)) {
        std::error_code ignored;
        if (at->path().filename().string().starts_with('.') || at->is_directory(ignored)) continue;
        files.push_back(at->path().string());
        if (files.size() > max_folder_files)
            throw error(errc::bad_option, "The CA folder '" + folder + "' has more than " +
                                              std::to_string(max_folder_files) +
                                              " files; name a folder that has only the CAs.");
    }
    if (failure)
        throw error(errc::bad_option, "The CA folder '" + folder + "' cannot be read (" +
                                          failure.message() +
                                          "); name a folder that this user may read.");
    return files;
}

// Does not need the hashed names of OpenSSL's own folders.
void load_ca_folder(ssl::context& context, const std::string& folder) {
    bool has_certificate = false;
    for (const auto& each : files_in(folder)) {
        boost::system::error_code failure;
        load_ca_file(context, each, "CA file", failure);
        if (failure && !has_no_certificate(failure)) throw bad_file("CA file", each, failure);
        has_certificate = has_certificate || !failure;
    }
    if (!has_certificate)
        throw error(errc::bad_option, "The CA folder '" + folder +
                                          "' has no file with a certificate; put the CA's PEM "
                                          "file there, or name another folder.");
}

void load_ca(ssl::context& context, const std::string& path) {
    std::error_code ignored;
    if (path.empty()) {
        context.set_default_verify_paths();
    } else if (std::filesystem::is_directory(path, ignored)) {
        load_ca_folder(context, path);
    } else {
        boost::system::error_code failure;
        load_ca_file(context, path, "CA file", failure);
        if (failure) throw bad_file("CA file", path, failure);
    }
}

void load_certificate(ssl::context& context, const std::string& file) {
    core::expect_regular_file(file, "The certificate", longest_pem_file);
    boost::system::error_code failure;
    ERR_clear_error();
    context.use_certificate_chain_file(file, failure);
    if (failure) throw bad_file("certificate", file, failure);
}

// The pass phrase of a key, and whether OpenSSL has asked for it. The context keeps it, so it is
// cleared after use.
struct pass_phrase {
    std::string text;
    bool was_needed = false;

    void clear() noexcept {
        OPENSSL_cleanse(text.data(), text.size());
        text.clear();
    }
};

std::string pass_phrase_of(const tls_options& tls, const std::string& option_prefix) {
    if (tls.key_password_file.empty()) return tls.key_password;
    return read_secret_file(tls.key_password_file, "pass phrase",
                            option_prefix + "cert_key_password_file");
}

error bad_key(const tls_options& tls, const std::string& option_prefix,
              const boost::system::error_code& failure, const pass_phrase& secret) {
    if (reason_of(failure) == X509_R_KEY_VALUES_MISMATCH)
        return {errc::bad_option, "The key '" + tls.key_file +
                                      "' is not that of the certificate '" + tls.cert_file +
                                      "'; give the two files that belong together."};
    if (!secret.was_needed) return bad_file("key of the certificate", tls.key_file, failure);
    if (secret.text.empty())
        return {errc::bad_option, "The key '" + tls.key_file +
                                      "' is encrypted; give its pass "
                                      "phrase with " +
                                      option_prefix + "cert_key_password_file=FILE."};
    return {errc::bad_option,
            "The pass phrase does not decrypt the key '" + tls.key_file + "'; give the right one" +
                (tls.key_password_file.empty() ? "." : " in '" + tls.key_password_file + "'.")};
}

void load_key(ssl::context& context, const tls_options& tls, const std::string& option_prefix) {
    const auto secret = std::make_shared<pass_phrase>();
    secret->text = pass_phrase_of(tls, option_prefix);
    // Without this, OpenSSL would ask at the terminal.
    context.set_password_callback([secret](std::size_t, ssl::context::password_purpose) {
        secret->was_needed = true;
        return secret->text;
    });
    boost::system::error_code failure;
    ERR_clear_error();
    context.use_private_key_file(tls.key_file, ssl::context::pem, failure);
    if (failure) throw bad_key(tls, option_prefix, failure, *secret);
    secret->clear();
}

}  // namespace

ssl::context make_tls_context(const tls_options& tls, const std::string& option_prefix) {
    ssl::context context(ssl::context::tls_client);
    if (!tls.enabled) return context;
    context.set_options(ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
    load_ca(context, tls.ca_file);
    if (!tls.key_file.empty())
        core::expect_regular_file(tls.key_file, "The key of the certificate", longest_pem_file);
    if (!tls.cert_file.empty()) load_certificate(context, tls.cert_file);
    if (!tls.key_file.empty()) load_key(context, tls, option_prefix);
    context.set_verify_mode(tls.verify ? ssl::verify_peer : ssl::verify_none);
    return context;
}

namespace {

std::string holder_of(const certificate_problem& problem) {
    return problem.is_of_server ? "the server's certificate"
                                : "a CA in the chain of the server's certificate";
}

std::string untrusted_advice(const ended_tls& ended) {
    const auto option = "?" + ended.option_prefix + "ca=FILE";
    if (ended.problem.code == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT)
        return "is self-signed, and not one that is trusted; if it is the right server, name "
               "that certificate itself with " +
               option + " in the URL.";
    if (ended.tls.ca_file.empty())
        return "was signed by an unknown CA; name the CA that signed it with " + option +
               " in the URL.";
    return "was signed by an unknown CA: '" + ended.tls.ca_file +
           "' is not the certificate of the CA that signed it; give that one with " + option +
           " in the URL.";
}

error explain_certificate(const ended_tls& ended, const std::string& subject) {
    const auto& problem = ended.problem;
    const auto holder = subject + ": " + holder_of(problem) + " ";
    switch (problem.code) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
        return {errc::refused,
                subject + ": the server's certificate is not for '" + ended.server_name + "'" +
                    (problem.host_names.empty() ? "" : ", but for " + problem.host_names) +
                    "; write the host as the certificate names it, or give the name with ?" +
                    ended.option_prefix + "tls_name=NAME in the URL."};
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        return {errc::refused, subject + ": the server's certificate " + untrusted_advice(ended)};
    case X509_V_ERR_CERT_HAS_EXPIRED:
        return {errc::refused, holder + "has expired at " + problem.valid_until +
                                   "; renew it, or set the clock of this host."};
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return {errc::refused, holder + "is not valid before " + problem.valid_from +
                                   "; set the clock of this host, or give the server a "
                                   "certificate that is valid now."};
    default:
        return {errc::refused, holder + "is not valid (" +
                                   X509_verify_cert_error_string(problem.code) +
                                   "); give the server another one."};
    }
}

}  // namespace

std::optional<error> explain_tls(const boost::system::error_code& reason, const ended_tls& ended,
                                 const std::string& subject) {
    if (reason.category() != boost::asio::error::get_ssl_category()) return std::nullopt;
    const auto options =
        "?" + ended.option_prefix + "cert=FILE&" + ended.option_prefix + "cert_key=FILE";
    switch (reason_of(reason)) {
    case SSL_R_CERTIFICATE_VERIFY_FAILED: return explain_certificate(ended, subject);
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
        return error(errc::protocol, subject + ": this port does not speak TLS; write " +
                                         std::string(ended.without_tls) + " in place of " +
                                         std::string(ended.with_tls) +
                                         " in the URL, or give the server's TLS port.");
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
        return error(errc::refused, subject +
                                        ": the server says that the certificate of this client, '" +
                                        ended.tls.cert_file + "', has expired; renew it.");
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
        if (ended.tls.cert_file.empty())
            return error(errc::refused, subject +
                                            ": the server wants a certificate of this client; "
                                            "give one with " +
                                            options + " in the URL.");
        return error(errc::refused, subject +
                                        ": the server does not accept the certificate of this "
                                        "client, '" +
                                        ended.tls.cert_file +
                                        "'; give one that the server's CA has signed, with " +
                                        options + " in the URL.");
    default: return std::nullopt;
    }
}

void set_tls_host(SSL* stream, const std::string& server_name) {
    if (SSL_set_tlsext_host_name(stream, server_name.c_str()) != 1)
        throw error(errc::bad_option, "'" + server_name + "' cannot be named as a TLS host.");
}

tls_contexts::tls_contexts(tls_options tls, std::string option_prefix)
    : tls_(std::move(tls)), option_prefix_(std::move(option_prefix)) {}

std::shared_ptr<boost::asio::ssl::context> tls_contexts::make() {
    try {
        last_ = std::make_shared<boost::asio::ssl::context>(make_tls_context(tls_, option_prefix_));
        failure_.clear();
    } catch (const error& e) {
        if (!last_) throw;
        if (failure_ != e.what())
            notice_ = std::string(e.what()) + " The files that were read before are still used.";
        failure_ = e.what();
    }
    return last_;
}

std::string tls_contexts::take_notice() { return std::exchange(notice_, {}); }

}  // namespace pawl::net
