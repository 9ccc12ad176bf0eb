// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Certificates for one test, made by the program openssl.
#pragma once

#include <string>

namespace support {

struct certificate_options {
    std::string host_names = "IP:127.0.0.1,DNS:localhost";
    std::string valid_from{};   // "20200101000000Z"; empty: now
    std::string valid_until{};  // empty: in two days
    std::string pass_phrase{};  // of the private key; empty: it is not encrypted
};

// A CA with the files NAME.crt and NAME.key in the folder. Throws std::runtime_error when openssl
// fails.
class certificate_authority {
public:
    explicit certificate_authority(std::string folder, std::string name = "ca");
    // Makes OWNER.crt and OWNER.key in the same folder.
    void issue(const std::string& owner, const certificate_options& options = {}) const;

private:
    const std::string folder_;
    const std::string name_;
};

}  // namespace support
