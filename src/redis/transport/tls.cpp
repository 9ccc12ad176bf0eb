// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "tls.hpp"

#include "core/util/limited_file.hpp"

#include <pawl/error.hpp>

#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/system/system_error.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace ssl = boost::asio::ssl;

namespace pawl::redis {
namespace {

// OpenSSL would wait for a FIFO, and read a device forever. A host's CA bundle has about 200 KB.
constexpr std::size_t longest_pem_file = 16 << 20;

void expect_regular_files(const tls_options& tls) {
    core::expect_regular_file(tls.ca_file, "The CA file", longest_pem_file);
    core::expect_regular_file(tls.cert_file, "The certificate", longest_pem_file);
    core::expect_regular_file(tls.key_file, "The key of the certificate", longest_pem_file);
}

void use_private_key(ssl::context& context, const tls_options& tls) {
    try {
        context.use_private_key_file(tls.key_file, ssl::context::pem);
    } catch (const boost::system::system_error& e) {
        if (ERR_GET_REASON(static_cast<unsigned long>(e.code().value())) ==
            X509_R_KEY_VALUES_MISMATCH)
            throw error(errc::bad_option, "The key '" + tls.key_file +
                                              "' is not that of the certificate '" + tls.cert_file +
                                              "'; give the two files that belong together.");
        throw error(errc::bad_option, "The key of the certificate cannot be used: " +
                                          e.code().message() + "; give a readable PEM file.");
    }
}

}  // namespace

ssl::context make_tls_context(const tls_options& tls, const std::string& server_name) {
    ssl::context context(ssl::context::tls_client);
    if (!tls.enabled) return context;
    expect_regular_files(tls);
    const auto load_file = [&context](const std::string& file, const char* file_role, auto member) {
        if (file.empty()) return;
        try {
            (context.*member)(file);
        } catch (const boost::system::system_error& e) {
            throw error(errc::bad_option, std::string("The ") + file_role + " '" + file +
                                              "' cannot be used: " + e.code().message() +
                                              "; give a readable PEM file.");
        }
    };
    context.set_options(ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
    if (tls.ca_file.empty()) context.set_default_verify_paths();
    using load = void (ssl::context::*)(const std::string&);
    load_file(tls.ca_file, "CA file", static_cast<load>(&ssl::context::load_verify_file));
    load_file(tls.cert_file, "certificate",
              static_cast<load>(&ssl::context::use_certificate_chain_file));
    if (!tls.key_file.empty()) use_private_key(context, tls);
    if (tls.verify) {
        context.set_verify_mode(ssl::verify_peer);
        context.set_verify_callback(ssl::host_name_verification(server_name));
    } else {
        context.set_verify_mode(ssl::verify_none);
    }
    return context;
}

namespace {

error explain_certificate(SSL* stream, const tls_options& tls, const std::string& server_name,
                          const std::string& subject) {
    const auto verify_result = SSL_get_verify_result(stream);
    // Asio's check of the host name sets no reason.
    if (verify_result == X509_V_OK || verify_result == X509_V_ERR_UNSPECIFIED ||
        verify_result == X509_V_ERR_HOSTNAME_MISMATCH)
        return {errc::refused, subject + ": the server's certificate is not for '" + server_name +
                                   "'; write the host as the certificate names it."};
    const std::string reason = X509_verify_cert_error_string(verify_result);
    switch (verify_result) {
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        return {errc::refused,
                subject + ": the server's certificate is not trusted (" + reason + "); " +
                    (tls.ca_file.empty()
                         ? "name the CA that signed it, or a self-signed certificate itself, with "
                           "?ca=FILE in the URL."
                         : "'" + tls.ca_file +
                               "' is not the certificate of the CA that signed it; give that one "
                               "with ?ca=FILE in the URL.")};
    default:
        return {errc::refused, subject + ": the server's certificate is not valid (" + reason +
                                   "); renew it, or set the clock of this host."};
    }
}

}  // namespace

std::optional<error> explain_tls(const boost::system::error_code& reason, SSL* stream,
                                 const tls_options& tls, const std::string& server_name,
                                 const std::string& subject) {
    if (reason.category() != boost::asio::error::get_ssl_category()) return std::nullopt;
    switch (ERR_GET_REASON(static_cast<unsigned long>(reason.value()))) {
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
        return explain_certificate(stream, tls, server_name, subject);
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
        return error(errc::protocol,
                     subject +
                         ": this port does not speak TLS; write redis:// in place of "
                         "rediss://, or give the server's TLS port.");
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
        return error(errc::refused,
                     subject +
                         ": the server wants another certificate of this client, or one at "
                         "all; give it with ?cert=FILE&cert_key=FILE in the URL.");
    default: return std::nullopt;
    }
}

void set_tls_host(SSL* stream, const std::string& server_name) {
    if (SSL_set_tlsext_host_name(stream, server_name.c_str()) != 1)
        throw error(errc::bad_option, "'" + server_name + "' cannot be named as a TLS host.");
}

}  // namespace pawl::redis
