// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A simulated program: one Pawl client, or one Java client of Redisson, and its users.
#pragma once

#include "../../invariants/checker.hpp"
#include "../../world/simulated_program.hpp"
#include "plan.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pawl::simulation {

class java_client;
class simulated_user;

// The parts that all programs of a scenario share.
struct scenario_context {
    scheduler& loop;
    const std::vector<simulated_network*>& servers;
    checker& invariants;
    trace& log;
    const plan& scenario_plan;
    const key_space& space;
    const std::vector<std::string>& names;
};

class program : public simulated_program {
public:
    enum class client_kind : std::uint8_t { pawl, java };
    program(const scenario_context& context, client_kind kind, std::string name,
            const prng& random);
    ~program();

    void start(std::size_t users);
    void pause();
    void resume();
    // SIGKILL. The program's memory is freed by `close_clients`.
    void crash();
    // The users make no new requests and release their locks.
    void finish();
    // The users that still wait for a latch give up.
    void stop_waiting();
    [[nodiscard]] bool has_finished() const;
    // By any holder, or with `by_token` by the one that an inspection shows.
    void force_release(const std::string& name, bool by_token);
    // The users end and have no handles any more.
    void dismiss_users();
    // Destroys the clients, also those of a dead program, so that no memory remains.
    void close_clients();
    void run_out_of(resource kind);
    void recover();
    // Check the memory of the library: in use, without users, and after its end.
    void check_memory() const;
    void check_idle_memory() const;
    void check_no_memory() const;
    [[nodiscard]] std::size_t pending_timers() const noexcept { return time.pending_timers(); }

    // A user of this client has seen the loss of its hold.
    void note_loss(const client& used) {
        const uncounted_allocations uncounted;
        ++losses_[&used];
    }
    // The clients have counted the losses that their users have seen.
    void check_losses() const;

    [[nodiscard]] bool is_alive() const noexcept { return is_alive_; }
    // Redisson's read-write lock and its Semaphore need clients of their own.
    [[nodiscard]] client& locks_for(std::string_view name) noexcept {
        if (semaphore_ && name == plain_semaphore_name) return *semaphore_;
        return read_write_ && name == read_write_name ? *read_write_ : *locks;
    }
    [[nodiscard]] client& redisson_locks() noexcept { return *redisson_; }
    [[nodiscard]] bool is_java() const noexcept { return java_ != nullptr; }
    [[nodiscard]] java_client& java() noexcept { return *java_; }
    // Redisson's lockWatchdogTimeout.
    [[nodiscard]] duration watchdog_timeout() const noexcept { return watchdog_timeout_; }
    [[nodiscard]] const scenario_context& context() const noexcept { return context_; }

private:
    void make_pawl_clients();
    void make_client(std::optional<client>& place, const redis::options& options);
    void make_java_client();
    void add_latch_users();
    void send_force_release(const std::string& name, fencing_token expected);
    [[nodiscard]] std::size_t most_undos() const;
    [[nodiscard]] std::size_t idle_client_memory() const;
    [[nodiscard]] std::size_t client_count() const noexcept {
        return 1u + (redisson_ || read_write_ ? 1 : 0) + (semaphore_ ? 1 : 0);
    }

    const scenario_context context_;
    prng random_;
    std::optional<client>
        redisson_;  // of the same database, if the scenario has Redisson's latches
    std::optional<client> read_write_, semaphore_;
    std::unique_ptr<java_client> java_;
    duration watchdog_timeout_{};
    std::vector<std::unique_ptr<simulated_user>> users_;
    std::map<const client*, std::uint64_t> losses_;
    bool is_alive_ = true;
};

}  // namespace pawl::simulation
