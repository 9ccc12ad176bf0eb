// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The supervisor of `pawl run`: the process that the shell started. lock_process.hpp describes the
// other process.
#pragma once

#include "../config/service_location.hpp"
#include "../ui/failure.hpp"
#include "../verbs/verbs.hpp"
#include "command_processes.hpp"
#include "event_source.hpp"
#include "lock_process.hpp"
#include "processes.hpp"
#include "run_hooks.hpp"
#include "terminal.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace pawl::cli {

class supervisor {
public:
    // `hooks` may be null.
    supervisor(const run_options& options, const service_location& location,
               run_hooks* hooks = nullptr);
    ~supervisor();
    supervisor(const supervisor&) = delete;
    supervisor& operator=(const supervisor&) = delete;

    // Returns the exit status.
    int run();
    // Called before another supervisor is used in this process: reaps the remaining children.
    void reap_children();
    // True if a loss is the only reason why the command was stopped, or not started.
    [[nodiscard]] bool was_ended_by_loss() const noexcept {
        const bool signalled = end_requested_ || interrupted_ != 0;
        return lost_before_end_ && !signalled && !may_outlive_supervisor_;
    }
    [[nodiscard]] bool started_command() const noexcept { return leader_ != 0; }
    // True if the service was available at least once.
    [[nodiscard]] bool reached_service() const noexcept { return reached_service_; }
    // True if no command ran because the service could not be reached or could not serve any
    // client.
    [[nodiscard]] bool ended_without_service() const noexcept { return service_unavailable_; }

private:
    // watching: the command runs. terminating: SIGTERM was sent, and SIGKILL follows at kill_at_.
    // killing: SIGKILL was sent.
    enum class stage { watching, terminating, killing };

    // supervisor.cpp: from start to end
    void start_lock_process();
    bool start_command();
    void call_end_hook(bool started);
    [[nodiscard]] exit_code loss_status() const noexcept;
    void hold_for_minimum();
    void note_loss_in_minimum();
    void release_lock();
    void report_unconfirmed_release() const;
    int exit_status();
    void send_request(supervisor_request request) const;
    [[nodiscard]] std::vector<std::string> environment() const;
    [[nodiscard]] std::string run_variable() const;
    [[nodiscard]] control_group make_cgroup();

    // lock_wait.cpp: until the command starts
    bool wait_for_lock();
    bool handle_failure(const lock_report& report);
    void wait_until_queue_is_left(time_point until);
    void handle_early_report(const lock_report& report);
    void handle_early_loss(loss_reason reason, std::string_view lock_name = {});
    bool may_start();
    void note_interrupts(const event_batch& batch);

    // child_guard.cpp: while processes of the command live
    void guard_child();
    void enforce_deadlines();
    [[nodiscard]] bool is_time_to_terminate() const;
    [[nodiscard]] loss_reason ending_reason() const;
    [[nodiscard]] time_point next_wakeup() const;
    // True if the command has ended and nothing is left to stop. Also begins to stop what the
    // command left in its group, and reports what continues.
    [[nodiscard]] bool is_finished();
    void handle_events(const event_batch& batch);
    void handle_signal(int signal);
    void handle_loss(loss_reason reason, std::string_view lock_name = {});
    void terminate_command();
    void kill_command();
    void stop_leftovers(const std::vector<process>& left);
    void stop_group();
    // Also true if processes are left, the lease has ended, and this user may signal none of them.
    bool nothing_left_to_stop(const std::vector<process>& left);
    // The rest of is_finished() if /proc cannot be read.
    bool is_finished_without_proc();
    void report_late_processes(const std::vector<process>& left);
    void report_refused(const std::vector<process>& refused);
    // Prints which of the processes continue without the lock. Returns false if there are none.
    bool report_strays(std::vector<process> left);
    void signal_group(int signal);
    [[nodiscard]] bool must_stop_all() const noexcept;
    [[nodiscard]] bool only_terminates() const noexcept;
    [[nodiscard]] bool must_report_at_deadline() const noexcept;
    void reap();
    void reap_orphans();
    void suspend(int signal);
    void resume();
    [[nodiscard]] time_point deadline() const;

    // The time for the lock process to release the lock.
    static constexpr duration undo_timeout = std::chrono::seconds(3);
    // The time for it to leave the queue. After that it goes on alone: a service that is silent
    // must not delay the end of this process.
    static constexpr duration leave_timeout = std::chrono::milliseconds(500);

    const run_options& options_;
    const service_location& location_;
    run_hooks* hooks_;
    bool hooks_have_begun_ = false;
    margins margins_;
    event_source events_;
    terminal terminal_;
    std::unique_ptr<shared_state, void (*)(shared_state*)> shared_;
    inherited_children inherited_children_;  // children that do not belong to the command
    descriptor channel_;
    pid_t lock_process_ = 0;

    time_point acquired_at_{};
    int status_ = 0;       // the exit status of the command, or of the failure before it
    int interrupted_ = 0;  // the signal that ended a wait of this process
    bool reached_service_ = false;
    bool service_unavailable_ = false;
    bool lock_lost_ = false;
    bool lost_before_end_ = false;  // the lock was lost before the end of the command
    bool end_requested_ = false;    // a signal to this process requested the end of the command

    pid_t leader_ = 0;
    std::optional<command_processes> processes_;
    bool leader_ended_ = false;
    bool lock_process_reaped_ = false;
    // A process of the command was running when the lease ended.
    bool outlived_lease_ = false;
    // A process of the command may be running when this process ends.
    bool may_outlive_supervisor_ = false;
    std::set<pid_t> unstoppable_;  // processes that this user may not signal
    int killed_by_ = 0;            // the signal that killed the leader
    bool has_terminal_ = false;
    stage stage_ = stage::watching;
    time_point kill_at_ = time_point::max();
};

}  // namespace pawl::cli
