// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The users' tokens: unique, larger for a later hold, and in order at the resource.
#pragma once

#include "rule.hpp"

#include <algorithm>

namespace pawl::simulation {

class token_rule final : public rule {
public:
    using rule::rule;

    // I2: tokens are unique, except among concurrent readers. A hold that was requested after a
    // grant has a larger token than that grant.
    void on_granted(user_hold& held, const pending_request& request) override {
        if (held.token == 0) return;
        const auto& lock = *held.lock;
        auto& tokens = tokens_[&lock];
        const bool reads = held.mode == lock_mode::shared;
        const bool fresh = tokens.seen.insert(held.token).second ||
                           (reads && tokens.of_readers.contains(held.token));
        if (reads) tokens.of_readers.insert(held.token);
        if (lock.server->planned.tokens_may_go_back || (reads && lock.had_live_rollback)) return;
        if (!fresh) fail("I2", facts_.describe(held) + " has a token that was granted before");
        if (held.token < request.newest_token || (held.token == request.newest_token && !reads))
            fail("I2", facts_.describe(held) + " was requested after a grant of token " +
                           std::to_string(request.newest_token));
    }

    void on_downgrade(const user_hold& held) override {
        tokens_[held.lock].of_readers.insert(held.token);
    }

    // I3: the write of a believing user is not refused.
    void on_write(const user_hold& held) override {
        if (held.token == 0 || !facts_.is_believed(held)) return;
        check_held_at_server(held, "while it wrote");
        if (held.mode == lock_mode::permits) return;  // permit holders write in any order
        const auto& lock = *held.lock;
        auto& highest = tokens_[&lock].highest_written;
        const bool may_have_older_token = held.mode == lock_mode::shared && lock.had_live_rollback;
        const bool refused = held.token < highest && !may_have_older_token;
        if (refused && !facts_.is_excused(held) && !lock.server->planned.tokens_may_go_back)
            fail("I3", facts_.describe(held) + " wrote to the resource after token " +
                           std::to_string(highest));
        // Readers' tokens may differ after a restart of the server, so only writers raise the
        // highest token.
        if (held.mode == lock_mode::exclusive) highest = std::max(highest, held.token);
    }

private:
    struct lock_tokens {
        std::set<std::uint64_t> seen, of_readers;  // by users
        std::uint64_t highest_written = 0;         // in the resource
    };
    std::map<const lock_record*, lock_tokens> tokens_;
};

}  // namespace pawl::simulation
