// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The common part of the backends `native`, `redisson` and `scriptless`: the links,
// renewals, undos, and repeated releases. Pages of docs/backends describe the protocols.
#pragma once

#include "../scripting/run_script.hpp"
#include "../transport/numbers.hpp"
#include "acknowledgements.hpp"
#include "client_tasks.hpp"
#include "core/util/spi.hpp"
#include "renewal_call.hpp"
#include "server_access.hpp"
#include "server_watch.hpp"

#include <pawl/redis.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace pawl::redis {

class lock_base : public backend, protected link::listener, protected server_access {
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

    using interruptible_pause = client_tasks::interruptible_pause;
    // Set by `close` after it has waited for the operations and undos; the links close next.
    [[nodiscard]] bool is_closing() const noexcept { return tasks_.is_closing(); }

    client_tasks tasks_;
    server_watch watch_;

private:
    // Renews all of the holds at these servers.
    boost::asio::awaitable<renewal::outcome> write_to_holds(topology& servers,
                                                            std::span<const hold> holds);
    boost::asio::awaitable<void> scan_or_note(link& server_link, key_listing& into,
                                              const std::string& glob, const std::string& type);

    const topology_factory connect_;
    std::unique_ptr<acknowledgements> acknowledgements_;  // made by the first durable acquire
    std::unique_ptr<separate_servers> listing_servers_;   // made by the first listing
};

}  // namespace pawl::redis
