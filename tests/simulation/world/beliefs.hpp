// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the users of a world believe to hold. A service derives its rules for these holds.
#pragma once

#include "../kernel/scheduler.hpp"

#include <redis/topology/epoch.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pawl::simulation {

[[nodiscard]] constexpr std::uint64_t epoch_in(std::uint64_t token) noexcept {
    return token >> redis::epoch_shift;
}

// A hold, from its grant until its holder released the lock, or was told of the loss.
struct believed_hold {
    std::string name;
    std::uint64_t token = 0;
    instant requested_at{}, granted_at{};
    std::optional<instant> ended_at{};
    const void* program = nullptr;
    std::string label{};  // of the program
    // A reader: from its grant on. A writer: from the request for a downgrade on.
    std::optional<instant> shared_since{};
    std::uint32_t permits = 0;  // of a semaphore; 0: of a lock
    // Since when the servers of the lock do not have the hold.
    std::optional<instant> missing_since{};
    // At the grant: the server that has the lock by the greatest epoch has this hold.
    bool is_of_present_master = false;

    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_in(token); }
    [[nodiscard]] bool is_reader() const noexcept { return shared_since == granted_at; }
    [[nodiscard]] bool is_shared_at(instant when) const noexcept {
        return shared_since && *shared_since <= when;
    }
    // It may be beside an earlier one that still lasts.
    [[nodiscard]] bool may_join(const believed_hold& first) const noexcept {
        return is_reader() && first.is_shared_at(granted_at);
    }
    [[nodiscard]] bool is_believed_at(instant when) const noexcept {
        return granted_at <= when && (!ended_at || *ended_at > when);
    }
};

class beliefs {
public:
    static constexpr std::uint32_t total_permits = 3;

    explicit beliefs(const scheduler& loop) : loop_(loop) {}
    virtual ~beliefs() = default;
    beliefs(const beliefs&) = delete;
    beliefs& operator=(const beliefs&) = delete;

    // `longest_lease`: of any hold. `longest_delay`: between an event at the servers and the moment
    // at which a program learns of it.
    void set_bounds(instant longest_lease, instant longest_delay) noexcept {
        longest_lease_ = longest_lease;
        longest_delay_ = longest_delay;
    }

    [[nodiscard]] believed_hold& add(believed_hold granted);
    void end(believed_hold& hold) const;
    [[nodiscard]] const std::vector<std::unique_ptr<believed_hold>>& all() const noexcept {
        return holds_;
    }
    // SIGSTOP: the program cannot learn of a loss.
    void note_pause(const void* program, instant from, instant until) {
        pauses_.push_back({program, from, until});
    }
    // At that time or later.
    [[nodiscard]] bool was_paused(const void* program, instant from) const;

    // Of all holds, at the end.
    virtual void check() = 0;
    // The first violation counts.
    void fail(const std::string& sentence);
    [[nodiscard]] const std::string& violation() const noexcept { return violation_; }

protected:
    // Others may have the lock of this hold.
    [[nodiscard]] virtual bool is_excused_at(const believed_hold& hold, instant when) const {
        return is_paused(hold, when);
    }
    // At the grant of this hold, which may have ended before its program hears of it: the locks
    // that others have, and the permits of all. The holds are in the order of their grants.
    void check_exclusivity(const believed_hold& second);
    [[nodiscard]] bool is_paused(const believed_hold& hold, instant when) const;
    // For messages.
    [[nodiscard]] static std::string to_text(const believed_hold& first,
                                             const believed_hold& second);

    const scheduler& loop_;
    instant longest_lease_{}, longest_delay_{};

private:
    struct pause {
        const void* program;
        instant from, until;
    };

    std::vector<std::unique_ptr<believed_hold>> holds_;
    std::vector<pause> pauses_;
    std::string violation_;
};

}  // namespace pawl::simulation
