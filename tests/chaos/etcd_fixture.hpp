// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A private etcd cluster, and clients whose log is captured.
#pragma once

#include "database_fixture.hpp"

#include <support/etcd_server.hpp>

#include <algorithm>
#include <future>
#include <sstream>

namespace chaos {

struct etcd_fixture : logged_clients {
    explicit etcd_fixture(support::etcd_options options = {}) : cluster(std::move(options)) {}

    [[nodiscard]] client client_with(const std::string& suffix = {}) {
        return client_at(cluster.url(suffix));
    }
    // The failure of an acquire that would wait for long.
    [[nodiscard]] std::optional<failure> failure_at(const std::string& url) {
        client locks = client_at(url);
        return failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 5s}); });
    }
    static void expect_pair(client& locks, const std::string& name) {
        auto lock = locks.acquire(name, {.ttl = 5s, .wait = patience});
        EXPECT_TRUE(lock.token());
        EXPECT_EQ(lock.release(), release_result::released);
    }
    [[nodiscard]] static bool has_waiter(client& locks, const std::string& name) {
        return support::eventually([&] { return locks.inspect(name).waiters == 1; });
    }

    support::etcd_cluster cluster;
};

struct three_members : etcd_fixture {
    three_members() : etcd_fixture({.members = 3}) {}
};

// True: the URL's clients are refused so, with one sentence and without the password.
inline testing::AssertionResult says(const std::optional<failure>& failed, errc reason,
                                     std::string_view words) {
    if (!failed) return testing::AssertionFailure() << "no error";
    if (failed->reason != reason || failed->sentence.find(words) == std::string::npos ||
        failed->sentence.find("sesame") != std::string::npos || !failed->sentence.ends_with('.'))
        return testing::AssertionFailure() << failed;
    return testing::AssertionSuccess();
}

}  // namespace chaos
