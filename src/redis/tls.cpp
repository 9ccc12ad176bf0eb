#include "tls.hpp"

#include <pawl/error.hpp>

#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/system/system_error.hpp>

namespace ssl = boost::asio::ssl;

namespace pawl::redis {

ssl::context make_tls_context(const options& where) {
    ssl::context made(ssl::context::tls_client);
    if (!where.tls.on) return made;
    const auto use = [&made](const std::string& file, const char* what, auto member) {
        if (file.empty()) return;
        try {
            (made.*member)(file);
        } catch (const boost::system::system_error& e) {
            throw error(errc::bad_option, std::string("The ") + what + " '" + file +
                                              "' cannot be used: " + e.code().message() +
                                              "; give a readable PEM file.");
        }
    };
    made.set_options(ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
    if (where.tls.ca_file.empty()) made.set_default_verify_paths();
    using load = void (ssl::context::*)(const std::string&);
    use(where.tls.ca_file, "CA file", static_cast<load>(&ssl::context::load_verify_file));
    use(where.tls.cert_file, "certificate",
        static_cast<load>(&ssl::context::use_certificate_chain_file));
    if (!where.tls.key_file.empty()) {
        try {
            made.use_private_key_file(where.tls.key_file, ssl::context::pem);
        } catch (const boost::system::system_error& e) {
            throw error(errc::bad_option, "The key of the certificate cannot be used: " +
                                              e.code().message() + "; give a readable PEM file.");
        }
    }
    if (where.tls.verify) {
        made.set_verify_mode(ssl::verify_peer);
        made.set_verify_callback(ssl::host_name_verification(where.host));
    } else {
        made.set_verify_mode(ssl::verify_none);
    }
    return made;
}

void prepare_tls(SSL* stream, const options& where) {
    if (SSL_set_tlsext_host_name(stream, where.host.c_str()) != 1)
        throw error(errc::bad_option, "'" + where.host + "' cannot be named as a TLS host.");
}

}  // namespace pawl::redis
