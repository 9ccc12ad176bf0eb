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
    bool is_changing = false;  // the node is being replaced
    bool must_move = false;    // to a node of the session of its ttl
    // While it moves: the new node, which may exist already.
    std::string next_path{};
    // Called when the node was removed.
    std::function<void(const std::string& owner)> on_removed;

    // While it lives, the end of the node is no loss.
    class changing {
    public:
        explicit changing(held_node& held) noexcept : held_(held) { held_.is_changing = true; }
        ~changing() {
            held_.is_changing = false;
            held_.is_watched = false;
        }
        changing(const changing&) = delete;
        changing& operator=(const changing&) = delete;

    private:
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
