// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The results of the users' releases (I5, I17).
#pragma once

#include "native_locks.hpp"

#include <algorithm>

namespace pawl::simulation {

class release_rule final : public rule {
public:
    release_rule(scenario_facts& facts, const native_locks* locks) : rule(facts), locks_(locks) {}

    void on_sent(simulated_process& /*process*/, const words& command,
                 std::string_view script) override {
        if (script == "release") ++releases_[released_value(command)].sent;
    }
    // A server that does not know the script gets it again.
    void on_answered(const words& command, std::string_view script,
                     const redis::reply* reply) override {
        if (script != "release") return;
        auto& release = releases_[released_value(command)];
        const bool is_refused = reply != nullptr && reply->type == redis::reply::kind::error;
        if (is_refused && reply->text.starts_with("NOSCRIPT"))
            --release.sent;
        else
            release.is_answered = reply != nullptr && !is_refused;
    }

    void on_released(const release_report& report) override {
        const auto result = report.result;
        const auto& first = report.names.front();
        // I17: nobody learns of the end of a hold from the result of its release alone.
        const bool had_ended =
            result == release_result::expired || result == release_result::taken_over;
        if (had_ended && !report.was_told)
            fail("I17", "a hold of '" + first + "' had ended before its release (" +
                            to_string(result) + "), and neither its state nor a counter tells");
        if (result == release_result::unknown && was_answered(report))
            fail("I17", "a release of '" + first + "' was answered, and has the result unknown");
        const bool had_fault = std::ranges::any_of(report.names, [&](const auto& name) {
            const auto& lock = facts_.locks.at(name);
            return !lock.is_calm() || lock.forced_at >= report.called;
        });
        if (report.expects_release && !had_fault && result != release_result::released)
            fail("I5", "a release of '" + first + "' had the result " + to_string(result));
        if (result != release_result::released) return;
        for (std::size_t i = 0; i < report.names.size(); ++i) {
            const auto& lock = facts_.locks.at(report.names[i]);
            const auto& hold = report.holds.at(i);
            // The hold may have been restored before the reply was read.
            const bool was_restored = lock.restored_at >= report.called;
            if (!was_restored && hold.token != 0 && lock.reader->still_has(lock, hold))
                fail("I5", "a release of '" + lock.name + "' left the hold at the server");
        }
    }

private:
    static const std::string& released_value(const words& command) {
        return command.at(3 + std::stoul(command[2]));
    }

    // With one name. A release that is repeated may have ended the hold at the first time.
    [[nodiscard]] bool was_answered(const release_report& report) const {
        const auto token = report.holds.front().token;
        if (report.names.size() != 1 || token == 0 || locks_ == nullptr) return false;
        const auto& lock = facts_.locks.at(report.names.front());
        for (const auto& [value, token_of_value] : locks_->tokens_by_value(lock)) {
            const auto release = releases_.find(value);
            if (token_of_value == token && release != releases_.end())
                return release->second.sent == 1 && release->second.is_answered;
        }
        return false;
    }

    struct sent_release {
        int sent = 0;
        bool is_answered = false;
    };
    const native_locks* const locks_;
    std::map<std::string, sent_release> releases_;  // in the native layout, by value
};

}  // namespace pawl::simulation
