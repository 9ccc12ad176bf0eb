// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for the holds and the latch of a scenario of the SQLite backend.
#pragma once

#include "../../world/beliefs.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pawl::simulation {

class file_checker final : public beliefs {
public:
    using beliefs::beliefs;

    // At the grant.
    void check_token(const believed_hold& granted);
    // An operator's program takes the lock from its holders, until it ends.
    void note_force(const std::string& name, const void* by) {
        excuses_.push_back({name, by, loop_.now(), std::nullopt});
    }
    void end_force(const void* by, bool has_notified);
    // Living programs must notice it.
    void note_file_replaced(bool under_living_programs);
    // The counter in the file may be lower than the issued tokens.
    void note_old_counter(std::chrono::system_clock::time_point wall);
    void note_wall_set_back();
    // The file was replaced, or the lock forced, during the hold: others may have it, and a loss
    // must be reported.
    [[nodiscard]] bool is_excused(const believed_hold& hold) const {
        return excused_since(hold).has_value();
    }
    // The program of this hold had noticed by then that the file was replaced.
    void check_noticed(const believed_hold& hold, instant noticed_at);
    // Nothing has kept the notification of a forced release from this program since then.
    void check_forced(const believed_hold& hold, instant undisturbed_since);
    void check() override;

    // The count that the latch must have; empty if it is unknown.
    [[nodiscard]] std::optional<std::uint64_t>& expected_latch() noexcept {
        return expected_latch_;
    }
    // The latch has this count.
    void check_latch(std::uint64_t count);

private:
    struct excuse {
        std::string name;          // empty: all locks
        const void* by = nullptr;  // null: the file was replaced
        instant from;
        std::optional<instant> until{};
        bool has_notified = false;  // the holders
    };
    [[nodiscard]] std::optional<instant> excused_since(const believed_hold& hold) const;
    [[nodiscard]] bool is_excused_at(const believed_hold& hold, instant when) const override {
        const auto since = excused_since(hold);
        return since && *since <= when;
    }
    [[nodiscard]] std::size_t file_version_at(instant when) const;

    std::vector<excuse> excuses_;
    std::vector<instant> replacements_;  // under living programs
    std::uint64_t highest_token_ = 0;
    bool counter_is_old_ = false;
    bool tokens_excused_ = false;
    std::optional<std::uint64_t> expected_latch_;
};

}  // namespace pawl::simulation
