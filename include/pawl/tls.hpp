// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How a client connects with TLS, for every service over the network. The function that makes a
// service checks it. A plain value: do not change an object while another thread reads it.
#pragma once

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "Pawl needs C++20: compile with -std=c++20"
#endif

#include <string>

namespace pawl {

// Without `enabled`, the others must keep their defaults. Files are in PEM format, and are read
// again for each new connection. If one cannot be used then, the connection is made with what was
// read before, and a line is logged.
struct tls_options {
    bool enabled = false;     // connects with TLS
    bool verify = true;       // checks the server's certificate chain and host name
    std::string ca_file{};    // the CAs to trust: a file, or a folder of files; empty: the system's
    std::string cert_file{};  // a client certificate; needs `key_file`
    std::string key_file{};   // its private key
    std::string name{};       // the name in the server's certificate; empty: the host
    // The pass phrase of the private key: itself, or a regular file whose first line it is. Not
    // readable by everybody, unless the file is mounted read-only.
    std::string key_password{};
    std::string key_password_file{};
};

}  // namespace pawl
