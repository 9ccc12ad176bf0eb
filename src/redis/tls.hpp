// TLS as the options ask for it: the chain and the host name are verified unless told otherwise.
#pragma once

#include <pawl/redis.hpp>

#include <boost/asio/ssl/context.hpp>

namespace pawl::redis {

// Throws errc::bad_option when a file cannot be used.
[[nodiscard]] boost::asio::ssl::context make_tls_context(const options& where);
// Names the host in the handshake.
void prepare_tls(SSL* stream, const options& where);

}  // namespace pawl::redis
