// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../core/util/backend_urls.hpp"
#include "../core/util/url.hpp"

#include <pawl/redis.hpp>
#include <pawl/redlock.hpp>

#include <array>

namespace pawl::redis {
namespace {

service open(std::string_view url) {
    return core::scheme_of(url).starts_with("redlock") ? redlock::at(url) : at(url);
}

constexpr std::string_view sentinel_advice =
    "; the master of Sentinels is redis+sentinel://HOST1,HOST2,HOST3/MASTER-NAME.";
constexpr std::string_view tls_sentinel_advice =
    "; the master of Sentinels over TLS is rediss+sentinel://HOST1,HOST2,HOST3/MASTER-NAME.";
constexpr std::string_view cluster_advice =
    "; a Redis Cluster is redis+cluster://HOST1,HOST2,HOST3.";
constexpr std::string_view tls_cluster_advice =
    "; a Redis Cluster over TLS is rediss+cluster://HOST1,HOST2,HOST3.";
constexpr std::string_view http_advice =
    ", which does not speak HTTP; write redis://HOST, or rediss://HOST for TLS.";
constexpr std::string_view unix_socket_advice =
    "; a unix socket of Redis is redis+unix:///path/to/socket.";

using core::foreign_scheme;
constexpr std::array foreign_schemes{
    foreign_scheme{"redis-sentinel", sentinel_advice},
    foreign_scheme{"rediss-sentinel", tls_sentinel_advice},
    foreign_scheme{"sentinel", sentinel_advice},
    foreign_scheme{"redis-cluster", cluster_advice},
    foreign_scheme{"rediss-cluster", tls_cluster_advice},
    foreign_scheme{"http", http_advice},
    foreign_scheme{"https", http_advice},
    foreign_scheme{"unix", unix_socket_advice},
    foreign_scheme{"redis-socket", unix_socket_advice},
    foreign_scheme{"valkey", "; Valkey speaks the protocol of Redis, so write redis://HOST."},
    foreign_scheme{"valkeys",
                   "; Valkey speaks the protocol of Redis, so write rediss://HOST for TLS."},
    foreign_scheme{"tcp", "; the scheme of a Redis server is redis://."},
    foreign_scheme{"tls", "; the scheme of Redis over TLS is rediss://."}};

}  // namespace

extern const core::backend_urls urls;  // for the table of from_url()
constinit const core::backend_urls urls{.open = open, .foreign_schemes = foreign_schemes};

}  // namespace pawl::redis
