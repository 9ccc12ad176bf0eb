// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "server_addresses.hpp"

#include <algorithm>

namespace pawl::redis {

void server_addresses::forget() noexcept {
    server_.reset();
    resolved_.clear();
}

net::addresses server_addresses::in_order(net::addresses resolved) const {
    if (!server_) return resolved;
    if (resolved.empty()) resolved.push_back(server_->server_address);
    std::ranges::stable_partition(
        resolved, [this](const net::address& each) { return each == server_->server_address; });
    return resolved;
}

bool server_addresses::must_follow(const net::addresses& resolved,
                                   const net::address& connected) const {
    return server_ && connected == server_->server_address &&
           !net::contains(resolved, server_->server_address);
}

bool server_addresses::is_at_known_address(const net::address& server_address,
                                           const std::string& run_id) {
    if (!server_ || server_->server_address != server_address) return false;
    server_->run_id = run_id;
    return true;
}

bool server_addresses::is_replaced_by(const std::string& run_id) const {
    return server_ && (run_id.empty() || run_id != server_->run_id);
}

}  // namespace pawl::redis
