// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The topology of a service with one server, which has all keys.
#pragma once

#include "topology.hpp"

#include <memory>
#include <utility>

namespace pawl::redis {

class single_server final : public topology {
public:
    explicit single_server(std::shared_ptr<link> server_link) noexcept
        : owned_link_(std::move(server_link)), link_(owned_link_.get()) {}

    [[nodiscard]] link& link_of(std::string_view) const noexcept override { return *link_; }
    [[nodiscard]] std::span<link* const> links() const noexcept override { return {&link_, 1}; }
    // A node of a cluster refuses a request with keys of two slots, although it has both.
    [[nodiscard]] bool has_slots() const noexcept override { return link_->current().cluster; }

private:
    const std::shared_ptr<link> owned_link_;
    link* const link_;
};

[[nodiscard]] inline topology_factory single_server_factory(link_factory connect) {
    return [connect = std::move(connect)](link::listener& receiver, const std::string& channel) {
        return std::make_shared<single_server>(connect(receiver, channel));
    };
}

}  // namespace pawl::redis
