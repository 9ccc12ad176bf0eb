// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for every scenario (docs/contributing/testing.md, "The simulation"). The checker sees
// the users' holds and every command of the server, and knows which faults excuse a violation.
#pragma once

#include "../kernel/trace.hpp"
#include "../services/redis/plan.hpp"
#include "checked_server.hpp"
#include "latch_checker.hpp"
#include "lock_keys.hpp"

#include <pawl/held_lock.hpp>
#include <pawl/held_locks.hpp>
#include <pawl/options.hpp>

#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::simulation {

class checker final : public simulated_network::observer {
public:
    // `servers` in the order of the plan.
    checker(scheduler& loop, std::span<simulated_network* const> servers, const plan& scenario_plan,
            trace& log);

    void add_name(const std::string& name, const lock_keys& keys, std::size_t database = 0,
                  bool has_permits = false);
    [[nodiscard]] latch_checker& latches() noexcept { return latches_; }

    // The state of knowledge when a user began a request.
    struct pending_request {
        instant requested_at{};
        std::uint64_t newest_token = 0;  // the newest token that any user had by then
        duration ttl{};
        lock_mode mode{};
        std::uint32_t permits = 1;
    };
    [[nodiscard]] pending_request begin_request(simulated_process& process, const std::string& name,
                                                const lock_options& options);

    // The handle must not move until `end_hold`.
    using hold_id = std::uint64_t;
    hold_id note_grant(simulated_process& process, const std::string& name, const held_lock& handle,
                       const pending_request& request);
    // A thread of a Java program holds the lock until its lease ends, which each renewal extends.
    struct java_grant {
        std::string owner;
        std::uint64_t token = 0;  // 0: unknown
        instant believed_until{};
        std::vector<std::string> permit_ids{};
    };
    hold_id note_java_grant(simulated_process& process, const std::string& name,
                            const java_grant& granted, const pending_request& request);
    void note_java_renewal(hold_id id, instant believed_until);
    // The user gives up the hold and no longer believes in it.
    void end_hold(hold_id id);
    struct released_hold {
        std::uint64_t token;
        lock_mode mode;
    };
    // `holds` has an entry for each name; `result` is the worst of all results. `expects_release`:
    // the release must find the holds, unless a fault or a force since `called` ended one.
    // `was_told`: the hold's state is lost, and its client has counted a loss.
    void check_release(const std::vector<std::string>& names,
                       const std::vector<released_hold>& holds, bool expects_release,
                       instant called, release_result result, bool was_told);
    // An operator of the program wants to end the hold with this token, or any hold.
    static constexpr auto any_token = std::numeric_limits<std::uint64_t>::max();
    void note_force(const simulated_process& process, const std::string& name,
                    std::uint64_t expected);
    // The user has requested a downgrade. Others may read from now on.
    void note_downgrade(hold_id id);
    // The user writes to the resource that the lock protects.
    void check_write(hold_id id);
    // The user noticed the loss of the lock.
    void check_noticed_loss(hold_id id);
    void note_crash(simulated_process& process);

    // For several names as a set, sorted: a user requests it, the request ends, the set is granted.
    void begin_set_request(simulated_process& process, const std::vector<std::string>& names);
    void end_set_request(simulated_process& process, const std::vector<std::string>& names);
    void check_granted_set(simulated_process& process, const held_locks& set,
                           const std::vector<std::string>& wanted);
    void check_set(const held_locks& set);
    [[nodiscard]] bool had_fault_since(const std::vector<std::string>& names, instant when) const;

    [[nodiscard]] bool is_hold_excused(hold_id id) const;

    // Holders may have lost this lock, or all locks of the server.
    void note_fault(const std::string& name);
    void note_fault(const simulated_network& server);
    // The server's clock was set forward, so every ttl ends early.
    void note_clock_set(const simulated_network& server);
    // The server begins or ceases to refuse every script.
    void set_refusing(const simulated_network& server, bool refusing);
    // Whether the server with this number refused requests after `when`.
    [[nodiscard]] bool was_refusing_since(std::size_t server, instant when) const;
    // The server restarted with older data: locks may be lost, and released locks may be held
    // again.
    void note_old_data(const simulated_network& server);
    // Older data replaced the server's data under live connections: a reader may also have joined
    // an earlier group of readers.
    void note_live_rollback(const simulated_network& server);
    void on_executed(simulated_network& server, simulated_process& process, const words& command,
                     const redis::reply& reply) override;
    void on_data_changed(simulated_network& server) override;
    void on_sent(simulated_process& process, const words& command) override;
    void on_answered(const words& command, const redis::reply* reply) override;

