// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The releases that a failover may undo: the old master confirmed them, and the new one may have
// been promoted before. A client repeats them there.
#pragma once

#include "core/util/spi.hpp"
#include "limits.hpp"

#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

namespace pawl::redis {

// Used on one strand.
class recent_releases {
public:
    explicit recent_releases(const limits& bounds)
        : max_count_(bounds.max_recent_releases), max_age_(bounds.recent_release_age) {}

    // A hold with a value of the caller's own is not kept: a later hold may have the same value.
    // With too many releases, or without memory, the oldest or this one is forgotten. The new
    // master may then keep that lock until its lease ends.
    void add(const hold& released, time_point now) noexcept {
        while (count_ > 0 && (count_ >= max_count_ || first().released_at + max_age_ < now))
            forget_first();
        if (!released.claim.value.empty()) return;
        try {
            auto& latest = next_entry();
            latest.released = released;
            latest.released_at = now;
            ++count_;
        } catch (const std::bad_alloc&) {}
    }

    // Without those whose lease has ended, or whose age is above the bound.
    [[nodiscard]] std::vector<hold> at(time_point now) const {
        std::vector<hold> result;
        for (std::size_t i = 0; i < count_; ++i) {
            const auto& each = entries_[(first_ + i) % entries_.size()];
            if (each.released_at + max_age_ >= now && each.released.grant.deadline > now)
                result.push_back(each.released);
        }
        return result;
    }

private:
    struct entry {
        hold released;
        time_point released_at;
    };
    [[nodiscard]] const entry& first() const noexcept { return entries_[first_]; }
    void forget_first() noexcept {
        first_ = (first_ + 1) % entries_.size();
        --count_;
    }
    // The place behind the last release.
    entry& next_entry() {
        if (count_ == entries_.size()) {
            std::rotate(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_),
                        entries_.end());
            first_ = 0;
            entries_.emplace_back();
        }
        return entries_[(first_ + count_) % entries_.size()];
    }

    const std::size_t max_count_;
    const duration max_age_;
    // A ring: each release is copied to the memory of an earlier one.
    std::vector<entry> entries_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
};

}  // namespace pawl::redis
