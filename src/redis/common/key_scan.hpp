// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Lists the keys of one server.
#pragma once

#include "core/util/spi.hpp"
#include "limits.hpp"

#include "../transport/link.hpp"

#include <boost/asio/awaitable.hpp>

#include <set>
#include <string>

namespace pawl::redis {

struct key_scan {
    const std::string& subject;  // begins the errors
    const std::string& glob;
    const std::string& type;
    const limits& bounds;
    const runtime& time;
    duration reply_timeout;

    // Adds all keys of that type that match. Throws as `link::exec` does, and errc::protocol if the
    // list has no end. The arguments, and what this refers to, must outlive the operation.
    boost::asio::awaitable<void> run(link& server_link, std::set<std::string>& into) const;
};

}  // namespace pawl::redis
