// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a database knows of the ticks of schedules: docs/guide/schedules.md. Standard headers only.
#pragma once

#include <pawl/guard/connection.hpp>
#include <pawl/types.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::guard {

// An instant of the database's clock, which alone decides whether a tick is early or late.
using store_time = std::chrono::sys_time<std::chrono::microseconds>;

// claimed: a host has the tick, and its work has not begun. running: the work has begun. done: it
// has ended. skipped: it will not begin. crashed: it began, and its host did not live to its end.
enum class tick_state : std::uint8_t { claimed = 1, running, done, skipped, crashed };
// The name of the enumerator.
[[nodiscard]] const char* to_string(tick_state state) noexcept;

// The record of a tick.
struct tick_record {
    std::string name;                        // of the schedule
    std::string key;                         // of the tick, see guard::tick
    store_time due{};                        // the instant of the tick
    tick_state state = tick_state::claimed;  // how far it is
    std::string claim;                       // names the present attempt: 16 random bytes
    std::uint32_t attempts = 0;              // how often its work has begun
    store_time lease_until{};                // of a claim, or of the last sign of life of the work
    fencing_token token{};                   // of the lock of its work
    std::string host;                        // of that claim
    store_time began{};                      // of the last attempt; 1970 if there was none
    store_time ended{};                      // 1970 if it has not ended
    int status = 0;                          // the exit status
    std::string reason;                      // why it was skipped, or did not end well
    // How many later ticks were skipped together with it.
    std::uint32_t missed = 0;
};

// A tick that a host wants, and with which claim.
struct tick_claim {
    std::string name;   // of the schedule
    std::string key;    // of the tick
    store_time due{};   // its instant
    std::string claim;  // 16 random bytes, new for each claim
    std::string host;   // for the history
};

// What the records say of one schedule.
struct schedule_state {
    store_time now{};                       // when the database was asked
    store_time settled{};                   // no tick up to this instant needs a decision any more
    std::vector<tick_record> unfinished{};  // those claimed or running, by `due`
};

// The answer to a claim.
enum class claim_answer : std::uint8_t {
    claimed,  // by this claim, now or before
    early,    // the tick is not due yet
    settled   // another host has the tick, or it needs no decision any more
};

// The records, for schedulers. Not thread-safe. Every member throws what its store throws; a call
// without an answer may have been carried out, and can be repeated with the same claim.
class tick_records {
public:
    virtual ~tick_records() = default;

    // A schedule that is not known yet becomes known, so that ticks from then on are not missed.
    virtual schedule_state look(std::string_view name) = 0;
    // Early before `not_before`. Settled if another claim has the tick, and its lease is not over.
    virtual claim_answer claim(const tick_claim& wanted, store_time not_before, duration lease) = 0;
    // The work begins: false if the tick is not claimed any more, or `latest` is over.
    virtual bool begin(const tick_claim& claimed, fencing_token token, store_time latest,
                       duration lease) = 0;
    // As begin, after a crash: in place of the claim `crashed`, whose work was running.
    virtual bool begin_again(const tick_claim& claimed, const std::string& crashed,
                             fencing_token token, duration lease) = 0;
    // The claim is given up. If its work had begun, nothing was done: others may claim the tick.
    virtual bool withdraw(const tick_claim& claimed) = 0;
    // The running work of this claim has ended: as done, or as crashed.
    virtual bool finish(const tick_claim& claimed, tick_state state, int status,
                        const std::string& reason) = 0;
    // The tick, and `missed` ticks up to `settled`, will not begin. Only if it is not recorded, or
    // has this claim and has not begun.
    virtual bool skip(const tick_claim& claimed, const std::string& reason, store_time settled,
                      std::uint32_t missed) = 0;
    // A sign of life of running work, or of a claim whose work waits for its lock.
    virtual void renew(const tick_claim& claimed, duration lease) = 0;
    // The latest records, newest first; of one schedule, or of all if the name is empty.
    virtual std::vector<tick_record> history(std::string_view name, std::uint32_t most) = 0;
    // Deletes what ended longer ago than `keep`, but not the last record of the schedule.
    virtual void purge(std::string_view name, duration keep) = 0;
};

// Records in the table pawl_tick of a database. Each call is one to three statements, each in a
// transaction of its own. The connection must outlive this object and have no open transaction.
class sql_tick_records final : public tick_records {
public:
    // Sends nothing.
    explicit sql_tick_records(connection& db) noexcept : db_(db) {}

    // Makes the table if it is missing. Throws database_error, if this user may not.
    void make_schema();
    // The statements of make_schema, for an administrator.
    [[nodiscard]] static std::vector<std::string> schema(dialect spoken);

    // As in tick_records.
    schedule_state look(std::string_view name) override;
    // As in tick_records.
    claim_answer claim(const tick_claim& wanted, store_time not_before, duration lease) override;
    // As in tick_records.
    bool begin(const tick_claim& claimed, fencing_token token, store_time latest,
               duration lease) override;
    // As in tick_records.
    bool begin_again(const tick_claim& claimed, const std::string& crashed, fencing_token token,
                     duration lease) override;
    // As in tick_records.
    bool withdraw(const tick_claim& claimed) override;
    // As in tick_records.
    bool finish(const tick_claim& claimed, tick_state state, int status,
                const std::string& reason) override;
    // As in tick_records.
    bool skip(const tick_claim& claimed, const std::string& reason, store_time settled,
              std::uint32_t missed) override;
    // As in tick_records.
    void renew(const tick_claim& claimed, duration lease) override;
    // As in tick_records.
    std::vector<tick_record> history(std::string_view name, std::uint32_t most) override;
    // As in tick_records.
    void purge(std::string_view name, duration keep) override;

private:
    std::optional<tick_record> find(const tick_claim& claimed);
    bool change(const statement& update, const tick_claim& claimed, tick_state expected);

    connection& db_;
};

}  // namespace pawl::guard
