// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The common part of the handles of both APIs. Standard headers only.
#pragma once

#include <pawl/types.hpp>

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string_view>
#include <utility>

namespace pawl {

namespace core {
struct access;
class lease;

// One handle of a lease.
struct handle_id {
    std::shared_ptr<core::lease> lease;
    std::uint32_t number = 0;
};
}  // namespace core

namespace detail {

// Throws errc::not_held.
[[noreturn]] void throw_empty_handle();

// The members of a handle that send no request. Any thread may call any member, but two threads
// must not use one handle at the same time. On an empty handle, all members but operator bool and
// owns_lock throw errc::not_held. The handles that a lock_owner has for one lock share a hold: all
// members refer to that hold.
class held_lock_base {
public:
    // True for the handle of a granted lock, also after its loss or release. It does not compile
    // for a temporary: `if (locks.try_acquire(name))` would release the lock before the first
    // statement. Write `if (auto lock = locks.try_acquire(name))`.
    explicit operator bool() const& noexcept { return lease_ != nullptr; }
    explicit operator bool() const&& = delete;  // a temporary releases at once: name it first

    // True if the state is held or at_risk.
    [[nodiscard]] bool owns_lock() const noexcept;

    // As the hold is at present. The view is valid as long as the handle is not empty.
    [[nodiscard]] std::string_view name() const;
    [[nodiscard]] fencing_token token() const;
    [[nodiscard]] lock_state state() const;
    [[nodiscard]] loss_reason why_lost() const;
    // The lease lasts at least until this time; see Guarantees for what can end the hold earlier.
    // Each renewal moves it forward; after a loss it is in the past.
    [[nodiscard]] time_point safe_until() const;
    // Is stopped at `safe_until` at the latest, also when the network, the event loop or another
    // callback is stuck. The token of a lost hold is stopped from the start: a std::stop_callback
    // then runs its callback in its constructor.
    //
    // Callbacks run on threads that Pawl reserves for them, never on an event loop: they may block,
    // take any mutex and call the client. If the system has no more threads, later signals wait
    // until a callback returns, and `state` stays correct. The destructor of a std::stop_callback
    // waits for its callback.
    [[nodiscard]] std::stop_token lost() const;

protected:
    held_lock_base() noexcept = default;
    held_lock_base(std::shared_ptr<core::lease> lease, std::uint32_t number) noexcept
        : lease_(std::move(lease)), number_(number) {}
    held_lock_base(held_lock_base&&) noexcept = default;
    held_lock_base& operator=(held_lock_base&&) noexcept = default;
    ~held_lock_base() = default;

    // Throws errc::not_held.
    [[nodiscard]] const std::shared_ptr<core::lease>& lease() const {
        if (!lease_) throw_empty_handle();
        return lease_;
    }

    std::shared_ptr<core::lease> lease_;
    std::uint32_t number_ = 0;  // among the handles of one lease

private:
    friend struct core::access;
};

}  // namespace detail
}  // namespace pawl
