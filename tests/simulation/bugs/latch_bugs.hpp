// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Injected bugs of latches: they change the messages between the client's library and the network.
// Without such a bug, nothing is changed.
#pragma once

#include "injected_bug.hpp"

#include <redis/transport/link.hpp>
#include <redis/transport/subscriptions.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace pawl::simulation {

class latch_bugs {
public:
    explicit latch_bugs(injected_bug bug) noexcept : bug_(bug) {}

    using words = std::vector<std::string>;

    // Returns the command that is sent instead.
    [[nodiscard]] words rewrite_command(words command) const;
    // A message has arrived.
    void note_message(const std::string& channel, const std::string& message);
    // The channels of the library that receive the message.
    [[nodiscard]] std::vector<std::string> receivers_of(const std::string& channel,
                                                        const redis::subscriptions& all) const;
    // Changes the reply to what the library sees.
    void rewrite_reply(const words& command, redis::reply& reply);

private:
    [[nodiscard]] bool drops_database() const noexcept {
        return bug_ == injected_bug::channel_without_database ||
               bug_ == injected_bug::generation_of_another_database;
    }

    const injected_bug bug_;
    std::set<std::string> open_keys_;                         // keys of Redisson's latches
    std::map<std::string, std::uint64_t> first_generations_;  // by channel, from messages
};

}  // namespace pawl::simulation
