// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// N servers that know nothing of each other. Every one of them has every lock, so a request names
// its node.
#pragma once

#include "../topology/topology.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace pawl::redlock {

class independent_servers final : public redis::topology {
public:
    // Each node is a service with one link: a server, or the master that Sentinels name.
    explicit independent_servers(std::vector<std::shared_ptr<redis::topology>> nodes)
        : nodes_(std::move(nodes)) {
        for (const auto& each : nodes_)
            links_.push_back(&each->link_of({}));
    }

    // Any node: no request asks for the server of a key.
    [[nodiscard]] redis::link& link_of(std::string_view) const noexcept override {
        return *links_.front();
    }
    [[nodiscard]] std::span<redis::link* const> links() const noexcept override { return links_; }
    [[nodiscard]] std::shared_ptr<redis::topology> part_of(
        const redis::link& node_link) const override {
        for (std::size_t i = 0; i < links_.size(); ++i)
            if (links_[i] == &node_link) return nodes_[i];
        return nullptr;
    }
    boost::asio::awaitable<void> close(time_point give_up_at) override;
    void add_findings(examination& report) const override {
        for (const auto& each : nodes_)
            each->add_findings(report);
    }
    void forget_listener() noexcept override {
        for (const auto& each : nodes_)
            each->forget_listener();
    }

private:
    const std::vector<std::shared_ptr<redis::topology>> nodes_;
    std::vector<redis::link*> links_;
};

inline boost::asio::awaitable<void> independent_servers::close(time_point give_up_at) {
    for (const auto& each : nodes_)
        co_await each->close(give_up_at);
}

[[nodiscard]] inline redis::topology_factory independent_servers_factory(
    std::vector<redis::topology_factory> nodes) {
    return [nodes = std::move(nodes)](redis::link::listener& receiver, const std::string& channel) {
        std::vector<std::shared_ptr<redis::topology>> made;
        for (const auto& connect : nodes)
            made.push_back(connect(receiver, channel));
        return std::make_shared<independent_servers>(std::move(made));
    };
}

}  // namespace pawl::redlock
