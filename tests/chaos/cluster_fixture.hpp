// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Clients of real clusters, with their log.
#pragma once

#include "redis_fixture.hpp"

#include <support/cluster_group.hpp>

namespace chaos {

using support::cluster_group;
using support::slot_move;

class cluster_fixture : public testing::Test {
protected:
    [[nodiscard]] client client_at(const std::string& url) {
        pawl::client_options options;
        options.log = [this](std::string_view line) { client_log.write(line); };
        return client(pawl::from_url(url), options);
    }
    [[nodiscard]] std::optional<failure> failure_at(const std::string& url,
                                                    pawl::duration wait = 4s) {
        try {
            client locks = client_at(url);
            (void)locks.acquire("it", {.ttl = 2s, .wait = wait});
        } catch (const pawl::error& e) {
            client_log.write(e.what());
            return failure{e.reason(), e.what()};
        }
        return std::nullopt;
    }
    static std::uint64_t epoch_of(const held_lock& lock) { return lock.token().value() >> 47; }
    static std::string key_of(const std::string& name) { return "pawl:{" + name + "}"; }

    log_capture client_log;
};

}  // namespace chaos