    // A user waits for the name without an end, or until `end_wait`.
    using wait_id = std::uint64_t;
    wait_id begin_wait(simulated_process& process, const std::string& name,
                       std::uint32_t permits = 1);
    wait_id begin_java_wait(simulated_process& process, const std::string& name,
                            const std::string& owner, std::uint32_t permits);
    void end_wait(wait_id id) { waits_.erase(id); }

    // At the end, when all users have finished: no lock of a living program, then no waiter.
    void expect_no_locks();
    void expect_no_waiters();
    // The places of Java's threads in a fair lock's queue that do not wait any more.
    [[nodiscard]] std::vector<std::string> abandoned_java_places(const std::string& name) const;
    // The permits of a Semaphore that the ended program took and that nobody will return. They do
    // not count any more.
    [[nodiscard]] std::int64_t forget_lost_permits(const std::string& name,
                                                   simulated_process& process);
    // The permits without a lease that no thread of a Java program has or requests.
    [[nodiscard]] std::vector<std::string> abandoned_permits(const std::string& name) const;
    // When all leases have ended, Redisson's layout has only counters.
    void expect_no_redisson_keys();

    void fail(const std::string& rule, const std::string& sentence);
    [[nodiscard]] const std::string& violation() const noexcept { return violation_; }
    [[nodiscard]] std::uint64_t grants() const noexcept { return grants_; }

private:
    struct user_hold {
        simulated_process* process = nullptr;
        std::string name;
        const held_lock* handle = nullptr;
        std::uint64_t token = 0;
        duration ttl{};
        instant excused_until{-1};
        lock_mode mode{};
        std::uint32_t permits = 1;
        std::stop_token lost{};  // obtained when the lock was granted
        // Of a Java program's hold, which has no handle.
        std::string owner{};
        instant believed_until{};
        std::vector<std::string> permit_ids{};
    };
    // A non-exclusive hold at the server: see src/redis/native/scripts/_holders.lua.
    struct server_holder {
        std::string value;
        std::uint64_t token = 0;
        std::int64_t permits = 0, ends_ms = 0;
    };
    using server_holders = std::map<std::string, server_holder>;  // by owner
    // In Redisson's layout: the lock at the server.
    struct redisson_lock {
        std::set<std::string> owners{};
        std::int64_t ends_ms = 0;
        bool operator==(const redisson_lock&) const = default;
    };
    // In Redisson's layout: an expirable semaphore at the server.
    struct permit_state {
        std::optional<std::int64_t> free{};
        std::map<std::string, std::int64_t> ends_ms{};  // of the lent permits, by id
    };
    struct redisson_record {
        redisson_lock present;  // at the last inspection
        permit_state permits;   // at the last inspection
        instant freed_at{-1};   // when permits became free
        // Of a Semaphore: the permits that Pawl has taken, by receipt, and those of Java's
        // programs.
        std::map<std::string, std::int64_t> receipts{};
        std::map<const simulated_process*, std::int64_t> java_permits{};
        std::vector<std::string> queue;  // of a fair lock, at the last inspection
        std::multimap<std::uint64_t, std::string> owners_by_token{};  // of Pawl's grants
        std::map<std::string, instant> unlocked_at{};                 // by owner, in Java
        instant taken_at{-1};                                         // by the last grant
    };
    struct redisson_invocation {
        simulated_process& process;
        std::size_t database;
        std::string_view script;
        const words& command;
        const redis::reply& reply;

