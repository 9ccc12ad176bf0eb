// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Redisson's locks and semaphores. The member functions are in acquire.cpp, release.cpp and
// admin.cpp; docs/backends/redisson.md describes the protocol.
#pragma once

#include "../../core/util/wakeup.hpp"
#include "../common/acquire_attempt.hpp"
#include "../common/backends.hpp"
#include "../common/lock_base.hpp"
#include "../scripting/run_script.hpp"
#include "calls.hpp"
#include "latches.hpp"
#include "lock_object.hpp"

#include <pawl/error.hpp>

#include <map>

namespace pawl::redis::redisson {

// A waiter in a fair queue counts as gone if the lease for which it waits, as last reported to it,
// has ended, and it has sent no request for this long since then.
inline constexpr duration queue_lease = std::chrono::seconds(5);
// Pawl's scripts treat a Pawl waiter as gone after this time without a request. Its timeout in the
// queue may be later, because Java's waiters are ahead of it.
inline constexpr duration presence_lease = std::chrono::milliseconds(1900);

class locks final : public lock_base {
public:
    locks(const options& server_options, backend_context context, const topology_factory& connect,
          const limits& bounds);

    boost::asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                         time_point give_up_at) override;
    boost::asio::awaitable<release_result> release(const hold& held) override;
    boost::asio::awaitable<lock_info> inspect(std::string_view name) override;
    boost::asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override;
    boost::asio::awaitable<std::optional<grant>> downgrade(const hold& held) override;
    boost::asio::awaitable<void> resize(std::string_view name, std::uint32_t permits) override;
    boost::asio::awaitable<bool> force_release(std::string_view name,
                                               fencing_token expected) override;
    boost::asio::awaitable<examination> examine() override;
    std::string unreachable_reason(std::string_view name) const override;
    spi::latches* latches() noexcept override { return &latches_; }
    spi::capabilities capabilities() const noexcept override;
    std::string capability_hint(lock_mode mode, bool fair) const override;

private:
    class listening_attempt;
    struct outcome {
        std::optional<grant> granted;
        duration remaining{};  // of the holder's lease; negative: unknown
    };

    [[nodiscard]] time_point next_refresh(duration remaining) const;
    [[nodiscard]] std::string new_owner(object_kind kind, bool fenced);
    [[nodiscard]] lock_object object_of(const claim& requested);
    [[nodiscard]] lock_object object_of(const hold& held) const;
    // The object of a writer's hold after its downgrade.
    [[nodiscard]] lock_object reader_object_of(const hold& held) const;
    // The link of all keys of a lock.
    [[nodiscard]] link& link_of(const object_names& names) const noexcept {
        return servers_->link_of(names.lock);
    }
    // Runs the script of the call at the server of the object. All arguments must outlive the
    // operation.
    template <class Call>
    [[nodiscard]] boost::asio::awaitable<answer> run(const object_names& names, const Call& call,
                                                     time_point give_up_at) const {
        return run_script(*servers_, names.lock, call, session_words, give_up_at);
    }

    boost::asio::awaitable<void> renew_at(topology& servers, renewal_batch& batch) override;
    std::string key_of(std::string_view name) const override { return naming_.names_of(name).lock; }
    boost::asio::awaitable<outcome> send_acquire(listening_attempt& attempt, const claim& requested,
                                                 bool is_blocking, time_point give_up_at);
    [[nodiscard]] undo_queue::undo undo_of(std::shared_ptr<const lock_object> object);
    // `objects`: of each renewal of the batch.
    boost::asio::awaitable<void> renew_group(topology& servers, renewal_batch& batch,
                                             std::span<const lock_object> objects,
                                             renewal_group group);
    // The call that releases the object. It refers to its arguments.
    [[nodiscard]] release_call make_release(const lock_object& object,
                                            std::string_view unlock_latch) const;
    boost::asio::awaitable<reply> send_release(const lock_object& object, std::string unlock_latch,
                                               time_point give_up_at);
    boost::asio::awaitable<void> release_later(lock_object object, std::string unlock_latch);
    boost::asio::awaitable<void> delete_unlock_latch(std::string key, std::string unlock_latch);

    void on_message(std::string_view channel, std::string_view payload) override;
    void on_invalidate(std::string_view) override {}
    void on_connected(const link& connected_link) override;

    const naming naming_;
    const std::string client_;  // the UUID of this client: the first part of its owners
    std::uint64_t thread_count_ = 0;
    java_latches latches_;
    std::multimap<std::string_view, listening_attempt*> attempts_by_channel_;
};

// One owner's attempt, and its subscription to the channel that reports a release. If a request
// gets no reply, the server may still execute it. Then the attempt ends, its undo follows, and the
// owner is never used again. The undo of a queued attempt leaves the queue.
class locks::listening_attempt {
public:
    listening_attempt(locks& parent, const claim& requested);
    ~listening_attempt();
    listening_attempt(const listening_attempt&) = delete;
    listening_attempt& operator=(const listening_attempt&) = delete;

    boost::asio::awaitable<void> listen(time_point give_up_at);
    // False also if the object has moved to another server since.
    [[nodiscard]] bool is_listening() const noexcept {
        return link_ == &parent_.link_of(object.keys);
    }

private:
    const std::shared_ptr<const lock_object> object_;

public:
    const lock_object& object;
    acquire_attempt undo_guard;
    core::wakeup wakeup;  // notified by every message of the channel, and by a new connection

private:
    locks& parent_;
    std::multimap<std::string_view, listening_attempt*>::iterator position_;
    link* link_ = nullptr;  // that of the subscription; null: none
};

}  // namespace pawl::redis::redisson
