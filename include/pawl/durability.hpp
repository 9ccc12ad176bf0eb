// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How many copies of a new hold exist before the caller gets the lock. docs/guide/durability.md has
// the failures that each level survives, and its cost.
#pragma once

#include <cstdint>

namespace pawl {

// `primary`, `replicas(k)` or `disk`. A grant that the service cannot make so durable in time is
// released, and the acquire fails with errc::not_durable. A level that the service does not have
// fails with errc::unsupported. Renewals and releases are not waited for.
class durability {
public:
    // The server that grants the lock has it in its memory.
    static const durability primary;
    // The server that grants the lock has it in its append-only file or log, after an fsync.
    static const durability disk;
    // At least `count` replicas have it in their memory, too. 1 to 1000.
    [[nodiscard]] static constexpr durability replicas(std::uint32_t count) noexcept {
        return {level::replicas, count};
    }

    // The same as `primary`.
    constexpr durability() noexcept = default;

    // Which of the levels it is; both are false for `primary`.
    [[nodiscard]] constexpr bool is_on_replicas() const noexcept {
        return level_ == level::replicas;
    }
    // As `is_on_replicas`.
    [[nodiscard]] constexpr bool is_on_disk() const noexcept { return level_ == level::disk; }
    // The number of replicas; 0 unless `is_on_replicas`.
    [[nodiscard]] constexpr std::uint32_t replica_count() const noexcept { return replica_count_; }

    // Levels have no order: neither of `disk` and `replicas(1)` includes the other.
    friend constexpr bool operator==(const durability& a, const durability& b) noexcept {
        return a.level_ == b.level_ && a.replica_count_ == b.replica_count_;
    }

private:
    enum class level : std::uint8_t { primary, replicas, disk };
    constexpr durability(level wanted, std::uint32_t count) noexcept
        : replica_count_(count), level_(wanted) {}

    std::uint32_t replica_count_ = 0;
    level level_ = level::primary;
};

inline constexpr durability durability::primary{};
inline constexpr durability durability::disk{level::disk, 0};

}  // namespace pawl
