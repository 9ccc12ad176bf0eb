// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A hold of this client: its node, which a watch tells about.
#pragma once

#include "session.hpp"

#include <functional>
#include <memory>
#include <string>

namespace pawl::zookeeper {

class held_node final : public watcher {
public:
    std::string owner;
    std::string path;
    std::shared_ptr<session> used;
    fencing_token token;
    bool is_watched = false;
    bool is_changing = false;  // a downgrade replaces the node
    // Called when the node was removed.
    std::function<void(const std::string& owner)> on_removed;

    void on_change(const node_event& event) override {
        if (event.path != path) return;
        is_watched = false;
        if (event.type == node_event::kind::deleted && !is_changing && on_removed)
            on_removed(std::string(owner));
    }
};

}  // namespace pawl::zookeeper
