// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The part of the supervisor that watches the running command.
#include "../ui/duration.hpp"
#include "../ui/failure.hpp"
#include "../ui/messages.hpp"
#include "lock_messages.hpp"
#include "process_names.hpp"
#include "supervisor.hpp"

#include <sys/wait.h>
#include <algorithm>
#include <csignal>
#include <utility>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

constexpr duration leftover_grace = 5s;
constexpr duration message_interval = 500ms;  // between two checks whether stderr has room again

std::string names_of(const std::vector<process>& processes) {
    std::string text;
    for (const process& each : processes) {
        text.append(text.empty() ? "" : ", ").append(each.name).append(" (");
        text.append(std::to_string(each.pid)).append(")");
    }
    return text;
}

}  // namespace

time_point supervisor::deadline() const { return time_point(duration(shared_->safe_until.load())); }

void supervisor::guard_child() {
    while (true) {
        reap();
        if (is_finished()) return;
        enforce_deadlines();
        const auto wakeup = next_wakeup();
        handle_events(events_.wait(
            say_kept() ? wakeup : std::min(wakeup, boot_clock::now() + message_interval)));
    }
}

// The leader remains a zombie until the supervisor ends. So the number of its group cannot be
// reused.
bool supervisor::is_finished() {
    if (!leader_ended_) return false;
    auto processes = processes_->living();
    if (!processes) return is_finished_without_proc();
    auto left = std::move(*processes);
    if (must_stop_all()) return nothing_left_to_stop(left);
    auto group = left;
    std::erase_if(group, [this](const process& each) { return each.group != leader_; });
    if (stage_ == stage::killing) return group.empty();
    if (group.empty() || only_terminates()) {
        may_outlive_supervisor_ = report_strays(std::move(left)) && only_terminates();
        return true;
    }
    if (stage_ == stage::watching) stop_leftovers(group);
    return false;
}

// This process does not know whether processes of the command are left. Their group can still be
// signalled.
bool supervisor::is_finished_without_proc() {
    if (must_stop_all()) {
        may_outlive_supervisor_ = boot_clock::now() >= deadline();
        if (!may_outlive_supervisor_) return false;
    } else if (!only_terminates() && stage_ != stage::killing) {
        if (stage_ == stage::watching) stop_group();
        return false;
    } else {
        may_outlive_supervisor_ = only_terminates();
    }
    say("Cannot see whether processes of the command are left, because no file of /proc can be "
        "opened. Raise the limit of open files (ulimit -n), or check which process uses the files "
        "or the memory of this host.");
    return true;
}

bool supervisor::only_terminates() const noexcept {
    return lock_lost_ && options_.on_loss == loss_policy::term;
}

bool supervisor::must_stop_all() const noexcept {
    return lock_lost_ && options_.on_loss == loss_policy::kill;
}

// A process that this user may not kill may still end by itself, so the supervisor waits for it
// until the lease ends.
bool supervisor::nothing_left_to_stop(const std::vector<process>& left) {
    if (left.empty()) {
        if (processes_->sees_only_group()) {
            may_outlive_supervisor_ = true;
            say("Cannot see whether processes left the command's process group, because /proc "
                "shows another PID namespace. Mount a /proc for this namespace, as unshare "
                "--mount-proc does.");
        }
        return true;
    }
    may_outlive_supervisor_ = boot_clock::now() >= deadline() &&
                              std::all_of(left.begin(), left.end(), [this](const process& each) {
                                  return unstoppable_.contains(each.pid);
                              });
    if (may_outlive_supervisor_) report_late_processes(left);
    return may_outlive_supervisor_;
}

void supervisor::report_late_processes(const std::vector<process>& left) {
    if (outlived_lease_) return;
    outlived_lease_ = true;
    say("The lease ended while processes of the command were still running: " + names_of(left) +
        ".");
}

