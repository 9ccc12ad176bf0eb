// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The verification of a server's certificate, with a record of the problem for the message.
#pragma once

#include <boost/asio/ssl/verify_context.hpp>

#include <openssl/x509.h>

#include <memory>
#include <string>

namespace pawl::net {

struct certificate_problem {
    int code = X509_V_OK;      // as of X509_STORE_CTX_get_error
    bool is_of_server = true;  // otherwise of a CA that signed
    std::string valid_from{};  // "2026-11-20 12:00 UTC"
    std::string valid_until{};
    std::string host_names{};  // some of those that the certificate is for: "db1, 10.0.0.1"
};

// For `set_verify_callback` of a stream. Checks the chain and the host's name.
class certificate_check {
public:
    // `server_name`: the host's name in the certificate.
    certificate_check(std::string server_name, std::shared_ptr<certificate_problem> problem);
    bool operator()(bool is_preverified, boost::asio::ssl::verify_context& verification) const;

private:
    const std::string server_name_;
    const std::shared_ptr<certificate_problem> problem_;
};

}  // namespace pawl::net