        [[nodiscard]] std::span<const std::string> keys() const {
            return std::span(command).subspan(3, std::stoul(command[2]));
        }
        [[nodiscard]] std::span<const std::string> arguments() const {
            return std::span(command).subspan(3 + std::stoul(command[2]));
        }
    };
    struct lock_record {
        lock_keys keys;
        const checked_server* server = nullptr;  // has the keys
        std::size_t database = 0;
        bool has_permits = false;
        std::string value;                                    // of the lock, at the last inspection
        std::map<std::string, std::uint64_t> token_by_value;  // of every value so far
        // Tokens that a refresh returned for a value: new ones if the counter was lost.
        std::map<std::string, std::uint64_t> reassigned_token_by_value;
        std::set<std::uint64_t> tokens_seen_by_users;
        std::set<std::uint64_t> reader_tokens;
        std::multiset<std::pair<const simulated_process*, std::uint64_t>>
            granted_tokens;                                                // and their programs
        std::multimap<const simulated_process*, instant> unfenced_grants;  // to users
        server_holders non_exclusive_holders;                              // at the last inspection
        std::set<std::string> seen_values;                                 // of these holders
        std::uint64_t newest_token = 0;
        std::uint64_t highest_written = 0;  // the highest token in the resource
        instant last_fault{-1};
        instant restored_at{-1};
        // Older data came back under living holders: a reader may join a group from before.
        bool had_live_rollback = false;
        instant forced_at{-1};
        // By member of the queue (see member_of): the end of its place, in ms of the server's
        // clock.
        std::map<std::string, std::int64_t> waiter_leases;
        std::set<std::string> left_waiters;         // members
        std::map<std::string, instant> far_since;   // of members, by their last refresh
        std::map<std::string, instant> first_seen;  // by value
        // For each program: the number of its users that request this name within a set, and the
        // end of the last such request.
        struct set_request_count {
            int active = 0;
            instant ended{-1};
        };
        std::map<const simulated_process*, set_request_count> set_requests;
        redisson_record redisson;
    };
    struct user_wait {
        const simulated_process* process = nullptr;
        const lock_record* lock = nullptr;
        instant began{};
        std::uint32_t permits = 1;
        std::string java_owner{};
    };
    struct script_invocation;  // a script that the server has executed, in the native layout
    struct batch_invocation {
        const checked_server& server;
        std::size_t database = 0;
        std::vector<std::pair<std::string, std::string>> wanted;  // key and value
        bool is_granted = false;
    };

    [[nodiscard]] checked_server& server_of(const simulated_network& network);
    [[nodiscard]] static store& data_of(const lock_record& lock) {
        return lock.server->data(lock.database);
    }
    [[nodiscard]] static bool is_calm(const lock_record& lock) noexcept {
        return lock.server->planned.is_calm;
    }
    // The lock with this key, if this server has it.
    [[nodiscard]] lock_record* find_lock(const checked_server& server, std::size_t database,
                                         const std::string& key) const;
    void note_fault(lock_record& lock);
    [[nodiscard]] bool is_believed(const user_hold& held) const;
    [[nodiscard]] bool is_excused(const user_hold& held) const;
    [[nodiscard]] instant end_of_excuse(const user_hold& held, instant fault) const;
    [[nodiscard]] static bool was_ever_excused(const user_hold& held) {
        return held.excused_until >= instant{};
    }
    [[nodiscard]] bool is_awake(const simulated_process& process, instant period) const;
    [[nodiscard]] std::string current_value(const lock_record& lock);
    [[nodiscard]] bool is_held_at_server(const lock_record& lock, std::uint64_t token);
    [[nodiscard]] std::optional<instant> server_expiry(const lock_record& lock,
                                                       const user_hold& held);
    [[nodiscard]] instant instant_of_server_ms(const lock_record& lock,
                                               std::int64_t server_ms) const;
    [[nodiscard]] server_holders current_holders(const lock_record& lock);
    [[nodiscard]] bool is_held_as(const lock_record& lock, std::string_view mark) const;
    [[nodiscard]] std::uint64_t current_counter(const lock_record& lock);
    [[nodiscard]] simulated_process* find_process(const std::string& value) const;
    // CLIENT:OWNER, as in the queue, for a value OWNER;CLIENT;…
    [[nodiscard]] static std::string member_of(const std::string& value);
    [[nodiscard]] std::string describe_hold(const user_hold& held) const;

