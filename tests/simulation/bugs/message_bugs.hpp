// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Injected bugs that change the messages between the client's library and the network.
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

// Injected bugs of latches: they change the messages between the client's library and the network.
// Without such a bug, nothing is changed.
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

// Injected bugs of owners: the owners of a program's requests differ in a small number that soon
// repeats, such as the last digit of an attempt's number. Without such a bug, nothing is changed.
class owner_bugs {
public:
    // `channel`: the client's own.
    owner_bugs(injected_bug bug, const std::string& channel) : bug_(bug), channel_(channel) {}

    // In a command that the client sends.
    void replace_owners(std::vector<std::string>& command);
    // In a message that the client receives.
    void restore_owners(std::string& message) const;

private:
    const injected_bug bug_;
    const std::string channel_;
    std::map<std::string, std::string> replacements_;  // by owner
    std::map<std::string, std::string> owners_;        // by replacement
    int next_ = 0;
};

}  // namespace pawl::simulation
