// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The certificates of a database server, which may read its key, and another CA.
#pragma once

#include <support/certificates.hpp>
#include <support/server_user.hpp>
#include <support/temp_folder.hpp>

#include <string>

namespace chaos {

struct certificate_folder {
    explicit certificate_folder(const std::string& host_names) : authority(files.path().string()) {
        authority.issue("server", {.host_names = host_names});
        const support::certificate_authority other(files.path().string(), "other");
        support::give_to_server_user(files.path());
    }

    support::temp_folder files;  // ca.crt, other.crt, server.crt, server.key
    support::certificate_authority authority;
};

}  // namespace chaos
