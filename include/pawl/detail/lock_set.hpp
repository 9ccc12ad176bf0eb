// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The common part of the `held_locks` of both APIs. Standard headers only.
#pragma once

#include <pawl/detail/held_lock_base.hpp>
#include <pawl/types.hpp>

#include <algorithm>
#include <list>
#include <memory>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::detail {

// The worse of two results. From best to worst: released, still_held, unknown, expired, taken_over.
[[nodiscard]] release_result worse(release_result a, release_result b) noexcept;

// The handles of several locks, sorted by name, each name once. Move-only; empty when
// default-constructed or moved from. The destructor releases all locks in the background. Any
// thread may use a set, but not two threads at the same time.
//
// The loss of one lock is the loss of the set. The other locks stay taken until the set is
// released, so that work under them can finish.
template <class Handle>
class lock_set {
public:
    // True unless the set is empty. It does not compile for a temporary, which would release all
    // locks before the first statement.
    explicit operator bool() const& noexcept { return !handles.empty(); }
    explicit operator bool() const&& = delete;  // a temporary releases at once: name it first
    // The handles, by name.
    [[nodiscard]] std::size_t size() const noexcept { return handles.size(); }
    [[nodiscard]] auto begin() const noexcept { return handles.begin(); }
    [[nodiscard]] auto end() const noexcept { return handles.end(); }

    // The token of the lock with this name; an empty token if the set has no such lock.
    [[nodiscard]] fencing_token token(std::string_view name) const noexcept {
        const auto position = std::find_if(
            begin(), end(), [name](const Handle& each) { return each.name() == name; });
        return position == end() ? fencing_token{} : position->token();
    }

    // True if all locks are held; false for an empty set. The members below throw errc::not_held
    // for an empty set.
    [[nodiscard]] bool owns_lock() const noexcept {
        return !handles.empty() &&
               std::all_of(begin(), end(), [](const Handle& each) { return each.owns_lock(); });
    }
    // The worst state: lost, released, at_risk, held.
    [[nodiscard]] lock_state state() const {
        throw_if_empty();
        auto worst = lock_state::held;
        for (const Handle& each : handles) {
            const auto handle_state = each.state();
            if (handle_state == lock_state::lost) return handle_state;
            worst = std::max(worst, handle_state);
        }
        return worst;
    }
    // The reason of the first lost lock, in the order of names.
    [[nodiscard]] loss_reason why_lost() const {
        throw_if_empty();
        for (const Handle& each : handles)
            if (each.why_lost() != loss_reason::none) return each.why_lost();
        return loss_reason::none;
    }
    // The earliest of all locks.
    [[nodiscard]] time_point safe_until() const {
        throw_if_empty();
        auto until = time_point::max();
        for (const Handle& each : handles)
            until = std::min(until, each.safe_until());
        return until;
    }
    // Is stopped when one of the locks is lost; as held_lock::lost.
    [[nodiscard]] std::stop_token lost() const {
        throw_if_empty();
        for (const Handle& each : handles)
            if (each.state() == lock_state::lost) return each.lost();
        return loss_->source.get_token();
    }

protected:
    lock_set() noexcept = default;
    explicit lock_set(std::vector<Handle> locks)
        : handles(std::move(locks)), loss_(std::make_unique<joint_loss>()) {
        for (const Handle& each : handles)
            loss_->callbacks.emplace_back(each.lost(), relay{loss_->source});
    }

    void throw_if_empty() const {
        if (handles.empty()) throw_empty_handle();
    }

    std::vector<Handle> handles;

private:
    struct relay {
        std::stop_source source;
        void operator()() const noexcept {
            auto own_source = source;  // a callback may destroy the set, and this object with it
            own_source.request_stop();
        }
    };
    struct joint_loss {
        std::stop_source source;
        std::list<std::stop_callback<relay>> callbacks;
    };
    std::unique_ptr<joint_loss> loss_;
};

}  // namespace pawl::detail
