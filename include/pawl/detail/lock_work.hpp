// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An implementation detail: the work of `with_lock`, in both APIs. Standard headers only.
#pragma once

#include <pawl/detail/held_lock_base.hpp>
#include <pawl/error.hpp>
#include <pawl/lost_during_work.hpp>

#include <concepts>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace pawl::detail {

// Called with the handle, or with the handle and a token that is stopped at the loss.
template <class Work, class Handle>
concept lock_work =
    std::invocable<Work&, Handle&> || std::invocable<Work&, Handle&, std::stop_token>;

template <class Work, class Handle>
    requires lock_work<Work, Handle>
decltype(auto) call_work(Work& work, Handle& lock) {
    if constexpr (std::invocable<Work&, Handle&, std::stop_token>)
        return work(lock, lock.lost());
    else
        return work(lock);
}
template <class Work, class Handle>
using work_result = decltype(call_work(std::declval<Work&>(), std::declval<Handle&>()));

// After the release: the error if the hold had ended before it. Empty for an empty handle, which
// the work has moved elsewhere.
[[nodiscard]] std::optional<error> loss_during_work(const held_lock_base& lock);

inline void throw_if_lost(const held_lock_base& lock) {
    if (const auto loss = loss_during_work(lock)) throw error(*loss);
}
template <class Result>
void throw_if_lost(const held_lock_base& lock, Result& result) {
    const auto loss = loss_during_work(lock);
    if (!loss) return;
    if constexpr (std::is_object_v<Result> && std::move_constructible<Result>)
        throw lost_during_work<Result>(*loss, std::move(result));
    else
        throw error(*loss);
}

// For a handle of the sync API. If the work throws, the lock is released, too.
template <class Handle, class Work>
work_result<Work, Handle> work_and_release(Handle& lock, Work& work) {
    using result_type = work_result<Work, Handle>;
    struct releaser {
        Handle& lock;
        ~releaser() {
            if (lock) (void)lock.release();
        }
    };
    const auto work_in_scope = [&]() -> result_type {
        const releaser release_at_end{lock};
        return call_work(work, lock);
    };
    if constexpr (std::is_void_v<result_type>) {
        work_in_scope();
        throw_if_lost(lock);
    } else {
        result_type result = work_in_scope();
        throw_if_lost(lock, result);
        return std::forward<result_type>(result);
    }
}

}  // namespace pawl::detail