    // The holds of Redisson's locks at the server: checker_redisson.cpp.
    [[nodiscard]] bool is_redisson() const noexcept {
        return plan_.layout == redis::key_layout::redisson;
    }
    void on_redisson_executed(const redisson_invocation& invocation);
    void check_refusal(const redisson_invocation& invocation);
    void check_granted_owner(const redisson_invocation& invocation);
    void check_redisson_budget(const redisson_invocation& invocation);
    void check_renewal_replies(const redisson_invocation& invocation);
    void count_refused_renewal(const std::string& owner);
    void inspect_redisson_lock(lock_record& lock, const redisson_invocation& invocation);
    void note_redisson_grant(lock_record& lock, const redisson_invocation& invocation);
    void note_redisson_downgrade(lock_record& lock, const redisson_invocation& invocation);
    void note_java_unlock(lock_record& lock, const std::string& owner);
    void excuse_late_renewal(lock_record& lock, const redisson_invocation& invocation,
                             const redisson_lock& before);
    void excuse_renewal_without_lease(const lock_record& lock,
                                      const redisson_invocation& invocation);
    [[nodiscard]] bool reports_releases_to_all(const lock_record& lock) const;
    void check_fair_queue(lock_record& lock, const redisson_invocation& invocation,
                          const redisson_lock& before);
    void check_redisson_renewal(const lock_record& lock, const redisson_invocation& invocation,
                                const redisson_lock& before);
    void expect_redisson_grant(const lock_record& lock);
    void expect_redisson_delivery(const lock_record& lock, simulated_process& process,
                                  const std::string& owner, std::uint64_t token);
    [[nodiscard]] redisson_lock read_redisson_lock(const lock_record& lock) const;
    [[nodiscard]] std::optional<instant> redisson_expiry(const lock_record& lock,
                                                         const user_hold& held) const;
    void expect_no_redisson_locks();
    void note_redisson_force(lock_record& lock);

    // The permits of Redisson's semaphore at the server: checker_permits.cpp.
    [[nodiscard]] permit_state read_permits(const lock_record& lock) const;
    [[nodiscard]] std::optional<instant> expiry_of_permits(
        const lock_record& lock, const std::vector<std::string>& ids) const;
    [[nodiscard]] std::optional<instant> permits_expiry(const lock_record& lock,
                                                        const user_hold& held) const;
    [[nodiscard]] bool has_permits_of(const lock_record& lock, const std::string& owner) const;
    void inspect_permits(lock_record& lock, const redisson_invocation& invocation);
    void check_permit_total(const permit_state& present, std::string_view script);
    void excuse_early_expiry(lock_record& lock, const redisson_invocation& invocation,
                             const permit_state& before);
    void excuse_late_update(const lock_record& lock, const permit_state& before);
    void check_permit_renewal(const lock_record& lock, const redisson_invocation& invocation,
                              const permit_state& before);
    void expect_permit_grant(lock_record& lock);
    void expect_no_permits(const std::string& name, const lock_record& lock);

    // Redisson's semaphore without leases: checker_semaphore.cpp.
    [[nodiscard]] static bool is_plain_semaphore(const lock_record& lock);
    [[nodiscard]] bool has_receipt(const lock_record& lock, const std::string& owner) const;
    [[nodiscard]] static bool has_receipts_of(const lock_record& lock, const std::string& client);
    [[nodiscard]] std::optional<instant> semaphore_expiry(const lock_record& lock,
                                                          const user_hold& held) const;
    void count_permits(lock_record& lock, const redisson_invocation& invocation);
    void inspect_semaphore(lock_record& lock, const redisson_invocation& invocation);
    void check_semaphore_total(const lock_record& lock, std::string_view script);
    [[nodiscard]] static std::int64_t forget_receipts(std::map<std::string, std::int64_t>& receipts,
                                                      const std::string& beginning);
    void expect_no_receipts(const std::string& name, const lock_record& lock);

