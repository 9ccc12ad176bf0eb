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

#include <memory>
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

// The certificates and keys for new connections. Files may be replaced while a client runs.
// Used on one strand. All links of a client share one.
class tls_contexts {
public:
    // `option_prefix` precedes the options' names in messages.
    explicit tls_contexts(tls_options tls = {}, std::string option_prefix = {});

    // Reads the files. If one of them cannot be used, for example because it is being written,
    // returns the last context that could be made. Throws errc::bad_option if there is none.
    [[nodiscard]] std::shared_ptr<boost::asio::ssl::context> make();
    // For the log: why the last context is used. Once for each such reason, otherwise empty.
    [[nodiscard]] std::string take_notice();
    [[nodiscard]] const std::string& option_prefix() const noexcept { return option_prefix_; }

private:
    const tls_options tls_;
    const std::string option_prefix_;
    std::shared_ptr<boost::asio::ssl::context> last_;
    std::string failure_;
    std::string notice_;
};

}  // namespace pawl::net
