// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The nodes, and the waits for them.
#include "cluster_topology.hpp"

#include "../transport/server_errors.hpp"

#include "../../core/util/plural.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {
namespace {

// `moved`: for each node that has gained slots, their number.
std::string describe_change(const std::vector<std::pair<cluster_node*, unsigned>>& moved,
                            bool is_first) {
    std::string nodes;
    for (const auto& [node, slots] : moved)
        nodes.append(nodes.empty() ? "" : ", ")
            .append(text_of(node->server()) + " has " + core::plural(slots, "slot"));
    return (is_first ? "found the nodes: " : "slots have moved: ") + nodes;
}

}  // namespace

// Stands for the node of a slot while it is not known which one that is.
class cluster_topology::unknown_master final : public link {
public:
    explicit unknown_master(cluster_topology& parent) noexcept : parent_(parent) {}

    asio::awaitable<reply> exec(std::span<const std::string_view>, time_point give_up_at,
                                prelude) override {
        return parent_.wait_for_master(give_up_at);
    }
    const session& current() const noexcept override { return session_; }
    bool connected() const noexcept override { return false; }
    std::string connection_failure() const override { return parent_.unknown_master_failure(); }
    asio::awaitable<void> subscribe(std::string, time_point give_up_at) override {
        co_await parent_.wait_for_master(give_up_at);
        throw error(errc::unavailable, "The nodes of the cluster were not known yet.");
    }
    asio::awaitable<void> close(time_point) override { co_return; }

private:
    cluster_topology& parent_;
    const session session_;
};

cluster_topology::cluster_topology(cluster_settings settings, node_link_factory connect,
                                   backend_context context, link::listener& receiver,
                                   std::string channel)
    : cluster_node::parent(*context.time, *context.counts, settings.connect_timeout),
      settings_(std::move(settings)),
      connect_(std::move(connect)),
      context_(std::move(context)),
      receiver_(&receiver),
      channel_(std::move(channel)),
      redirections_(settings_.bounds),
      unknown_master_(std::make_unique<unknown_master>(*this)),
      changes_(*context_.time, context_.strand),
      ask_again_(*context_.time, context_.strand),
      seeds_(settings_) {}

cluster_topology::~cluster_topology() {
    nodes_.forget_listener();
    for (const auto& each : closing_)
        each->forget_listener();
}

void cluster_topology::log(const std::string& line) const {
    if (context_.log) context_.log(settings_.subject + ": " + line);
}

link& cluster_topology::link_of(std::string_view key) const noexcept {
    const auto number = view_.master_of(slot_of(key));
    if (number == slot_map::nobody) return *unknown_master_;
    return nodes_.at(number);
}

asio::awaitable<void> cluster_topology::wait_for_change(time_point until) {
    co_await changes_.wait_until(until);
}

std::string cluster_topology::unknown_master_failure() const {
    try {
        if (seeds_.failure()) std::rethrow_exception(seeds_.failure());
    } catch (const std::exception& failure) {
        return failure.what();
    }
    // A question waits for its connection, which may have failed several times.
    for (const auto& asked : closing_) {
        auto failure = asked->connection_failure();
        if (!failure.empty()) return failure;
    }
    return version() == 0 ? "" : "no node of the cluster has the slot of this key";
}

void cluster_topology::check_open() const {
    made_in_.throw_if_forked();
    if (is_closing_) throw error(errc::cancelled, "The client is closed; make a new one.");
}

asio::awaitable<reply> cluster_topology::wait_for_master(time_point give_up_at) {
    const auto known_version = version();
    const auto until = std::min(give_up_at, now() + settings_.connect_timeout);
    start();
    ask_again();
    while (version() == known_version) {
        check_open();
        // All seeds failed, and the last of them for good.
        if (seeds_.have_all_failed()) {
            try {
                std::rethrow_exception(seeds_.failure());
            } catch (const error& failure) {
                if (is_final(failure)) throw;
            }
        }
        if (now() >= until) {
            const auto reason = unknown_master_failure();
            throw error(errc::unreachable,
                        settings_.subject + ": no node can say which node has the lock" +
                            (reason.empty() ? "" : ": " + reason) +
                            (reason.ends_with('.') ? "" : "; see CLUSTER NODES at each node."));
        }
        co_await wait_for_change(until);
    }
    co_return slot_moved_reply();
}

