// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "cluster_node.hpp"

#include "../transport/link.hpp"

#include <pawl/error.hpp>

#include <algorithm>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {
namespace {

// Each request has the tag. Two nodes with the same one only make a message arrive twice.
constexpr std::size_t tag_size = 6;
// The client asks every node every 5 to 10 s.
constexpr duration max_epoch_age = 15s;
// The longest wait of a request at a node that has left, before it looks for another node.
constexpr duration left_pause = 50ms;

}  // namespace

reply slot_moved_reply() {
    reply result;
    result.type = reply::kind::error;
    result.text = "TRYAGAIN the slot was at another node, or its node does not answer";
    return result;
}

cluster_node::cluster_node(parent& cluster, link::listener& receiver, std::string id,
                           const std::string& channel, std::uint64_t connections)
    : parent_(cluster),
      receiver_(&receiver),
      id_(std::move(id)),
      channel_(channel),
      tagged_channel_(channel.empty() ? channel
                                      : tagged_channel(channel, id_.substr(0, tag_size))) {
    session_.connection_number = connections;
}

std::shared_ptr<link> cluster_node::set_connection(std::shared_ptr<link> connection,
                                                   net::endpoint server) {
    accepted_ = 0;
    reason_.clear();
    failure_ = nullptr;
    server_ = std::move(server);
    return std::exchange(connection_, std::move(connection));
}

void cluster_node::accept(std::string replication, std::uint64_t epoch) {
    const auto number = session_.connection_number;
    session_ = connection_->current();
    accepted_ = session_.connection_number;
    session_.connection_number = number + 1;
    if (!channel_.empty()) session_.channel_tag = id_.substr(0, tag_size);
    reason_.clear();
    failure_ = nullptr;
    update(std::move(replication), epoch);
    ++parent_.counts().connections;
    if (receiver_ != nullptr) receiver_->on_connected(*this);
}

void cluster_node::refuse(std::string reason, std::exception_ptr failure) {
    accepted_ = 0;
    reason_ = std::move(reason);
    failure_ = std::move(failure);
}

void cluster_node::update(std::string replication, std::uint64_t epoch) {
    raise_epoch(epoch);
    session_.replication = std::move(replication);
    outdated_session_ = session_;
    std::ranges::fill(outdated_session_.replication, '0');
    updated_at_ = parent_.time().now();
}

// The event loop of an idle client may stand still, and then nobody asks the node for its epoch.
const session& cluster_node::current() const noexcept {
    const bool is_outdated = parent_.time().now() - updated_at_ > max_epoch_age;
    return is_outdated && !session_.replication.empty() ? outdated_session_ : session_;
}

void cluster_node::raise_epoch(std::uint64_t epoch) noexcept {
    epoch_ = std::max(epoch_, epoch);
    session_.epoch = outdated_session_.epoch = epoch_;
}

bool cluster_node::connected() const noexcept {
    return accepted_ != 0 && connection_ && connection_->connected() &&
           connection_->current().connection_number == accepted_;
}

std::string cluster_node::connection_failure() const {
    if (connected()) return {};
    if (!reason_.empty()) return reason_;
    return connection_ ? connection_->connection_failure() : "it has no slots any more";
}

asio::awaitable<reply> cluster_node::exec(std::span<const std::string_view> words,
                                          time_point give_up_at, prelude before) {
    ++parent_.counts().requests;
    if (connected()) return connection_->exec(words, give_up_at, before);
    return exec_when_connected({words.begin(), words.end()}, give_up_at, before);
}

asio::awaitable<reply> cluster_node::exec_when_connected(std::vector<std::string> words,
                                                         time_point give_up_at, prelude before) {
    const bool is_connected = co_await wait_connected(give_up_at);
    if (!is_connected) co_return slot_moved_reply();
    const std::vector<std::string_view> views(words.begin(), words.end());
    co_return co_await connection_->exec(views, give_up_at, before);
}

asio::awaitable<bool> cluster_node::wait_connected(time_point give_up_at) {
    const auto version = parent_.version();
    const auto since = parent_.time().now();
    const auto until = std::min(give_up_at, since + parent_.connect_timeout());
    while (!connected()) {
        parent_.check_open();
        if (parent_.version() != version) co_return false;
        if (failure_) std::rethrow_exception(failure_);
        if (parent_.time().now() >= until) {
            const auto reason = connection_failure();
            // As in reconnecting_link: the caller names its own limit.
            const auto limit = until < give_up_at
                                   ? " within " + std::to_string((until - since) / 1ms) + " ms"
                                   : std::string();
            throw error(errc::unreachable,
                        "The node " + server_name() + " could not be reached" + limit +
                            (reason.empty() ? "" : ": " + reason) +
                            "; see that it runs, and that this host can reach the address that "
                            "the cluster announces for it (cluster-announce-ip).");
        }
        // The node has left. The map names another one for its slots, or will soon.
        if (!connection_) {
            parent_.on_old_map();
            co_await parent_.wait_for_change(std::min(until, parent_.time().now() + left_pause));
            co_return false;
        }
        parent_.on_missing_connection(*this);
        co_await parent_.wait_for_change(until);
    }
    co_return true;
}

// A channel of a slot is refused by a node that has it no longer.
asio::awaitable<void> cluster_node::subscribe(std::string channel, time_point give_up_at) {
    const bool is_connected = co_await wait_connected(give_up_at);
    std::string refusal = "its slot has moved to another node";
    if (is_connected) {
        try {
            ++parent_.counts().requests;
            co_await connection_->subscribe(channel, give_up_at);
            co_return;
        } catch (const error& failure) {
            if (failure.reason() != errc::unsupported) throw;
            refusal = failure.what();
        }
    }
    parent_.on_old_map();
    throw error(errc::unavailable, channel + ": " + refusal);
}

void cluster_node::unsubscribe(const std::string& channel) noexcept {
    if (!connection_) return;
    ++parent_.counts().requests;
    connection_->unsubscribe(channel);
}

asio::awaitable<void> cluster_node::close(time_point give_up_at) {
    const auto closed = connection_;
    if (closed) co_await closed->close(give_up_at);
}

void cluster_node::forget_listener() noexcept {
    receiver_ = nullptr;
    if (connection_) connection_->forget_listener();
}

void cluster_node::on_message(std::string_view channel, std::string_view payload) {
    ++parent_.counts().pushes;
    if (receiver_ == nullptr) return;
    receiver_->on_message(channel == tagged_channel_ ? std::string_view(channel_) : channel,
                          payload);
}

void cluster_node::on_invalidate(std::string_view key) {
    ++parent_.counts().pushes;
    if (receiver_ != nullptr) receiver_->on_invalidate(key);
}

void cluster_node::on_connected(const link&) { parent_.on_connection(*this); }

void cluster_node::on_disconnected(const link&) noexcept { parent_.on_missing_connection(*this); }

}  // namespace pawl::redis