void supervisor::enforce_deadlines() {
    const auto now = boot_clock::now();
    if (stage_ == stage::watching && !lock_lost_ && is_time_to_terminate())
        handle_loss(ending_reason());
    if (stage_ != stage::watching && now >= kill_at_) kill_command();
    if (must_report_at_deadline() && now >= deadline()) {
        outlived_lease_ = true;
        say("The lease ended while the command was still running.");
    }
}

// With `term`, the command may go on after the lease.
bool supervisor::must_report_at_deadline() const noexcept {
    return only_terminates() && !outlived_lease_ && !leader_ended_;
}

bool supervisor::is_time_to_terminate() const {
    return boot_clock::now() >= deadline() - margins_.term;
}

// This reason is used unless the service reports another one.
loss_reason supervisor::ending_reason() const {
    const auto end = saturated_sum(acquired_at_, options_.max_hold);
    const bool reached_max_hold =
        boot_clock::now() >= end - margins_.term - options_.ttl / 50 - 10ms;
    return reached_max_hold ? loss_reason::max_hold : loss_reason::expired;
}

time_point supervisor::next_wakeup() const {
    switch (stage_) {
    case stage::watching: return lock_lost_ ? time_point::max() : deadline() - margins_.term;
    case stage::terminating:
        return must_report_at_deadline() ? std::min(kill_at_, deadline()) : kill_at_;
    case stage::killing: break;
    }
    // SIGCHLD ends the wait. The timeout is for a process whose parent ends in the same instant,
    // and for processes that this user may not kill.
    return boot_clock::now() + (outlived_lease_ ? 500ms : 20ms);
}

void supervisor::handle_events(const event_batch& batch) {
    for (const lock_report& report : batch.reports) {
        if (report.event == lock_report::kind::lost)
            handle_loss(report.loss_cause, report.text.data());
    }
    if (events_.lock_process_ended() && !lock_lost_) handle_loss(loss_reason::none);
    for (const int signal : batch.signals)
        handle_signal(signal);
}

void supervisor::handle_signal(int signal) {
    switch (signal) {
    case SIGCHLD: return;  // guard_child() reaps in every round
    case SIGCONT: resume(); return;
    case SIGTERM:
    case SIGHUP:
        end_requested_ = true;
        signal_group(signal);
        processes_->signal_group(SIGCONT);
        return;
    case SIGINT:
    case SIGQUIT: end_requested_ = true; [[fallthrough]];
    default: signal_group(signal); return;
    }
}

void supervisor::signal_group(int signal) {
    if (!processes_->signal_group(signal))
        report_refused({{.pid = leader_, .name = "the command"}});
}

// Reports each process once.
void supervisor::report_refused(const std::vector<process>& refused) {
    std::vector<process> unknown;
    for (const process& each : refused)
        if (unstoppable_.insert(each.pid).second) unknown.push_back(each);
    if (unknown.empty()) return;
    say("No permission to stop " + names_of(unknown) +
        ", because another user runs it. Start pawl as that user, as in: sudo pawl run NAME -- "
        "COMMAND.");
}

void supervisor::handle_loss(loss_reason reason, std::string_view lock_name) {
    const auto now = boot_clock::now();
    // If the service reported the loss, another owner may already hold the lock. Otherwise the lock
    // is held until the deadline.
    const bool early = is_before_deadline(reason);
    const auto kill_at = early ? now + margins_.kill : deadline() - margins_.kill;
    const bool continues = options_.on_loss == loss_policy::resume;
    const bool first = !lock_lost_;
    lock_lost_ = true;
    if (!continues) {
        if (options_.on_loss == loss_policy::kill) kill_at_ = std::min(kill_at_, kill_at);
        if (stage_ == stage::watching) stage_ = stage::terminating;
        if (first && now < kill_at_) terminate_command();
    }
    if (first)
        say(loss_message(
            options_, reason, lock_name,
            continues ? "the command continues without the lock" : "pawl stops the command"));
}

// Terminates the processes outside the group, too: a script's `timeout` has its own group. With a
// cgroup, SIGKILL will also reach the processes that this user may not signal.
void supervisor::terminate_command() {
    const auto refused = processes_->signal(SIGTERM);
    if (!processes_->cgroup() || options_.on_loss == loss_policy::term) report_refused(refused);
    processes_->signal(SIGCONT);
}

