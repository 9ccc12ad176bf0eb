// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A hold of this client: its node, which a watch tells about.
#pragma once

#include "session.hpp"

#include "../core/util/in_flight.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace pawl::zookeeper {

class held_node final : public watcher {
public:
    explicit held_node(const backend_context& context) : changes(*context.time, context.strand) {}

    std::string owner;
    std::string path;
    std::shared_ptr<session> used;
    fencing_token token;
    bool is_watched = false;
    bool is_changing = false;  // the node is being replaced
    bool must_move = false;    // to a node of the session of its ttl
    // While it moves: the new node, which may exist already.
    std::string next_path{};
    core::in_flight changes;
    // Called when the node was removed.
    std::function<void(const std::string& owner)> on_removed;

    // While it lives, the end of the node is no loss.
    class changing {
    public:
        changing(held_node& held, std::string next_path) : counted_(held.changes), held_(held) {
            held_.next_path = std::move(next_path);
            held_.is_changing = true;
        }
        ~changing() {
            held_.is_changing = false;
            held_.is_watched = false;
        }
        changing(const changing&) = delete;
        changing& operator=(const changing&) = delete;

    private:
        const core::in_flight::guard counted_;
        held_node& held_;
    };

    void on_change(const node_event& event) override {
        if (event.path != path) return;
        is_watched = false;
        if (event.type == node_event::kind::deleted && !is_changing && on_removed)
            on_removed(std::string(owner));
    }
};

}  // namespace pawl::zookeeper
