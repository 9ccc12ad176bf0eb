// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// TLS according to the settings. Unless `verify` is off, the certificate chain and the host name
// are verified.
#pragma once

#include "certificate_check.hpp"

#include <pawl/error.hpp>
#include <pawl/tls.hpp>

#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace pawl::net {

// Reads the files. `option_prefix` precedes the options' names in messages, for example
// "sentinel_". Throws errc::bad_option when a file cannot be used.
[[nodiscard]] boost::asio::ssl::context make_tls_context(const tls_options& tls,
                                                         const std::string& option_prefix);
// Sets the host's name for the handshake (SNI).
void set_tls_host(SSL* stream, const std::string& server_name);

// A TLS connection that has ended.
struct ended_tls {
    const tls_options& tls;
    const std::string& option_prefix;
    const std::string& server_name;  // the host's name in the server's certificate
    const certificate_problem& problem;
    // How the URL asks for no TLS, and for TLS: "redis" and "rediss".
    std::string_view without_tls, with_tls;
};

// Explains the end of a connection by TLS: a certificate, or a port without TLS. Nothing if TLS was
// not the cause. `subject` names the server.
[[nodiscard]] std::optional<error> explain_tls(const boost::system::error_code& reason,
                                               const ended_tls& ended, const std::string& subject);

}  // namespace pawl::net
