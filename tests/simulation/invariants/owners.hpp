// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// I9: no two requests that can create a hold have the same owner. Otherwise the undo of one request
// would also undo the other.
#pragma once

#include "redisson_rule.hpp"

namespace pawl::simulation {

class native_owner_rule final : public rule {
public:
    using rule::rule;

    void on_executed(const executed_command& call) override {
        if (call.script.empty() || call.is_unknown()) return;
        const auto arguments = call.arguments();
        if (call.script == "acquire" || call.script == "acquire_any_mode")
            check(call.script, arguments[0]);
        if (call.script != "acquire_batch") return;
        for (const auto& value : arguments.subspan(2))
            check(call.script, value);
    }

private:
    void check(std::string_view script, const std::string& value) {
        const auto owner = value.substr(0, value.find(';'));
        if (owner.size() != 32) fail("I9", "the owner '" + owner + "' has not 128 bits");
        if (!owners_.insert(owner).second)
            fail("I9", "the owner " + owner + " of '" + std::string(script) + "' was used before");
    }

    std::set<std::string> owners_;
};

// An owner is not used again after a request that was granted, undone, or left without a reply.
// While the replies are refusals, the same waiter tries again with its owner.
class redisson_owner_rule final : public rule {
public:
    using rule::rule;

    void on_sent(simulated_process& /*process*/, const words& command,
                 std::string_view script) override {
        if (can_make_hold(script)) {
            const auto& owner = owner_in(command);
            if (spent_.contains(owner) || !pending_.insert(owner).second)
                fail("I9", "the owner " + printable(owner) + " of a request was used before");
        } else if (is_undo(command, script)) {
            spent_.insert(owner_in(command));
        }
    }
    void on_answered(const words& command, std::string_view script,
                     const redis::reply* reply) override {
        if (!can_make_hold(script)) return;
        const auto& owner = owner_in(command);
        pending_.erase(owner);
        if (reply == nullptr || !has_taken_nothing(*reply)) spent_.insert(owner);
    }
    // At the server: no request is executed again after it was granted.
    void on_lock_executed(lock_record& /*lock*/, const executed_command& call) override {
        if (!can_make_hold(call.script)) return;
        const auto& owner = owner_in(call.command);
        if (granted_.contains(owner))
            fail("I9", std::string(call.script) + " was executed for the owner " +
                           printable(owner) + " after a grant");
        if (call.returned(1)) granted_.insert(owner);
    }

private:
    static const std::string& owner_in(const words& command) {
        return command[3 + std::stoul(command[2])];
    }
    // The script refused the request, or the server refused the script before its first write.
    static bool has_taken_nothing(const redis::reply& reply) {
        return reply.type == redis::reply::kind::error || reply.items.at(0).number == 0;
    }

    std::set<std::string> pending_, spent_, granted_;
};

}  // namespace pawl::simulation
