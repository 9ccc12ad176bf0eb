// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The servers of a service over connections of their own, which receive no messages. For requests
// that may block or end their connection: the holds are renewed over another one.
#pragma once

#include "topology.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>

namespace pawl::redis {

// Used on one strand, except for the destructor, which any thread may call after `close`.
class separate_servers final : private link::listener {
public:
    // Connects when the first request needs it.
    explicit separate_servers(const topology_factory& connect) : servers_(connect(*this, "")) {}
    ~separate_servers() override { servers_->forget_listener(); }
    separate_servers(const separate_servers&) = delete;
    separate_servers& operator=(const separate_servers&) = delete;

    topology& operator*() const noexcept { return *servers_; }
    topology* operator->() const noexcept { return servers_.get(); }

private:
    void on_message(std::string_view, std::string_view) override {}
    void on_invalidate(std::string_view) override {}
    void on_connected(const link&) override {}

    const std::shared_ptr<topology> servers_;
};

}  // namespace pawl::redis