    void excuse_grant(user_hold& held, const lock_record& lock, const pending_request& request);
    void check_tokens(const user_hold& held, lock_record& lock, const pending_request& request);
    void check_exclusivity(const user_hold& held);
    [[nodiscard]] bool can_coexist(const user_hold& held, const user_hold& other) const;
    void check_permits(const user_hold& held);
    void watch(hold_id id);
    void check_deadline(hold_id id);
    void check_held_at_server(const user_hold& held, std::string_view when,
                              std::string_view script = {});
    void note_command(const checked_server& server, const words& command, std::string_view script,
                      const redis::reply& reply);
    void inspect_lock(lock_record& lock, const script_invocation& invocation);
    void note_new_value(lock_record& lock, const script_invocation& invocation,
                        const std::string& now);
    void inspect_holders(lock_record& lock, const script_invocation& invocation);
    void note_new_holder(lock_record& lock, const script_invocation& invocation,
                         const std::string& owner);
    void expect_all_notified(const lock_record& lock);
    [[nodiscard]] bool can_be_granted(const lock_record& lock, const std::string& record,
                                      bool first);
    void note_hand_off(lock_record& lock, const script_invocation& invocation,
                       const std::string& now);
    void expect_delivery(lock_record& lock, const std::string& value);
    void expect_notified(const lock_record& lock, std::uint64_t token);
    void check_rules(lock_record& lock, const script_invocation& invocation);
    void check_no_waiter_skipped(lock_record& lock, const script_invocation& invocation);
    void check_latch_step(const checked_server& server, const std::string& request,
                          const redis::reply& reply);
    void check_all_or_none(const batch_invocation& invocation);
    void check_far_refresh(lock_record& lock, const simulated_process& process,
                           const std::string& member, const redis::reply& reply);
    void check_owners(std::string_view script, std::span<const std::string> arguments);
    void check_budget(checked_server& server, simulated_process& process, std::string_view script,
                      const std::string& key, std::span<const std::string> arguments);
    // The moments within the last `length`, which is at most 5 s. Forgets older ones.
    [[nodiscard]] static std::size_t count_recent(std::deque<instant>& moments, instant now,
                                                  instant length);
    void count_refusal(const simulated_process& process, const std::string& requests,
                       std::size_t per_second, std::size_t per_five_seconds);
    // Whether a user of the program was granted the lock without a token at this time or later. The
    // server may have issued a token for it.
    [[nodiscard]] static bool was_granted_unfenced(const lock_record& lock,
                                                   const simulated_process& process, instant since);
    [[nodiscard]] bool has_active_set_request(lock_record& lock,
                                              const simulated_process& process) const;
    void expect_nothing_left(lock_record& lock, simulated_process& process);

    // checker_releases.cpp
    void note_release_sent(const words& command);
    void note_release_answered(const words& command, const redis::reply* reply);
    [[nodiscard]] bool was_answered(const std::vector<std::string>& names,
                                    const std::vector<released_hold>& holds) const;
    void check_forced(const lock_record& lock, const simulated_process& process,
                      std::uint64_t ended);

    scheduler& loop_;
    const plan& plan_;
    checked_servers servers_;
    trace& trace_;
    std::map<std::string, lock_record> locks_;
    std::map<std::pair<std::size_t, std::string>, lock_record*> by_key_;  // database and key
    std::map<hold_id, user_hold> holds_;
    std::map<std::string, std::string> step_replies_;  // first reply to a latch's request
    std::map<std::string, simulated_process*, std::less<>> processes_;
    std::set<const simulated_process*> dead_processes_;
    // Of every request that could create a hold; in Redisson's layout, of every grant to Pawl, and
    // the ids of every request of Java's for permits.
    std::set<std::string, std::less<>> owners_;
    std::set<std::string> pending_owners_, spent_owners_;          // in Redisson's layout
    std::map<std::string, std::deque<instant>> executed_scripts_;  // the same, by lock
    // The permits that threads of living Java programs have or request, with their programs.
    std::map<std::string, const simulated_process*> java_permit_ids_;
    std::map<const simulated_process*, std::deque<instant>> requests_;  // of its users
    using budget_key = std::pair<const simulated_process*, std::string>;
    std::map<budget_key, std::deque<instant>> refused_requests_;
    // Of the holds of the native layout, by value.
    struct sent_release {
        int sent = 0;
        bool is_answered = false;
    };
    std::map<std::string, sent_release> releases_;
    // The largest token whose hold a program has wanted to end by force.
    std::map<std::pair<const simulated_process*, const lock_record*>, std::uint64_t> most_expected_;
    latch_checker latches_;
    std::map<wait_id, user_wait> waits_;
    wait_id last_wait_id_ = 0;
    hold_id last_hold_id_ = 0;
    std::uint64_t grants_ = 0;
    std::string violation_;
};

}  // namespace pawl::simulation
