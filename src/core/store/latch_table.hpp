// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The steps of latches and barriers over the row of one latch: for stores that keep the counts.
#pragma once

#include "../util/plus.hpp"
#include "../util/spi.hpp"
#include "latch_state.hpp"
#include "queue_policy.hpp"

#include <algorithm>
#include <concepts>
#include <string>
#include <utility>

namespace pawl::core {

struct latch_entry : latch_state {
    std::uint32_t parties = 0;  // 0: a latch, not a barrier
    duration ttl{};

    // What its waiters read.
    [[nodiscard]] const latch_state& state() const noexcept { return *this; }
};

// The row of one latch in one transaction. A function may throw; then the transaction has no
// effect.
template <class Rows>
concept latch_rows = requires(Rows rows, const latch_entry& entry) {
    // Not `known` if there is no row, or its ttl has passed.
    { rows.read() } -> std::same_as<latch_entry>;
    rows.write(entry);
    rows.erase();
    // Larger than every generation before, of all names.
    { rows.next_generation() } -> std::same_as<std::uint64_t>;
    // The messages are sent after the transaction.
    rows.notify_waiters();
    { rows.count_waiters() } -> std::convertible_to<std::uint64_t>;
};

// Used for one step of one transaction. `rows` outlives it.
template <latch_rows Rows>
class latch_table {
public:
    latch_table(Rows& rows, std::string name, time_point now) noexcept
        : rows_(rows), name_(std::move(name)), now_(now) {}

    // False: a generation is counting.
    bool try_set(std::uint32_t count, duration ttl) {
        auto entry = rows_.read();
        if (entry.count > 0) return false;
        start_generation(entry, count, 0);
        entry.ttl = ttl;
        write(entry);
        return true;
    }

    // Throws errc::lost for an unknown latch.
    latches::step count_down(std::uint32_t steps) {
        auto entry = rows_.read();
        if (!entry.known) throw unknown_latch_error(name_);
        return subtract(entry, steps);
    }

    // Throws errc::bad_option if the barrier has another number of parties.
    latches::step arrive(std::uint32_t parties, duration ttl) {
        auto entry = rows_.read();
        if (entry.count > 0 && entry.parties != parties)
            throw other_parties_error(name_, entry.parties, parties);
        if (entry.count == 0) start_generation(entry, parties, parties);
        entry.ttl = ttl;
        return subtract(entry, 1);
    }

    latch_info describe() {
        latch_info info;
        info.name = name_;
        info.waiters = rows_.count_waiters();
        const auto entry = rows_.read();
        info.known = entry.known;
        if (!entry.known) return info;
        info.count = entry.count;
        info.generation = entry.generation;
        info.parties = entry.parties;
        info.remaining = entry.expires - now_;
        return info;
    }

    // False: the latch is unknown.
    bool reset() {
        if (!rows_.read().known) return false;
        rows_.erase();
        rows_.notify_waiters();
        return true;
    }

private:
    void start_generation(latch_entry& entry, std::uint32_t count, std::uint32_t parties) {
        entry.generation = rows_.next_generation();
        if (!entry.known) entry.first = entry.generation;
        entry.known = true;
        entry.count = count;
        entry.parties = parties;
    }
    // The last party of a barrier begins the next generation in the same step.
    latches::step subtract(latch_entry& entry, std::uint64_t steps) {
        const bool was_counting = entry.count > 0;
        entry.count -= std::min(entry.count, steps);
        const latches::step step_taken{entry.generation, entry.count};
        if (was_counting && entry.count == 0) {
            if (entry.parties != 0) start_generation(entry, entry.parties, entry.parties);
            rows_.notify_waiters();
        }
        write(entry);
        return step_taken;
    }
    void write(latch_entry& entry) {
        entry.expires = plus(now_, entry.ttl);
        rows_.write(entry);
    }

    Rows& rows_;
    const std::string name_;
    const time_point now_;
};

// The latches of a client whose store has a `latch_table`. `Derived` has `run<T>(name, step)`,
// which runs the step with the table in a transaction, and returns an awaitable of its result.
template <class Derived>
class row_latches : public latches {
public:
    boost::asio::awaitable<bool> try_set(std::string_view name, std::uint32_t count,
                                         duration ttl) override {
        return run<bool>(name, [count, ttl](auto& latch) { return latch.try_set(count, ttl); });
    }
    boost::asio::awaitable<step> count_down(std::string_view name, std::uint32_t steps) override {
        return run<step>(name, [steps](auto& latch) { return latch.count_down(steps); });
    }
    boost::asio::awaitable<step> arrive(std::string_view name, std::uint32_t parties,
                                        duration ttl) override {
        return run<step>(name, [parties, ttl](auto& latch) { return latch.arrive(parties, ttl); });
    }
    boost::asio::awaitable<latch_info> inspect(std::string_view name) override {
        return run<latch_info>(name, [](auto& latch) { return latch.describe(); });
    }
    boost::asio::awaitable<bool> reset(std::string_view name) override {
        return run<bool>(name, [](auto& latch) { return latch.reset(); });
    }

private:
    template <class T, class Job>
    boost::asio::awaitable<T> run(std::string_view name, Job job) {
        return static_cast<Derived&>(*this).template run<T>(name, job);
    }
};

}  // namespace pawl::core
