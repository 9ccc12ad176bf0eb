// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The nodes, and the waits for them.
#include "cluster_topology.hpp"

#include "../transport/server_errors.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {

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
    : settings_(std::move(settings)),
      connect_(std::move(connect)),
      context_(std::move(context)),
      receiver_(&receiver),
      channel_(std::move(channel)),
      unknown_master_(std::make_unique<unknown_master>(*this)),
      ask_again_(*context_.time, context_.strand),
      seeds_(settings_.hosts, settings_.bounds.max_seed_nodes) {}

cluster_topology::~cluster_topology() {
    for (const auto& each : nodes_)
        each->forget_listener();
    for (const auto& each : closing_)
        each->forget_listener();
}

void cluster_topology::log(const std::string& line) const {
    if (context_.log) context_.log(settings_.subject + ": " + line);
}

link& cluster_topology::link_of(std::string_view key) const noexcept {
    const auto number = slots_.master_of(slot_of(key));
    if (number == slot_map::nobody) return *unknown_master_;
    return *nodes_[number];
}

asio::awaitable<void> cluster_topology::wait_for_change(time_point until) {
    core::wakeup changed(*context_.time, context_.strand);
    const auto position = change_waiters_.insert(change_waiters_.end(), &changed);
    struct waiter_guard {
        std::list<core::wakeup*>& waiters;
        std::list<core::wakeup*>::iterator position;
        ~waiter_guard() { waiters.erase(position); }
    } const guard{change_waiters_, position};
    co_await changed.wait_until(until);
}

void cluster_topology::notify_changed() noexcept {
    for (auto* each : change_waiters_)
        each->notify();
}

std::string cluster_topology::unknown_master_failure() const {
    try {
        if (seed_failure_) std::rethrow_exception(seed_failure_);
    } catch (const std::exception& failure) {
        return failure.what();
    }
    // A question waits for its connection, which may have failed several times.
    for (const auto& asked : closing_) {
        auto failure = asked->connection_failure();
        if (!failure.empty()) return failure;
    }
    return version_ == 0 ? "" : "no node of the cluster has the slot of this key";
}

void cluster_topology::check_open() const {
    if (made_in_.is_forked()) throw core::forked_client_error();
    if (is_closing_) throw error(errc::cancelled, "The client is closed; make a new one.");
}

