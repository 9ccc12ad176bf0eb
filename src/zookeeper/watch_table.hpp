// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The watches of a session. The server reports a change of a node once to all of them. No I/O.
#pragma once

#include "messages.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pawl::zookeeper {

// data: of the node itself. children: its list of children.
enum class watch_kind : std::uint8_t { data, children };

class watcher {
public:
    // The node has changed; the watch is over.
    virtual void on_change(const node_event& event) = 0;

protected:
    ~watcher() = default;
};

class watch_table {
public:
    // A watcher that is destroyed is told nothing.
    void add(watch_kind kind, const std::string& path, const std::shared_ptr<watcher>& told) {
        auto& all = watches_[{kind, path}];
        std::erase_if(all, [&](const auto& each) {
            const auto known = each.lock();
            return !known || known == told;
        });
        all.push_back(told);
    }
    // The server says that there is nothing to watch.
    void remove(watch_kind kind, const std::string& path) { watches_.erase({kind, path}); }
    void tell(const node_event& event) {
        using change = node_event::kind;
        if (event.type != change::children_changed) tell(watch_kind::data, event);
        if (event.type == change::children_changed || event.type == change::deleted)
            tell(watch_kind::children, event);
    }
    // The paths that still have watchers.
    [[nodiscard]] std::vector<std::string> paths(watch_kind kind) {
        std::vector<std::string> all;
        for (auto position = watches_.begin(); position != watches_.end();) {
            std::erase_if(position->second, [](const auto& told) { return told.expired(); });
            if (position->second.empty()) {
                position = watches_.erase(position);
                continue;
            }
            if (position->first.first == kind) all.push_back(position->first.second);
            ++position;
        }
        return all;
    }

private:
    void tell(watch_kind kind, const node_event& event) {
        const auto position = watches_.find({kind, event.path});
        if (position == watches_.end()) return;
        const auto told = std::move(position->second);
        watches_.erase(position);
        for (const auto& each : told)
            if (const auto known = each.lock()) known->on_change(event);
    }

    std::map<std::pair<watch_kind, std::string>, std::vector<std::weak_ptr<watcher>>> watches_;
};

}  // namespace pawl::zookeeper
