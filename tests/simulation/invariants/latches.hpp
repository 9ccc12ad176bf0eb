// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for latches and barriers (I11 to I14). They see every command of the server and the
// results of all waits.
#pragma once

#include "rule.hpp"

#include <map>
#include <string>

namespace pawl::simulation {

class latch_rule final : public rule {
public:
    using rule::rule;

    struct latch_keys {
        std::size_t database = 0;
        std::string key;
        bool redisson = false;  // a number, deleted at 0
    };
    void add(const std::string& name, const latch_keys& keys);

    // A user begins to wait for the phase, or for the current phase if `phase` is 0. `since` is
    // when its request began: the result may rest on any state of the latch from then on.
    // `listens`: the client subscribes to the channel of the latch.
    enum class wait_result : std::uint8_t { passed, unknown_latch, other };
    wait_id begin_wait(simulated_process& process, const std::string& name, std::uint64_t phase,
                       instant since, bool listens);
    void end_wait(wait_id id, wait_result result);
    // A step failed because the server did not know the latch.
    void check_unknown_latch(const std::string& name, instant since);

    void on_executed(const executed_command& call) override;
    void on_data_changed(const checked_server& server) override;
    // All faults have ended; later, every waiter has had enough time since then.
    void note_faults_ended();
    void expect_no_stuck_waiters();

private:
    struct latch_state {
        bool is_known = false;
        std::uint64_t count = 0, generation = 0, first = 0;
        std::int64_t ends_ms = 0;  // 0: no expiry
        [[nodiscard]] bool operator==(const latch_state&) const noexcept = default;
    };
    struct latch_record {
        latch_keys keys;
        const checked_server* server = nullptr;  // has the key
        latch_state state;                       // at the last command
        latch_state state_after_faults;
        instant changed_at{};
        instant last_open_at{-1}, last_unknown_at{-1};
        bool went_back = false;                            // older data came back
        std::map<std::uint64_t, instant> finished_phases;  // and when
        // For each phase of a barrier: the request that was told each number of missing parties.
        std::map<std::uint64_t, std::map<std::string, std::string>> arrivals;
        std::map<const simulated_process*, instant> last_listened;  // end of its last wait
    };
    struct waiting_user {
        const simulated_process* process;
        latch_record* latch;
        std::string name;
        std::uint64_t phase;
        instant since, began;
        bool listens;
    };

    [[nodiscard]] static bool is_open(const latch_record& latch) {
        return latch.keys.redisson ? !latch.state.is_known
                                   : latch.state.is_known && latch.state.count == 0;
    }
    // The latch with this key, if this server has it.
    [[nodiscard]] latch_record* find_latch(const checked_server& server, std::size_t database,
                                           const std::string& key) const;
    [[nodiscard]] static latch_state read_state(const latch_record& latch);
    void update_all();
    void update(latch_record& latch);
    void note_zero(latch_record& latch, std::uint64_t phase);
    void expect_release(latch_record& latch, std::uint64_t phase);
    void check_once(const executed_command& step);
    void check_arrival(latch_record& latch, const executed_command& step);
    [[nodiscard]] bool must_have_ended(const waiting_user& user) const;
    void check_count(const latch_record& latch, std::int64_t listeners);

    std::map<std::string, latch_record> latches_;
    std::map<std::pair<std::size_t, std::string>, latch_record*> by_key_;
    std::map<wait_id, waiting_user> waiting_users_;
    std::map<std::string, std::string> step_replies_;  // the first, by request
    wait_id last_wait_id_ = 0;
    instant faults_ended_at_{};
};

}  // namespace pawl::simulation
