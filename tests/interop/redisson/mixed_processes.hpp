// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One or more servers, and processes of both kinds that share locks there.
#pragma once

#include "peer.hpp"

#include <support/cluster_group.hpp>
#include <support/redis_server.hpp>
#include <support/redlock_group.hpp>
#include <support/sentinel_group.hpp>

#include <pawl/blocking.hpp>

#include <conformance/process.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace interop {

using namespace std::chrono_literals;

// One process of Java's or of Pawl's; in the diagrams of the tests J is one of Java's, P one of
// Pawl's. Both take the same commands, except those marked "Pawl":
//
//   lock NAME [COUNT]           waits; COUNT permits of a semaphore -> held TOKEN NS
//   try NAME                    tries once, not for semaphores      -> held | busy
//   unlock NAME                                                     -> unlocked NS
//   see NAME                    of a semaphore                      -> seen FREE TOTAL
//                               of another object     -> seen HELD REMAINING_MS COUNT [HOLDERS]
//   force NAME                  a forced release                    -> forced true | forced false
//   contend, storm, calm        see Crowd.java, storm.hpp
//   latch_…                     see latch_peer.cpp
//   lost NAME                   Pawl                                -> yes | no
//   downgrade NAME              Pawl: acquires, then downgrades     -> held TOKEN
//   end NAME                    Pawl: releases a downgraded hold    -> its release_result
//   pushes                      Pawl: its statistics                -> pushes N
//
// NS is the boot clock, in `held` after the acquire and in `unlocked` before the release. TOKEN is
// 0 without a token, TOTAL and HOLDERS are missing where Java has none. An error's reply is "failed
// …".
//
// The NAME selects the Redisson object: fenced…, fair…, permits…, semaphore…, read:KEY and
// write:KEY of the ReadWriteLock KEY; any other name is an RLock. Acquirer.java and peer.cpp agree
// on this.
class test_process {
public:
    test_process(pawl::conformance::launch_options options, std::string name);

    void send(const std::string& command) { process_.send(command); }
    // The next line; throws when none comes in time.
    std::string read_reply(std::chrono::milliseconds bound = 30s);
    std::string execute(const std::string& command) {
        send(command);
        return read_reply();
    }
    // True: no reply comes within `bound`.
    bool is_silent(std::chrono::milliseconds bound) { return !process_.read_line(bound); }
    void kill9() { process_.kill_and_reap(); }
    void stop() { process_.stop(); }
    void proceed() { process_.resume(); }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
    pawl::conformance::child process_;
    std::string name_;
};

// The words of a reply as numbers; a word that is no number, like the first one, is 0 ("true" is
// 1).
[[nodiscard]] std::vector<std::int64_t> numbers(const std::string& line);

enum class deployment {
    server,
    cluster_node,   // the only node of a cluster; Pawl has a URL of a server
    cluster,        // three masters; Pawl has a URL of a cluster
    sentinels,      // a master with a replica, and three Sentinels
    three_servers,  // independent ones, for RedissonRedLock and Pawl's classic Redlock
    five_servers
};

class mixed_processes {
public:
    explicit mixed_processes(deployment where = deployment::server);

    // `ttl` is the lease of Pawl's locks, and Redisson's lockWatchdogTimeout.
    [[nodiscard]] test_process java(std::chrono::milliseconds ttl = 60s) const;
    [[nodiscard]] test_process pawl(std::chrono::milliseconds ttl = 60s) const;
    [[nodiscard]] test_process pawl_at(const std::string& url, std::chrono::milliseconds ttl) const;
    // The server, the first master of the Sentinels, or node 0 of the cluster.
    [[nodiscard]] support::redis_server& server() const;
    // The master that has the key.
    [[nodiscard]] support::redis_server& server_of(const std::string& key);
    [[nodiscard]] support::sentinel_group& sentinels() { return *sentinels_; }
    // A name for each master of the cluster, whose lock is there; without a cluster one name. The
    // names begin with `prefix`.
    [[nodiscard]] std::vector<std::string> names(const std::string& prefix);
    [[nodiscard]] pawl::blocking::client& observer() noexcept { return *observer_; }
    // Waits until the lock has `count` waiters; false if that does not happen in time.
    [[nodiscard]] bool has_waiters(const std::string& name, std::uint64_t count);
    // Waits until `count` channels of locks of any kind have subscribers; false if that does not
    // happen in time.
    [[nodiscard]] bool has_listeners(std::size_t count);
    [[nodiscard]] std::string file(const std::string& name) const {
        return server().folder().file(name);
    }

private:
    [[nodiscard]] std::string url() const;
    [[nodiscard]] bool in_slots() const noexcept {
        return where_ == deployment::cluster || where_ == deployment::cluster_node;
    }
    [[nodiscard]] std::size_t count_listeners();

    const deployment where_;
    std::unique_ptr<support::redis_server> server_;
    std::unique_ptr<support::cluster_group> cluster_;
    std::unique_ptr<support::sentinel_group> sentinels_;
    std::unique_ptr<support::redlock_group> independent_;
    std::optional<pawl::blocking::client> observer_;
};

}  // namespace interop