asio::awaitable<reply> cluster_topology::wait_for_master(time_point give_up_at) {
    const auto known_version = version_;
    const auto until = std::min(give_up_at, now() + settings_.connect_timeout);
    start();
    ask_again();
    while (version_ == known_version) {
        check_open();
        // All seeds failed, and the last of them for good.
        if (seed_failure_ && failed_seeds_ >= seeds_.size()) {
            try {
                std::rethrow_exception(seed_failure_);
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

net::endpoint cluster_topology::endpoint_of(const listed_node& listed,
                                            const std::string& asked_host) const {
    net::endpoint result;
    result.host = !listed.host.empty()   ? listed.host
                  : !listed.name.empty() ? listed.name
                                         : asked_host;
    result.port = listed.port;
    if (!settings_.uses_tls) return result;
    if (!settings_.tls_name.empty())
        result.tls_name = settings_.tls_name;
    else
        result.tls_name = listed.name.empty() ? result.host : listed.name;
    return result;
}

void cluster_topology::connect_node(cluster_node& node, net::endpoint server) {
    auto connection = connect_(server, node.own_listener(), node.channel());
    node.set_connection(connection, std::move(server));
    asio::co_spawn(context_.strand, probe(shared_from_this(), node, std::move(connection)),
                   asio::detached);
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
    auto server = endpoint_of(listed, asked_host);
    const auto known = numbers_.find(listed.id);
    if (known != numbers_.end() && nodes_[known->second]->server() == server) return known->second;
    // A client that had no nodes had no holds. For a node that appears later, even the first
    // connection must lead to the question whether holds were lost.
    const std::uint64_t connections = version_ == 0 ? 0 : 1;
    cluster_node::parent& own = *this;  // a private base
    nodes_.push_back(
        std::make_unique<cluster_node>(own, *receiver_, listed.id, channel_, connections));
    const auto number = static_cast<std::uint32_t>(nodes_.size() - 1);
    if (known == numbers_.end()) {
        numbers_.emplace(listed.id, number);
    } else {
        // At another address it is another link, so that subscriptions are made again there.
        const auto earlier = std::exchange(known->second, number);
        slots_.renumber(earlier, number);
        ++version_;
        retire(*nodes_[earlier]);
    }
    connect_node(*nodes_.back(), std::move(server));
    notify_changed();
    return number;
}

void cluster_topology::remember_seeds() {
    std::vector<seed> listed;
    for (const auto& each : last_view_)
        listed.push_back({endpoint_of(each, each.host), each.id});
    seeds_.update(std::move(listed));
}

// A cluster that was made anew has lower epochs, and its nodes do not know the earlier ones.
void cluster_topology::give_up_slots_of_forgotten_nodes(const std::vector<listed_node>& view) {
    for (const auto& [id, number] : numbers_) {
        const bool is_known = std::ranges::count(view, id, &listed_node::id) > 0;
        if (is_known || nodes_[number]->connected()) continue;
        for (unsigned slot = 0; slot < slot_count; ++slot)
            if (slots_.master_of(slot) == number) slots_.give_up(slot);
    }
}

bool cluster_topology::is_foreign(const std::vector<listed_node>& view,
                                  const cluster_node* from) const {
    std::size_t others = 0;
    for (const auto* each : links_) {
        const auto& node = static_cast<const cluster_node&>(*each);
        if (&node == from || !node.connected()) continue;
        if (std::ranges::count(view, node.id(), &listed_node::id) > 0) return false;
        ++others;
    }
    return others > 0;
}

void cluster_topology::adopt_view(const std::vector<listed_node>& view, std::string asked_host,
                                  const cluster_node* from) {
    if (receiver_ == nullptr || is_foreign(view, from)) return;
    last_view_ = view;
    // Only the node that was asked may leave out its own address.
    for (auto& each : last_view_)
        if (each.host.empty() && each.name.empty()) each.host = asked_host;
    remember_seeds();
    give_up_slots_of_forgotten_nodes(view);
    std::vector<std::pair<cluster_node*, unsigned>> gained;
    const bool is_first = version_ == 0;
    for (const auto& listed : view) {
        if (!listed.is_master || listed.slots.empty() || listed.epoch > max_epoch) continue;
        const auto number = find_or_add_node(listed, asked_host);
        auto& node = *nodes_[number];
        node.raise_epoch(listed.epoch);
        unsigned moved = 0;
        for (const auto& [first, last] : listed.slots)
            for (auto slot = first; slot <= last; ++slot)
                moved += slots_.assign(slot, number, listed.epoch) ? 1U : 0U;
        if (moved > 0) gained.emplace_back(&node, moved);
    }
    retire_nodes_without_slots();
    if (gained.empty()) return;
    ++version_;
    notify_changed();
    log_change({gained.begin(), gained.end()});
    if (is_first) return;
    // The waiters and undos of the slots that have moved are at this node now.
    for (const auto& [node, moved] : gained)
        if (node->connected()) receiver_->on_connected(*node);
}

void cluster_topology::log_change(
    const std::vector<std::pair<const cluster_node*, unsigned>>& moved) const {
    if (!context_.log) return;
    std::string nodes;
    for (const auto& [node, slots] : moved)
        nodes.append(nodes.empty() ? "" : ", ")
            .append(text_of(node->server()) + " has " + std::to_string(slots) +
                    (slots == 1 ? " slot" : " slots"));
    log((version_ == 1 ? "found the nodes: " : "slots have moved: ") + nodes);
}

// A master without slots may get some, and answers requests for a slot that is moving to it.
void cluster_topology::retire_nodes_without_slots() {
    std::set<std::uint32_t> masters;
    for (unsigned slot = 0; slot < slot_count; ++slot)
        if (slot == 0 || slots_.master_of(slot) != slots_.master_of(slot - 1))
            masters.insert(slots_.master_of(slot));
    for (auto entry = numbers_.begin(); entry != numbers_.end();) {
        const auto listed = std::ranges::find(last_view_, entry->first, &listed_node::id);
        const bool may_get_slots =
            listed != last_view_.end() && listed->is_master && !listed->is_failing;
        if (masters.contains(entry->second) || may_get_slots) {
            ++entry;
            continue;
        }
        retire(*nodes_[entry->second]);
        entry = numbers_.erase(entry);
    }
    links_.clear();
    for (const auto& [id, number] : numbers_)
        links_.push_back(nodes_[number].get());
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
    if (!all_connected()) ask_again();
}

asio::awaitable<void> cluster_topology::close(time_point give_up_at) {
    is_closing_ = true;
    ask_again_.notify();
    notify_changed();
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        co_await nodes_[i]->close(give_up_at);
    notify_changed();
}

void cluster_topology::forget_listener() noexcept {
    receiver_ = nullptr;
    for (const auto& each : nodes_)
        each->forget_listener();
}

topology_factory cluster_topology_factory(cluster_settings settings, node_link_factory connect,
                                          const backend_context& context) {
    return [settings = std::move(settings), connect = std::move(connect), context](
               link::listener& receiver, const std::string& channel) {
        return std::make_shared<cluster_topology>(settings, connect, context, receiver, channel);
    };
}

}  // namespace pawl::redis
