// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The link to one node of a cluster. It connects through another link, and counts as connected only
// after the node itself has said that it is this node, and a master.
#pragma once

#include "../transport/link.hpp"
#include "core/util/spi.hpp"

#include "../../net/endpoint.hpp"

#include <pawl/error.hpp>

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

// Used on one strand, except for `forget_listener`.
class cluster_node final : public link, private link::listener {
public:
    // The cluster to which the node belongs.
    class parent {
    public:
        // `counts`: of what the client does; the parent's own questions are not counted.
        parent(runtime& time, counters& counts, duration connect_timeout) noexcept
            : time_(time), counts_(counts), connect_timeout_(connect_timeout) {}

        // The node has a new connection, and must be asked who it is.
        virtual void on_connection(cluster_node& node) = 0;
        // The connection has ended, or a request waits for one.
        virtual void on_missing_connection(cluster_node& node) noexcept = 0;
        // The node refused a request about a slot, so the map of the slots may be old.
        virtual void on_old_map() noexcept = 0;
        // Throws if the client is closed, or the process is a fork.
        virtual void check_open() const = 0;
        // Ends when anything has changed: a connection, or which node has which slot.
        virtual boost::asio::awaitable<void> wait_for_change(time_point until) = 0;
        // Grows with each change of which node has which slot.
        [[nodiscard]] virtual std::uint64_t version() const noexcept = 0;
        [[nodiscard]] runtime& time() const noexcept { return time_; }
        [[nodiscard]] duration connect_timeout() const noexcept { return connect_timeout_; }
        [[nodiscard]] counters& counts() const noexcept { return counts_; }

    protected:
        ~parent() = default;

    private:
        runtime& time_;
        counters& counts_;
        const duration connect_timeout_;
    };

    // `channel` as in link_factory; `connections` is the number of the last connection, as far as
    // the listener is concerned. `cluster` must outlive the node.
    cluster_node(parent& cluster, link::listener& receiver, std::string id,
                 const std::string& channel, std::uint64_t connections);

    [[nodiscard]] const std::string& id() const noexcept { return id_; }
    [[nodiscard]] const net::endpoint& server() const noexcept { return server_; }
    // The node's own channel for this client; empty: none.
    [[nodiscard]] const std::string& channel() const noexcept { return tagged_channel_; }
    [[nodiscard]] link::listener& own_listener() noexcept { return *this; }
    // The link through which the node connects; null: none.
    [[nodiscard]] const std::shared_ptr<link>& connection() const noexcept { return connection_; }

    // Connects through this link from now on. Returns the earlier one.
    std::shared_ptr<link> set_connection(std::shared_ptr<link> connection, net::endpoint server);
    // The node has confirmed the present connection, and said its replication id before its epoch.
    void accept(std::string replication, std::uint64_t epoch);
    // The same, later.
    void update(std::string replication, std::uint64_t epoch);
    // Why the node cannot be used. With `failure`, waiting requests fail at once.
    void refuse(std::string reason, std::exception_ptr failure);
    void raise_epoch(std::uint64_t epoch) noexcept;
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }

    // For the parent: a question to the node is on its way; its connection is being tried.
    bool is_asked = false;
    bool is_probed = false;

    // Waits for a confirmed connection. A request that waits while its slot moves elsewhere gets an
    // error reply: see `slot_moved_reply`.
    boost::asio::awaitable<reply> exec(std::span<const std::string_view> words,
                                       time_point give_up_at, prelude before) override;
    boost::asio::awaitable<void> subscribe(std::string channel, time_point give_up_at) override;
    void unsubscribe(const std::string& channel) noexcept override;
    [[nodiscard]] const session& current() const noexcept override;
    [[nodiscard]] bool connected() const noexcept override;
    [[nodiscard]] std::string connection_failure() const override;
    [[nodiscard]] std::string server_name() const override { return text_of(server_); }
    boost::asio::awaitable<void> close(time_point give_up_at) override;
    void forget_listener() noexcept override;

private:
    boost::asio::awaitable<reply> exec_when_connected(std::vector<std::string> words,
                                                      time_point give_up_at, prelude before);
    // False: another node may have the slots by now.
    boost::asio::awaitable<bool> wait_connected(time_point give_up_at);

    void on_message(std::string_view channel, std::string_view payload) override;
    void on_invalidate(std::string_view key) override;
    void on_connected(const link& connected_link) override;
    void on_disconnected(const link& disconnected_link) noexcept override;

    parent& parent_;
    link::listener* receiver_;
    const std::string id_;
    const std::string channel_, tagged_channel_;
    net::endpoint server_;
    std::shared_ptr<link> connection_;
    session session_;
    // The same, with a replication id of no node: with it, the scripts ask the node for its epoch.
    session outdated_session_;
    time_point updated_at_{};
    std::uint64_t epoch_ = 0;
    std::uint64_t accepted_ = 0;  // the number of the connection's session; 0: none
    std::string reason_;          // why the present connection is not used
    std::exception_ptr failure_;  // for the requests that wait
};

// The reply to a request that was not sent, because its slot moves: as of a node.
[[nodiscard]] reply slot_moved_reply();

}  // namespace pawl::redis
