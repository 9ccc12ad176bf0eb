// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The servers of a service over connections of their own, which receive no messages. For requests
// that may block or end their connection: the holds are renewed over another one.
#pragma once

#include "../transport/link.hpp"
#include "topology.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>

namespace pawl::redis {

// Used on one strand, except for the destructor, which any thread may call after `close`.
class separate_servers final {
public:
    // Connects when the first request needs it.
    explicit separate_servers(const topology_factory& connect) : servers_(connect(receiver_, "")) {}
    ~separate_servers() { servers_->forget_listener(); }
    separate_servers(const separate_servers&) = delete;
    separate_servers& operator=(const separate_servers&) = delete;

    topology& operator*() const noexcept { return *servers_; }
    topology* operator->() const noexcept { return servers_.get(); }

private:
    silent_listener receiver_;
    const std::shared_ptr<topology> servers_;
};

}  // namespace pawl::redis
