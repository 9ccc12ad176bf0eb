// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Runs the scripts of the native layout at the server of a lock.
#pragma once

#include "../common/keys.hpp"
#include "../common/server_access.hpp"
#include "../scripting/server_words.hpp"
#include "../topology/follow_key.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace pawl::redis::native {

// Used on one strand.
class lock_scripts {
public:
    // `access` must outlive the object.
    explicit lock_scripts(server_access& access);
    lock_scripts(const lock_scripts&) = delete;
    lock_scripts& operator=(const lock_scripts&) = delete;

    [[nodiscard]] const key_scheme& scheme() const noexcept { return scheme_; }
    // Runs the script of the call at the server of the lock, as `follow_key` does.
    template <class Call>
    [[nodiscard]] boost::asio::awaitable<answer> run(const keys& lock_keys, const Call& call,
                                                     time_point give_up_at,
                                                     prelude usual = prelude::none) {
        const auto compose_call = [this, &call](const link& asked) {
            return call.command(words_at(asked));
        };
        return follow_key(access_.servers(), lock_keys.lock(), give_up_at, compose_call, usual);
    }
    // The arguments of the scripts that depend on the server. Valid until the next call for the
    // same link, and so for a request that is sent at once.
    [[nodiscard]] const server_words& words_at(const link& asked);
    // If the reply is an error, throws the matching error for that lock.
    boost::asio::awaitable<void> throw_if_lock_error(const reply& reply, const keys& lock_keys);
    // The wall clock, in ms since 1970.
    [[nodiscard]] std::int64_t wall_ms() const;

    // Of the last request of an acquire or a waiter.
    [[nodiscard]] duration round_trip() const noexcept { return round_trip_; }
    void note_round_trip(duration round_trip) noexcept { round_trip_ = round_trip; }

private:
    // "FLOOR KEEP_MS" for the scripts. FLOOR is the token of this server's clock when the
    // connection was made: every later token must be above it. KEEP_MS is how long the server keeps
    // an unused counter.
    [[nodiscard]] short_text token_floor(const session& server_session) const;
    // What is made from a server's session, until the session changes.
    struct session_texts {
        server_words words;
        std::string channel_prefix;  // if the session has a channel tag
        std::chrono::microseconds since_1970{-1};
        std::uint64_t epoch = 0;
        std::string replication;
    };

    server_access& access_;
    const key_scheme scheme_;
    std::map<const link*, session_texts> session_texts_;
    duration round_trip_{};
};

}  // namespace pawl::redis::native
