// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for the holds of a database.
#pragma once

#include "../../world/beliefs.hpp"

#include <algorithm>

namespace pawl::simulation {

class sql_checker final : public beliefs {
public:
    using beliefs::beliefs;

    // An operator's program takes the lock from its holders, until it ends.
    void note_force(const std::string& name) { forces_.push_back({name, loop_.now()}); }
    void end_force(std::size_t index) { forces_[index].until = loop_.now(); }
    [[nodiscard]] std::size_t count_forces() const noexcept { return forces_.size(); }
    // The server takes the lock from the program.
    void note_end(const std::string& name, const void* program) {
        forces_.push_back({name, loop_.now(), loop_.now(), program});
    }
    [[nodiscard]] bool is_ended(const believed_hold& hold, instant when) const {
        return std::ranges::any_of(forces_, [&](const force& each) {
            return each.program == hold.program && each.name == hold.name && each.from <= when &&
                   each.from >= hold.requested_at;
        });
    }
    [[nodiscard]] bool is_forced(const believed_hold& hold, instant when) const {
        return is_ended(hold, when) || std::ranges::any_of(forces_, [&](const force& each) {
                   return each.program == nullptr && each.name == hold.name && each.from <= when &&
                          (!each.until || *each.until + longest_delivery >= hold.granted_at);
               });
    }
    // Tokens are larger than all that were granted before the request; readers may share one. 0 is
    // none.
    void check_token(const believed_hold& granted) {
        for (const auto& each : all()) {
            if (each.get() == &granted || each->name != granted.name || each->token == 0) continue;
            const bool shares = granted.shared_since && each->shared_since;
            if (each->token == granted.token && !shares)
                fail("a token was issued twice: " + to_text(*each, granted));
            if (each->granted_at < granted.requested_at && each->token > granted.token)
                fail("a token is smaller than an earlier one: " + to_text(*each, granted));
        }
    }
    void check() override {
        // The answer with the grant may come after the end of the session.
        for (const auto& each : all())
            if (!is_ended(*each, each->granted_at)) check_exclusivity(*each);
    }

private:
    // From a transaction until a program knows of it.
    static constexpr auto longest_delivery = std::chrono::milliseconds(500);

    struct force {
        std::string name;
        instant from;
        std::optional<instant> until{};
        const void* program = nullptr;  // null: any
    };
    [[nodiscard]] bool is_excused_at(const believed_hold& hold, instant when) const override {
        return is_forced(hold, when) || is_paused(hold, when);
    }

    std::vector<force> forces_;
};

}  // namespace pawl::simulation
