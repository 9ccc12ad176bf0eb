// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The base of the rules for the objects of Redisson's layout, which Java programs hold as well.
#pragma once

#include "rule.hpp"

#include <optional>

namespace pawl::simulation {

class redisson_rule : public rule, public lock_reader {
public:
    using rule::rule;

    void on_lock_executed(lock_record& lock, const executed_command& call) final {
        if (lock.reader == this) inspect(lock, call);
    }
    [[nodiscard]] bool still_has(const lock_record& lock, const released_hold& hold) const final;
    [[nodiscard]] std::string value_of(const lock_record& /*lock*/) const final { return {}; }

    // What Java's threads leave behind, for the operator: their places in a fair lock's queue, or
    // their permits without a lease.
    [[nodiscard]] virtual std::vector<std::string> abandoned(const lock_record& /*lock*/) const {
        return {};
    }
    // The permits of a Semaphore that the ended program took and that nobody will return. They do
    // not count any more.
    [[nodiscard]] virtual std::int64_t forget_lost_permits(const lock_record& /*lock*/,
                                                           simulated_process& /*process*/) {
        return 0;
    }

protected:
    using grants = std::multimap<std::uint64_t, std::string>;

    virtual void inspect(lock_record& lock, const executed_command& call) = 0;
    // Whether the server has a hold of this owner.
    [[nodiscard]] virtual bool has_owner(const lock_record& lock,
                                         const std::string& owner) const = 0;

    // Pawl's grants of the lock: the owners by token.
    [[nodiscard]] const grants& grants_of(const lock_record& lock) const;
    void add_grant(const lock_record& lock, std::uint64_t token, const std::string& owner) {
        grants_[&lock].emplace(token, owner);
    }
    // A client of Pawl's requested the lock. `program`: its name in `facts::processes`.
    void note_request(lock_record& lock, const executed_command& call, const std::string& program);
    void note_force(lock_record& lock, const executed_command& call);
    // Whether each waiter learns of a release at once.
    [[nodiscard]] bool reports_releases_to_all(const lock_record& lock) const;
    [[nodiscard]] static std::optional<std::int64_t> free_permits(const lock_record& lock);
    void expect_permit_grant(const lock_record& lock);

private:
    void expect_delivery(const lock_record& lock, simulated_process& process,
                         const std::string& owner, std::uint64_t token);

    std::map<const lock_record*, grants> grants_;
    std::map<const lock_record*, instant> freed_at_;  // when permits became free
};

[[nodiscard]] std::unique_ptr<redisson_rule> make_redisson_lock_rule(scenario_facts& facts);
[[nodiscard]] std::unique_ptr<redisson_rule> make_redisson_permit_rule(scenario_facts& facts);
[[nodiscard]] std::unique_ptr<redisson_rule> make_redisson_semaphore_rule(scenario_facts& facts);

// Of an owner, UUID:THREAD.
[[nodiscard]] inline std::string client_of(const std::string& owner) {
    return owner.substr(0, owner.find(':'));
}

[[nodiscard]] inline bool can_make_hold(std::string_view script) {
    return script.starts_with("redisson/") && script.ends_with("acquire");
}

[[nodiscard]] inline bool is_redisson_release(std::string_view script) {
    return script.starts_with("redisson/") && script.ends_with("release") &&
           script != "redisson/force_release";
}

// An undo is a release without an unlock latch, which would be its last key.
[[nodiscard]] inline bool is_undo(const words& command, std::string_view script) {
    return is_redisson_release(script) &&
           !command[2 + std::stoul(command[2])].starts_with("redisson_unlock_latch:");
}

// The owner of permits is 12 random bytes.
[[nodiscard]] std::string printable(const std::string& owner);

}  // namespace pawl::simulation
