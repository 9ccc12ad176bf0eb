// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The releases that a failover may undo: the old master confirmed them, and the new one may have
// been promoted before. A client repeats them there.
#pragma once

#include "limits.hpp"

#include <pawl/spi/backend.hpp>

#include <deque>
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
        while (!entries_.empty() &&
               (entries_.size() >= max_count_ || entries_.front().released_at + max_age_ < now))
            entries_.pop_front();
        if (!released.claim.value.empty()) return;
        try {
            entries_.push_back({released, now});
        } catch (const std::bad_alloc&) {}
    }

    // Without those whose lease has ended, or whose age is above the bound.
    [[nodiscard]] std::vector<hold> at(time_point now) const {
        std::vector<hold> result;
        for (const auto& each : entries_)
            if (each.released_at + max_age_ >= now && each.released.grant.deadline > now)
                result.push_back(each.released);
        return result;
    }

private:
    struct entry {
        hold released;
        time_point released_at;
    };
    const std::size_t max_count_;
    const duration max_age_;
    std::deque<entry> entries_;  // the oldest first
};

}  // namespace pawl::redis
