// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The masters of a Redis Cluster, and which of them has which slot. docs/backends/cluster.md
// describes the rules.
#pragma once

#include "cluster_node.hpp"
#include "node_list.hpp"
#include "seed_list.hpp"
#include "slot_map.hpp"

#include "../topology/epoch.hpp"
#include "../topology/topology.hpp"

#include "../../core/util/fork_mark.hpp"
#include "../../core/util/wakeup.hpp"

#include <pawl/spi/backend.hpp>

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

// Makes the link to one node, or to a server that may be one. The other arguments as in
// link_factory.
using node_link_factory = std::function<std::shared_ptr<link>(
    const net::endpoint& node, link::listener& receiver, const std::string& channel)>;

// The bounds of a client of a cluster. The simulation makes some of them tiny.
struct cluster_limits {
    // The pause between two questions for the nodes' view is random between half of this and this.
    duration view_interval = std::chrono::seconds(10);
    // The same while a node is missing: it grows from the one to the other.
    duration shortest_pause = std::chrono::milliseconds(50);
    duration longest_pause = std::chrono::seconds(1);
    // How often one request is sent again to follow its key. Then it fails, and its caller repeats
    // it after a pause of its own.
    unsigned max_attempts = 8;
    // The nodes that the client remembers as places to ask.
    std::size_t max_seed_nodes = 256;
};

struct cluster_settings {
    std::string subject;               // the service in messages
    std::vector<net::endpoint> hosts;  // some of the nodes, as the URL names them
    duration connect_timeout{};
    duration reply_timeout{};
    bool uses_tls = false;
    std::string tls_name{};  // in the certificates of all nodes; empty: the name of each node
    cluster_limits bounds{};
};

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
    [[nodiscard]] std::span<link* const> links() const noexcept override { return links_; }
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
    [[nodiscard]] bool may_follow(const reply& refusal) const noexcept override;
    boost::asio::awaitable<void> close(time_point give_up_at) override;
    void forget_listener() noexcept override;
    void add_findings(examination& report) const override;
    boost::asio::awaitable<void> examine_hosts(examination& report, time_point give_up_at) override;

private:
    class unknown_master;

    // The node's view. Throws what the node refuses, and as `link::exec`.
    boost::asio::awaitable<std::vector<listed_node>> query_view(std::shared_ptr<link> asked,
                                                                std::string name) const;
    // The beginning of the node's replication id. Throws in the same way.
    boost::asio::awaitable<std::string> query_replication_id(std::shared_ptr<link> asked,
                                                             std::string name) const;
    [[nodiscard]] duration question_timeout() const;
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
    // Adds a finding if the host does not belong to the cluster of the last view. Does not throw.
    boost::asio::awaitable<void> examine_host(examination& report, net::endpoint host);
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
    // The node may be one of another cluster by now: its view lists no other connected node.
    [[nodiscard]] bool is_foreign(const std::vector<listed_node>& view,
                                  const cluster_node* from) const;
    // Why the node must not be used, by its own line in its view.
    [[nodiscard]] static std::optional<error> find_objection(const cluster_node& node,
                                                             const listed_node& myself);
    std::uint32_t find_or_add_node(const listed_node& listed, const std::string& asked_host);
    void remember_seeds();
    void give_up_slots_of_forgotten_nodes(const std::vector<listed_node>& view);
    [[nodiscard]] net::endpoint endpoint_of(const listed_node& listed,
                                            const std::string& asked_host) const;
    void connect_node(cluster_node& node, net::endpoint server);
    // Closes the node's connection for good.
    void retire(cluster_node& node);
    void retire_nodes_without_slots();
    void notify_changed() noexcept;
    [[nodiscard]] cluster_node* find_node(std::string_view host, std::uint16_t port) const noexcept;
    [[nodiscard]] bool all_connected() const noexcept;

    boost::asio::awaitable<void> follow_move(std::string_view key, link& asked,
                                             cluster_node* target);
    boost::asio::awaitable<void> pause(unsigned attempt, time_point give_up_at);

    // cluster_node::parent
    void on_connection(cluster_node& node) override;
    void on_missing_connection(cluster_node& node) noexcept override;
    void on_old_map() noexcept override { ask_again(); }
    void check_open() const override;
    boost::asio::awaitable<void> wait_for_change(time_point until) override;
    [[nodiscard]] std::uint64_t version() const noexcept override { return version_; }
    [[nodiscard]] runtime& time() const noexcept override { return *context_.time; }
    [[nodiscard]] duration connect_timeout() const noexcept override {
        return settings_.connect_timeout;
    }
    [[nodiscard]] counters& counts() const noexcept override { return *context_.counts; }

    [[nodiscard]] time_point now() const noexcept { return context_.time->now(); }
    void log(const std::string& line) const;
    // A change of the map. `moved`: for each node that has gained slots, their number.
    void log_change(const std::vector<std::pair<const cluster_node*, unsigned>>& moved) const;

    const core::fork_mark made_in_;
    const cluster_settings settings_;
    const node_link_factory connect_;
    const backend_context context_;
    link::listener* receiver_;
    const std::string channel_;

    // All nodes that were ever connected to; one that comes back, or has another address, gets a
    // new number. Requests and undos refer to them.
    std::vector<std::unique_ptr<cluster_node>> nodes_;
    std::map<std::string, std::uint32_t, std::less<>> numbers_;  // of the present nodes, by id
    std::vector<link*> links_;                                   // to the present nodes
    std::uint64_t asked_elsewhere_ = 0;
    slot_map slots_;
    const std::unique_ptr<unknown_master> unknown_master_;
    std::vector<listed_node> last_view_;  // for `add_findings`

    std::list<core::wakeup*> change_waiters_;
    core::wakeup ask_again_;
    std::vector<std::shared_ptr<link>> closing_;
    std::uint64_t version_ = 0;
    seed_list seeds_;
    time_point next_seed_at_{};        // while some nodes answer, and others do not
    std::exception_ptr seed_failure_;  // of the newest attempt; null: a seed has answered
    std::size_t failed_seeds_ = 0;     // in a row
    std::size_t queried_seeds_ = 0;    // whose answers have not come
    std::uint64_t seed_answers_ = 0;
    bool is_running_ = false;
    bool is_closing_ = false;
    bool is_idle_ = false;  // `run` pauses, since nothing is missing
};

[[nodiscard]] topology_factory cluster_topology_factory(cluster_settings settings,
                                                        node_link_factory connect,
                                                        const backend_context& context);

}  // namespace pawl::redis
