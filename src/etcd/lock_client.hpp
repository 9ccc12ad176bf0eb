// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One client's side of the locks: its leases, watches and waiters, and what it still has to undo.
#pragma once

#include "keys.hpp"
#include "lease_sessions.hpp"
#include "lock_line.hpp"
#include "watch_stream.hpp"

#include "../core/store/session_pool.hpp"
#include "../core/util/fork_mark.hpp"
#include "../core/util/in_flight.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::etcd {

// Is told of the end of any lease of the client.
class session_listener {
public:
    virtual void on_session_end() = 0;

protected:
    ~session_listener() = default;
};

// The key of a hold or a waiter, with the leases that it may be attached to.
struct lock_key {
    std::string key{};
    core::session_ptr lease{};    // of the ttl
    core::session_ptr waiting{};  // of the waiter; null, or the same, if it needs none of its own
};

// A grant that the store does not know of yet: the key is still that of a waiter.
struct unconfirmed_grant {
    lock_key key{};
    std::int64_t created = 0;
    entry_value value{};
    std::shared_ptr<core::session_use> use{};  // of the waiter's lease
};

// Used on the client's strand. Every coroutine of the backend keeps its client.
class lock_client final : public std::enable_shared_from_this<lock_client> {
public:
    static std::shared_ptr<lock_client> make(const options& settings,
                                             const backend_context& context);
    lock_client(const options& settings, const backend_context& context);
    ~lock_client();

    [[nodiscard]] const backend_context& context() const noexcept { return context_; }
    [[nodiscard]] const key_scheme& keys() const noexcept { return keys_; }
    [[nodiscard]] server_link& link() noexcept { return *link_; }
    [[nodiscard]] core::session_pool& pool() noexcept { return *pool_; }
    [[nodiscard]] lease_sessions& leases() noexcept { return *leases_; }
    [[nodiscard]] const std::shared_ptr<watch_stream>& watches() noexcept { return watches_; }
    [[nodiscard]] core::in_flight& operations() noexcept { return operations_; }
    [[nodiscard]] time_point now() const noexcept { return context_.time->now(); }
    // The limit of a request that waits for nobody.
    [[nodiscard]] time_point try_deadline() const noexcept { return now() + context_.try_limit; }
    [[nodiscard]] bool is_forked() const noexcept { return made_in_.is_forked(); }
    void throw_if_forked() const { made_in_.throw_if_forked(); }

    // The answer to an encoded transaction. Throws as server_link::call.
    boost::asio::awaitable<transaction_answer> run(std::string request, time_point give_up_at);
    // The present line of a lock.
    boost::asio::awaitable<lock_line> look(std::string beginning, time_point give_up_at);
    // Adds the condition that no undo has come in between.
    void add_guard(transaction& request, const core::session_ptr& lease) const;
    // Takes the guards that a refused transaction has found. True: one is not the compared one, so
    // the request may be repeated. Throws errc::unavailable if a lease has ended.
    bool take_guards(std::span<const core::session_ptr> leases,
                     std::span<const std::int64_t> compared, const operation_answer* answers);
    [[nodiscard]] std::vector<std::int64_t> guards_of(
        std::span<const core::session_ptr> leases) const;
    // The store has answered that a lease does not exist.
    void on_missing_lease(const lock_key& key);

    // Repeats the removal of the key, with growing pauses, until the store confirms that no request
    // of this attempt can still have an effect, or the leases are over.
    void undo_in_background(lock_key key) noexcept;

    // Writes the value of a grant, with the lease of its ttl. False: the key is gone.
    boost::asio::awaitable<std::optional<std::int64_t>> confirm(unconfirmed_grant granted,
                                                                time_point give_up_at);
    void keep_unconfirmed(const std::string& owner, unconfirmed_grant granted);
    [[nodiscard]] std::optional<unconfirmed_grant> find_unconfirmed(const std::string& owner) const;
    void forget_unconfirmed(const std::string& owner) { unconfirmed_.erase(owner); }

    void add(session_listener& listener) { listeners_.insert(&listener); }
    void remove(session_listener& listener) noexcept { listeners_.erase(&listener); }

    // Of the semaphores whose totals this client has seen. 0: none.
    [[nodiscard]] std::uint32_t known_total(const std::string& name) const;
    void set_known_total(const std::string& name, std::uint32_t total);

    static boost::asio::awaitable<void> close(std::shared_ptr<lock_client> self,
                                              time_point give_up_at);

private:
    class guard_watch;

    static boost::asio::awaitable<void> undo(std::shared_ptr<lock_client> self, lock_key key);
    boost::asio::awaitable<bool> undo_at(lock_key key, core::session_ptr lease);
    void on_session_open(const std::string& session);
    void report_possible_loss();
    void report_loss(std::string_view owner);
    void on_session_end(const std::string& session);

    const backend_context context_;
    const core::fork_mark made_in_;
    const key_scheme keys_;
    core::in_flight operations_;
    const std::shared_ptr<server_link> link_;
    const std::shared_ptr<lease_sessions> leases_;
    const std::shared_ptr<core::session_pool> pool_;
    const std::shared_ptr<watch_stream> watches_;
    std::map<std::string, std::unique_ptr<guard_watch>, std::less<>> guard_watches_;
    std::map<std::string, unconfirmed_grant, std::less<>> unconfirmed_;  // by owner
    std::map<std::string, std::uint32_t, std::less<>> totals_;
    std::set<session_listener*> listeners_;
    std::int64_t revision_ = 0;  // the latest of the store that an answer had
    bool is_closing_ = false;
};

// How a hold is named to the core, to find it again: its key's create revision and its lease.
struct stored_hold {
    std::int64_t created = 0;
    std::string session{};

    [[nodiscard]] std::string encode() const;
    [[nodiscard]] static stored_hold decode(std::string_view text);
};

}  // namespace pawl::etcd