void supervisor::kill_command() {
    stage_ = stage::killing;
    if (!must_stop_all()) {
        signal_group(SIGKILL);
        return;
    }
    // The children of killed processes become children of this process, so the next round kills
    // them.
    report_refused(processes_->signal(SIGKILL));
    if (boot_clock::now() < deadline()) return;
    if (const auto left = processes_->living(); left && !left->empty())
        report_late_processes(*left);
}

void supervisor::stop_leftovers(const std::vector<process>& left) {
    stop_group();
    say("The command left processes in its group, which pawl stops: " + names_of(left) + ".");
}

void supervisor::stop_group() {
    stage_ = stage::terminating;
    kill_at_ = boot_clock::now() + leftover_grace;
    if (options_.on_loss == loss_policy::kill)
        kill_at_ = std::min(kill_at_, deadline() - margins_.kill);
    signal_group(SIGTERM);
    processes_->signal_group(SIGCONT);
}

bool supervisor::report_strays(std::vector<process> left) {
    // The lock process of a `pawl run` inside the command outlives its supervisor for a moment, or
    // until it has released its lock. It runs no command and ends by itself.
    std::erase_if(left, [](const process& each) { return each.name == lock_process_name; });
    if (left.empty()) return false;
    say("These processes left the command's group and continue without the lock: " +
        names_of(left) + ".");
    return true;
}

void supervisor::reap() {
    siginfo_t child_info{};
    if (!leader_ended_ &&
        ::waitid(P_PID, static_cast<id_t>(leader_), &child_info, WSTOPPED | WNOHANG) == 0 &&
        child_info.si_pid == leader_) {
        suspend(child_info.si_status);
    }
    child_info = {};
    if (!leader_ended_ &&
        ::waitid(P_PID, static_cast<id_t>(leader_), &child_info, WEXITED | WNOHANG | WNOWAIT) ==
            0 &&
        child_info.si_pid == leader_) {
        leader_ended_ = true;
        processes_->note_leader_ended();
        killed_by_ = child_info.si_code == CLD_EXITED ? 0 : child_info.si_status;
        status_ = killed_by_ == 0 ? child_info.si_status : signal_status(killed_by_);
        if (processes_->sees_only_group()) ::waitpid(leader_, nullptr, 0);
    }
    if (!leader_ended_ || processes_->sees_only_group()) reap_orphans();
}

// While the leader's zombie is kept, orphans wait for init to reap them.
void supervisor::reap_orphans() {
    while (true) {
        siginfo_t child_info{};
        if (::waitid(P_ALL, 0, &child_info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            child_info.si_pid == 0)
            return;
        if (child_info.si_pid == leader_) return;
        if (child_info.si_pid == lock_process_) lock_process_reaped_ = true;
        ::waitpid(child_info.si_pid, nullptr, 0);
    }
}

// The command was stopped. The whole job stops with it, so that the shell gets its terminal back.
// The lock process continues to renew.
void supervisor::suspend(int signal) {
    if (!terminal_ || stage_ != stage::watching) return;
    const bool for_terminal = signal == SIGTTIN || signal == SIGTTOU;
    if (for_terminal && terminal_.is_foreground()) {
        has_terminal_ = true;
        terminal_.give_to(leader_);
        processes_->signal_group(SIGCONT);
        return;
    }
    terminal_.take_back(leader_);
    const int own = signal == SIGSTOP ? SIGTSTP : signal;
    ::kill(0, own);
    deliver_pending(own);
    // The kernel does not stop a group that no shell could continue. Then the command continues as
    // well, unless it waits for a terminal that it cannot get.
    if (!for_terminal) resume();
}

void supervisor::resume() {
    reap();
    enforce_deadlines();
    if (stage_ != stage::watching) return;
    if (has_terminal_) terminal_.give_to(leader_);
    processes_->signal_group(SIGCONT);
}

}  // namespace pawl::cli
