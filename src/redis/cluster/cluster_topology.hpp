// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The masters of a Redis Cluster, and which of them has which slot. docs/backends/cluster.md
// describes the rules.
#pragma once

#include "cluster_node.hpp"
#include "cluster_settings.hpp"
#include "cluster_view.hpp"
#include "core/util/spi.hpp"
#include "node_pool.hpp"
#include "redirections.hpp"
#include "seed_search.hpp"

#include "../topology/topology.hpp"

#include "../../core/util/fork_mark.hpp"
#include "../../core/util/wakeup.hpp"
#include "../../core/util/wakeup_list.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

// Makes the link to a server that is, or may be, a node of the cluster. The other arguments as in
// link_factory.
using node_link_factory = std::function<std::shared_ptr<link>(
    const net::endpoint& node, link::listener& receiver, const std::string& channel)>;

class cluster_topology final : public topology,
                               private cluster_node::parent,
                               public std::enable_shared_from_this<cluster_topology> {
public:
    cluster_topology(cluster_settings settings, node_link_factory connect, backend_context context,
                     link::listener& receiver, std::string channel);
    ~cluster_topology() override;
    cluster_topology(const cluster_topology&) = delete;
    cluster_topology& operator=(const cluster_topology&) = delete;

    [[nodiscard]] link& link_of(std::string_view key) const noexcept override;
    [[nodiscard]] std::span<link* const> links() const noexcept override { return nodes_.links(); }
    [[nodiscard]] bool may_share_request(std::string_view key,
                                         std::string_view other) const noexcept override {
        return slot_of(key) == slot_of(other);
    }
    [[nodiscard]] bool has_slots() const noexcept override { return true; }
    boost::asio::awaitable<bool> follow(redirection& progress, std::string_view key, link& asked,
                                        reply& refusal, time_point give_up_at) override;
    [[nodiscard]] std::uint64_t asked_elsewhere() const noexcept override {
        return asked_elsewhere_;
    }
    [[nodiscard]] bool may_follow(const reply& refusal) const noexcept override {
        return redirections::is_redirection(refusal);
    }
    boost::asio::awaitable<void> close(time_point give_up_at) override;
    void forget_listener() noexcept override;
    void add_findings(examination& report) const override;
    boost::asio::awaitable<void> examine_hosts(examination& report, time_point give_up_at) override;

private:
    class unknown_master;

    // Asks the node, and learns its view. Does not throw. If a question to it is on its way, waits
    // for that answer instead.
    boost::asio::awaitable<void> query_node(cluster_node& node);
    boost::asio::awaitable<void> query_in_background(std::shared_ptr<cluster_topology> self,
                                                     cluster_node& node);
    // Begins to connect, and finds out whether the node refuses the client.
    boost::asio::awaitable<void> probe(std::shared_ptr<cluster_topology> self, cluster_node& node,
                                       std::shared_ptr<link> connection);
    // The reply to a request about a slot whose node is not known, when that changes.
    boost::asio::awaitable<reply> wait_for_master(time_point give_up_at);
    [[nodiscard]] std::string unknown_master_failure() const;
    [[nodiscard]] bool is_over() const noexcept { return is_closing_ || made_in_.is_forked(); }
    boost::asio::awaitable<void> identify(std::shared_ptr<cluster_topology> self,
                                          cluster_node& node, std::shared_ptr<link> connection);
    // Asks the seed. Does not throw.
    boost::asio::awaitable<void> query_seed(std::shared_ptr<cluster_topology> self, seed asked);
    void begin_seed_query();
    boost::asio::awaitable<void> query_seeds();
    boost::asio::awaitable<void> run(std::shared_ptr<cluster_topology> self);
    boost::asio::awaitable<void> find_servers();
    boost::asio::awaitable<void> close_later(std::shared_ptr<cluster_topology> self,
                                             std::shared_ptr<link> closed);
    void start() noexcept;
    // Ends the pause between two questions.
    void ask_again() noexcept;

    // `asked_host`: the host at which the node was asked.
    void adopt_view(const std::vector<listed_node>& view, std::string asked_host,
                    const cluster_node* from);
    std::uint32_t find_or_add_node(const listed_node& listed, const std::string& asked_host);
    // Closes the node's connection for good.
    void retire(cluster_node& node);

    boost::asio::awaitable<void> follow_move(std::string_view key, link& asked,
                                             cluster_node* target);
    // `target`: the node that ASK names; null: it is not known.
    boost::asio::awaitable<void> follow_ask(redirection& progress, link& asked,
                                            cluster_node* target, time_point give_up_at);
    boost::asio::awaitable<void> pause(unsigned attempt, time_point give_up_at);

    // cluster_node::parent
    void on_connection(cluster_node& node) override;
    void on_missing_connection(cluster_node& node) noexcept override;
    void on_old_map() noexcept override { ask_again(); }
    void check_open() const override;
    boost::asio::awaitable<void> wait_for_change(time_point until) override;
    [[nodiscard]] std::uint64_t version() const noexcept override { return view_.version(); }
    [[nodiscard]] time_point now() const noexcept { return time().now(); }
    void log(const std::string& line) const;

    const core::fork_mark made_in_;
    const cluster_settings settings_;
    const node_link_factory connect_;
    const backend_context context_;
    link::listener* receiver_;
    const std::string channel_;

    node_pool nodes_;
    cluster_view view_;
    const redirections redirections_;
    std::uint64_t asked_elsewhere_ = 0;
    const std::unique_ptr<unknown_master> unknown_master_;

    core::wakeup_list changes_;
    core::wakeup ask_again_;
    std::vector<std::shared_ptr<link>> closing_;
    seed_search seeds_;
    time_point next_seed_at_{};  // while some nodes answer, and others do not
    bool is_running_ = false;
    bool is_closing_ = false;
    bool is_idle_ = false;  // `run` pauses, since nothing is missing
};

[[nodiscard]] topology_factory cluster_topology_factory(cluster_settings settings,
                                                        node_link_factory connect,
                                                        const backend_context& context);

}  // namespace pawl::redis
