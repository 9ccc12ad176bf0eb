// TLS as the options ask for it: the chain and the host name are verified unless told otherwise.
#pragma once

#include <pawl/redis.hpp>

#include <pawl/error.hpp>

#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>

#include <optional>
#include <string>

namespace pawl::redis {

// Throws errc::bad_option when a file cannot be used.
[[nodiscard]] boost::asio::ssl::context make_tls_context(const options& where);
// Names the host in the handshake.
void prepare_tls(SSL* stream, const options& where);

// What ended the connection, where it was TLS: a certificate, or a port that does not speak it.
// Empty where it was something else. `about` names the server.
[[nodiscard]] std::optional<error> explain_tls(const boost::system::error_code& why, SSL* stream,
                                               const options& where, const std::string& about);

}  // namespace pawl::redis
