// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../core/util/backend_urls.hpp"

#include <pawl/zookeeper.hpp>

#include <array>

namespace pawl::zookeeper {
namespace {

constexpr std::string_view advice =
    "; a ZooKeeper ensemble is zookeeper://HOST1,HOST2,HOST3/PATH, or zookeepers:// with TLS.";
constexpr std::array foreign_schemes{core::foreign_scheme{"zk", advice},
                                     core::foreign_scheme{"zks", advice},
                                     core::foreign_scheme{"curator", advice}};

}  // namespace

extern const core::backend_urls urls;  // for the table of from_url()
constinit const core::backend_urls urls{.open = at, .foreign_schemes = foreign_schemes};

}  // namespace pawl::zookeeper
