// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The interface to one server: requests, and the messages of channels. reconnecting_link implements
// it over one connection after the other; the simulation has its own implementation.
#pragma once

#include <pawl/error.hpp>
#include <pawl/types.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

struct reply {
    enum class kind : std::uint8_t { nil, integer, string, array, error };
    kind type = kind::nil;
    std::int64_t number = 0;
    std::string text;  // of a string or an error
    std::vector<reply> items;
};

enum class server_role : std::uint8_t { unknown, master, replica };

// The information about the server from the handshake of one connection.
struct session {
    std::uint64_t connection_number = 0;  // 1, 2, …; 0: not connected yet
    std::string run_id;                   // new with each start of the server; empty: not known
    std::string version;                  // "7.0.15"
    std::string server;                   // "redis" or "valkey"
    std::int64_t time_us = 0;             // the server's clock at the handshake, in µs since 1970
    // True: a node of a cluster with sharded channels. There `subscribe` uses SSUBSCRIBE, and a
    // publisher must use SPUBLISH.
    bool sharded = false;
    bool cluster = false;
    server_role role = server_role::unknown;
    std::uint64_t epoch = 0;  // of the server's location: see locator.hpp
    // What the clients add to the prefix of their own channels on this server; empty: nothing. The
    // nodes of a cluster pass on what is published at one of them, and each has its own tag, so
    // that a client gets no message twice.
    std::string channel_tag{};
    // Of a node of a cluster: the beginning of its replication id (INFO replication) at a time when
    // its epoch was not above `epoch`. A node that becomes a master gets a new one.
    std::string replication{};
    time_point asked_at{};  // before the request for `time_us` was sent

    [[nodiscard]] std::string_view publish_command() const noexcept {
        return sharded ? "SPUBLISH" : "PUBLISH";
    }
    // The subcommand of PUBSUB that counts a channel's subscribers.
    [[nodiscard]] std::string_view count_command() const noexcept {
        return sharded ? "SHARDNUMSUB" : "NUMSUB";
    }
};

// A command that precedes another one on the same connection.
enum class prelude : std::uint8_t {
    none,
    tracking,  // the server reports the next change of any key that the command read
    ask        // "ASKING": a node of a cluster executes the command for a slot that is moving to it
};

class link {
public:
    // Called on the strand, in the order in which the messages and replies arrive.
    struct listener {
        virtual void on_message(std::string_view channel, std::string_view payload) = 0;
        virtual void on_invalidate(std::string_view key) = 0;  // empty: every key
        virtual void on_connected(const link& connected_link) = 0;
        // A connection that was reported has ended.
        virtual void on_disconnected(const link&) noexcept {}

    protected:
        ~listener() = default;  // nobody owns one
    };

    virtual ~link() = default;

    // Waits for a connection, sends one command, and returns the server's reply, also if it is an
    // error. `words` must live until the call suspends for the first time. Throws
    //   connection_lost        the command was sent; the server may or may not have executed it
    //   any other pawl::error  nothing was executed: no connection was ready in time, the server
    //                          refused the handshake, the link is closed, or a server that must be
    //                          a master is a replica by now
    // The server executes commands in the order of the calls, but a call that waits for a
    // connection may be passed by a later one. Cancellation completes at once; the command may have
    // been sent.
    virtual boost::asio::awaitable<reply> exec(std::span<const std::string_view> words,
                                               time_point give_up_at, prelude before) = 0;
    boost::asio::awaitable<reply> exec(std::span<const std::string_view> words,
                                       time_point give_up_at) {
        return exec(words, give_up_at, prelude::none);
    }

    // After `subscribe` completes, messages of `channel` reach the listener. Every later connection
    // subscribes again before it calls `on_connected`. Subscriptions are counted: call
    // `unsubscribe` once for each completed `subscribe`. Throws as `exec` does, and the server's
    // refusal; then there is nothing to unsubscribe.
    virtual boost::asio::awaitable<void> subscribe(std::string channel, time_point give_up_at);
    virtual void unsubscribe(const std::string& channel) noexcept;

    // The session of the present connection, or else of the last one.
    [[nodiscard]] virtual const session& current() const noexcept = 0;
    [[nodiscard]] virtual bool connected() const noexcept = 0;
    // Why the newest connection attempt failed, or the last connection ended; empty while a
    // connection is up, and before the first attempt.
    [[nodiscard]] virtual std::string connection_failure() const { return {}; }

    // The server of the newest connection or attempt, as in `text_of` an endpoint; empty: not
    // known.
    [[nodiscard]] virtual std::string server_name() const { return {}; }

    // Waits for the replies to sent requests, at most until `give_up_at`. Then closes the
    // connection for good.
    virtual boost::asio::awaitable<void> close(time_point give_up_at) = 0;
    // True: an operation has not ended, so the link must not be destroyed.
    [[nodiscard]] virtual bool is_in_use() const noexcept { return false; }
    // Call this before the listener is destroyed. After `close`, any thread may call it.
    virtual void forget_listener() noexcept {}
};

// Every connection subscribes to `channel`, the client's own channel; empty: none.
using link_factory =
    std::function<std::shared_ptr<link>(link::listener& receiver, const std::string& channel)>;

// Thrown by `exec` when the outcome is unknown; carries the reason as a sentence.
class connection_lost : public error {
public:
    explicit connection_lost(const std::string& message) : error(errc::unreachable, message) {}
};

// For links whose messages nobody needs.
struct silent_listener final : link::listener {
    void on_message(std::string_view, std::string_view) override {}
    void on_invalidate(std::string_view) override {}
    void on_connected(const link&) override {}
};

// A client's own channel on a server with a channel tag. The prefix of all clients' channels, which
// ends in a colon, with the tag.
[[nodiscard]] inline std::string tagged_prefix(std::string_view prefix, std::string_view tag) {
    return std::string(prefix) + std::string(tag) + ":";
}

// PREFIX:CLIENT becomes PREFIX:TAG:CLIENT.
[[nodiscard]] inline std::string tagged_channel(std::string_view channel, std::string_view tag) {
    const auto prefix_size = channel.rfind(':') + 1;
    return tagged_prefix(channel.substr(0, prefix_size), tag) +
           std::string(channel.substr(prefix_size));
}

}  // namespace pawl::redis
