// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A private server, Pawl in this process, and the peers.
#pragma once

#include "peer.hpp"

#include <support/eventually.hpp>
#include <support/redis_server.hpp>

#include <pawl/blocking.hpp>

#include <gtest/gtest.h>

#include <string>

namespace plain {

using namespace std::chrono_literals;

// For leases whose expiry must not free a lock, and for waits that must succeed.
inline constexpr pawl::duration long_ttl = 60s;
inline constexpr pawl::duration patience = 30s;
inline const std::string an_hour = " 3600000";

class library_fixture : public testing::TestWithParam<library> {
protected:
    [[nodiscard]] pawl::blocking::client own_client() {
        return pawl::blocking::client(pawl::from_url(url_of(GetParam(), {server.port()})));
    }
    [[nodiscard]] peer other_library() { return peer(GetParam(), {server.port()}); }
    [[nodiscard]] peer own_process() {
        return peer({"pawl", "", "", GetParam().key}, {server.port()});
    }
    [[nodiscard]] std::string key_of(std::string name) const {
        return std::string(GetParam().key).replace(GetParam().key.find("{name}"), 6, name);
    }
    [[nodiscard]] std::string value_of(const std::string& name) {
        return server.execute({"GET", key_of(name)}).text;
    }

    support::redis_server server;
};

}  // namespace plain
