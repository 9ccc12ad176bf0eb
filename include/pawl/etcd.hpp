// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Locks in etcd (3.4 or later). docs/backends/etcd.md has the keys, the protocol and the costs.
#pragma once

#include <pawl/credentials.hpp>
#include <pawl/service.hpp>
#include <pawl/tls.hpp>
#include <pawl/types.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::etcd {

// A member of the cluster.
struct server {
    std::string host = "127.0.0.1";  // a name or a numeric address
    std::uint16_t port = 2379;       // for clients
};

// The form of a lock's keys in etcd.
enum class key_layout : std::uint8_t {
    native,      // Pawl's own, with readers and permits
    concurrency  // that of Go's package `concurrency`, `etcdctl lock` and `etcdctl elect`
};

// How to reach the locks. A plain value: do not change an object while another thread reads it.
struct options {
    // Some or all members of one cluster, 1 to 16. The client uses one of them at a time, and the
    // next one when that does not answer, has no leader, or is a learner.
    std::vector<server> servers{server{}};
    std::string user{};      // empty: none, or that of the client certificate
    std::string password{};  // empty: none
    // A regular file whose first line is the password. Not readable by everybody, unless it is
    // mounted read-only. Read again for each login, so that a password can change.
    std::string password_file{};
    // Returns user and password for a login. Called in a thread that does nothing else, so it may
    // block. At most one of `password`, `password_file` and `credentials` may be set.
    std::function<login()> credentials{};
    tls_options tls{};  // off by default
    // The first part of every key, so that roles can separate tenants: 1 to 64 characters without
    // control characters. With key_layout::concurrency a name is the whole prefix, and this is the
    // part of Pawl's other keys.
    std::string name_space = "pawl";
    key_layout layout = key_layout::native;
    // For the look-up of the name, the connection and the TLS handshake together, for each member.
    // Above 0, at most 24 h.
    duration connect_timeout = std::chrono::seconds(5);
    // If a request has no answer after this time, the next member is asked. Above 0, at most 24 h.
    duration reply_timeout = std::chrono::seconds(3);
};

// Neither connects. They throw errc::bad_option for options that are out of range or do not fit
// together, and errc::bad_url for a URL that is not understood.
[[nodiscard]] service at(options settings);
// etcd://[user[:password]@]host[:port],…[?option=value&…], or etcds://… with TLS.
// docs/backends/etcd.md lists the options.
[[nodiscard]] service at(std::string_view url);
// The options of a URL, for a program that changes some of them.
[[nodiscard]] options parse(std::string_view url);

}  // namespace pawl::etcd
