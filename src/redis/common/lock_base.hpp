// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The common part of the backends `native`, `redisson` and `scriptless`: the links,
// renewals, undos, and repeated releases. Pages of docs/backends describe the protocols.
#pragma once

#include "../scripting/run_script.hpp"
#include "../topology/connected_link.hpp"
#include "../transport/numbers.hpp"
#include "acknowledgements.hpp"
#include "client_tasks.hpp"
#include "renewal_call.hpp"
#include "server_watch.hpp"
#include "undo_queues.hpp"
#include "waits.hpp"

#include "../../core/util/fork_mark.hpp"

#include <pawl/redis.hpp>
#include <pawl/spi/backend.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace pawl::redis {

class lock_base : public backend, protected link::listener {
public:
    ~lock_base() override { servers_->forget_listener(); }
    lock_base(const lock_base&) = delete;
    lock_base& operator=(const lock_base&) = delete;

    boost::asio::awaitable<void> confirm_durability(std::span<const hold* const> holds,
                                                    durability wanted,
                                                    time_point give_up_at) override;
    boost::asio::awaitable<void> renew(renewal_batch& batch) override {
        return renew_at(*servers_, batch);
    }
    boost::asio::awaitable<void> close(time_point give_up_at) override;
    std::size_t renewals_at_once() const noexcept override { return bounds_.renewals_per_script; }
    std::size_t unanswered_renewals() const noexcept override {
        return bounds_.unanswered_renewals;
    }
    bool resumes_on_strand() const noexcept override { return true; }

protected:
    // `channel` as in topology_factory.
    lock_base(const options& server_options, backend_context context,
              const topology_factory& connect, const std::string& channel, const limits& bounds);

    runtime& time() const noexcept { return *context_.time; }
    time_point now() const noexcept { return context_.time->now(); }
    time_point reply_deadline() const { return now() + options_.reply_timeout; }
    // The same for an attempt that does not wait.
    time_point try_deadline() const {
        return now() + std::min(options_.reply_timeout, context_.try_limit);
    }
    // The same for a request of an acquire. If the acquire waits, it gives up at `give_up_at`.
    time_point reply_deadline(bool is_blocking, time_point give_up_at) const {
        return is_blocking ? std::max(give_up_at, now() + min_reply_wait) : try_deadline();
    }
    time_point release_deadline(const hold& held) const {
        return redis::release_deadline(held, now(), options_.reply_timeout);
    }
    // The link for the next request about this key. Ask again after each wait that precedes the
    // request: the key may move.
    [[nodiscard]] link& link_of(std::string_view key) const noexcept {
        return servers_->link_of(key);
    }
    // Waits until the link of the key is connected, and returns it. The client knows the server's
    // session only through its connection.
    [[nodiscard]] boost::asio::awaitable<link*> connected_link_of(std::string_view key,
                                                                  time_point give_up_at) const {
        return redis::connected_link_of(*servers_, key, give_up_at);
    }
    boost::asio::awaitable<void> pause(duration at_least, duration at_most);
    void log(const std::string& line) const {
        if (context_.log) context_.log(line);
    }

    // As `renew`, over the links of these servers.
    virtual boost::asio::awaitable<void> renew_at(topology& servers, renewal_batch& batch) = 0;
    // The key that decides which server has the lock.
    [[nodiscard]] virtual std::string key_of(std::string_view name) const = 0;

    // Renewals that one request can contain: indices into a batch.
    struct renewal_group {
        const link* server_link;
        std::vector<std::size_t> indices;
    };
    // Adds the index to the group of the key's server, or where keys move one by one, to a group of
    // its own.
    static void add_to_group(std::vector<renewal_group>& groups, const topology& servers,
                             std::string_view key, std::size_t index);
    // Settles the renewals of the batch with these indices, in the order in which they were added
    // to the call.
    boost::asio::awaitable<void> renew_with_script(topology& servers, std::string_view key,
                                                   const renewal_call& call, renewal_batch& batch,
                                                   std::span<const std::size_t> indices);
    // The outcome of a renewal for which the server has answered that the hold has ended.
    [[nodiscard]] renewal::outcome refusal_of(
        const link& server_link, const renewal& requested,
        renewal::outcome answer = renewal::outcome::refused) const {
        return watch_.was_confirmed_before_failover(server_link, requested)
                   ? renewal::outcome::failed_over
                   : answer;
    }
    // Call this before a request over this link that may have to be undone. Throws
    // errc::unavailable when too many undos for its server are pending.
    void check_room_for_undo(const link& server_link);
    // Repeats a release whose outcome is unknown until the server executes it or finally rejects
    // it, at most for the ttl.
    boost::asio::awaitable<void> retry_release(std::string key, const request_sender& send,
                                               duration ttl);

    // The servers for listings. Their replies contain the names of other programs' keys, and a
    // reply that is too large ends its connection.
    [[nodiscard]] topology& listing_servers();
    // What `list` collects.
    struct key_listing {
        std::set<std::string> keys;
        // Of the listing servers that give no list. They are not asked again.
        std::map<const link*, error> failures{};
    };
    using lock_filter = std::function<bool(const lock_info&)>;
    [[nodiscard]] static bool is_held(const lock_info& info) noexcept {
        return info.held_by.has_value();
    }
    // Adds all keys of that type that match, on all servers. Throws if every server has failed:
    // errc::protocol when a server's list has no end.
    boost::asio::awaitable<void> scan(key_listing& into, std::string glob, std::string type);
    // The locks of these names that the filter accepts. Throws `incomplete_list` if some servers
    // have failed.
    boost::asio::awaitable<std::vector<lock_info>> inspect_all(key_listing& listed,
                                                               std::set<std::string> names,
                                                               lock_filter is_shown);

    using operation_guard = client_tasks::operation_guard;
    using interruptible_pause = client_tasks::interruptible_pause;

    const options options_;
    const backend_context context_;
    const limits bounds_;
    const std::shared_ptr<topology> servers_;
    undo_queues undos_;
    client_tasks tasks_;
    server_watch watch_;
    known_scripts known_scripts_;

private:
    // Renews all of the holds at these servers.
    boost::asio::awaitable<renewal::outcome> write_to_holds(topology& servers,
                                                            std::span<const hold> holds);
    boost::asio::awaitable<void> scan_or_note(link& server_link, key_listing& into,
                                              const std::string& glob, const std::string& type);

    const core::fork_mark made_in_;
    const topology_factory connect_;
    std::unique_ptr<acknowledgements> acknowledgements_;  // made by the first durable acquire
    std::unique_ptr<separate_servers> listing_servers_;   // made by the first listing
};

// True: the key has another type than the script expects. The whole text is searched, because Redis
// 6 writes the script's name before the error of a command in a script.
[[nodiscard]] bool is_wrong_type(const reply& reply);
}  // namespace pawl::redis