void cluster_topology::retire(cluster_node& node) {
    const auto closed = node.set_connection(nullptr, node.server());
    if (!closed) return;
    closed->forget_listener();
    closing_.push_back(closed);
    asio::co_spawn(context_.strand, close_later(shared_from_this(), closed), asio::detached);
}

std::uint32_t cluster_topology::find_or_add_node(const listed_node& listed,
                                                 const std::string& asked_host) {
    auto server = endpoint_of(listed, asked_host, settings_);
    const auto known = nodes_.number_of(listed.id);
    if (known && nodes_.at(*known).server() == server) return *known;
    // A client that had no nodes had no holds. For a node that appears later, even the first
    // connection must lead to the question whether holds were lost.
    const std::uint64_t connections = version() == 0 ? 0 : 1;
    cluster_node::parent& own = *this;  // a private base
    const auto number = nodes_.add(
        std::make_unique<cluster_node>(own, *receiver_, listed.id, channel_, connections));
    if (known) {
        // At another address it is another link, so that subscriptions are made again there.
        view_.renumber(*known, number);
        retire(nodes_.at(*known));
    }
    auto& node = nodes_.at(number);
    auto connection = connect_(server, node.own_listener(), node.channel());
    node.set_connection(connection, std::move(server));
    asio::co_spawn(context_.strand, probe(shared_from_this(), node, std::move(connection)),
                   asio::detached);
    changes_.notify_all();
    return number;
}

void cluster_topology::adopt_view(const std::vector<listed_node>& view, std::string asked_host,
                                  const cluster_node* from) {
    if (receiver_ == nullptr || nodes_.is_foreign(view, from)) return;
    view_.update(view, asked_host);
    seeds_.update(view_.seeds(settings_));
    for (const auto number : nodes_.forgotten_nodes(view))
        view_.give_up_all(number);
    std::vector<std::pair<cluster_node*, unsigned>> gained;
    const bool is_first = version() == 0;
    for (const auto& listed : view) {
        if (!is_usable_master(listed)) continue;
        const auto number = find_or_add_node(listed, asked_host);
        auto& node = nodes_.at(number);
        node.raise_epoch(listed.epoch);
        const auto moved = view_.assign(listed, number);
        if (moved > 0) gained.emplace_back(&node, moved);
    }
    nodes_.remove_without_slots(view_, [this](cluster_node& node) { retire(node); });
    if (gained.empty()) return;
    view_.advance();
    changes_.notify_all();
    if (context_.log) log(describe_change(gained, version() == 1));
    if (is_first) return;
    // The waiters and undos of the slots that have moved are at this node now.
    for (const auto& [node, moved] : gained)
        if (node->connected()) receiver_->on_connected(*node);
}

void cluster_topology::on_connection(cluster_node& node) {
    if (is_over() || !node.connection()) return;
    asio::co_spawn(context_.strand, identify(shared_from_this(), node, node.connection()),
                   asio::detached);
}

// Without memory, the next request or question tries again.
void cluster_topology::on_missing_connection(cluster_node& node) noexcept {
    if (is_over()) return;
    try {
        // A node that was refused is asked again by `run`, at its pace.
        if (node.connection() && !node.connection()->connected() && !node.is_probed)
            asio::co_spawn(context_.strand, probe(shared_from_this(), node, node.connection()),
                           asio::detached);
    } catch (...) {}
    if (!nodes_.all_connected()) ask_again();
}

asio::awaitable<void> cluster_topology::close(time_point give_up_at) {
    is_closing_ = true;
    ask_again_.notify();
    changes_.notify_all();
    for (std::uint32_t i = 0; i < nodes_.size(); ++i)
        co_await nodes_.at(i).close(give_up_at);
    changes_.notify_all();
}

void cluster_topology::forget_listener() noexcept {
    receiver_ = nullptr;
    nodes_.forget_listener();
}

topology_factory cluster_topology_factory(cluster_settings settings, node_link_factory connect,
                                          const backend_context& context) {
    return [settings = std::move(settings), connect = std::move(connect), context](
               link::listener& receiver, const std::string& channel) {
        return std::make_shared<cluster_topology>(settings, connect, context, receiver, channel);
    };
}

}  // namespace pawl::redis
