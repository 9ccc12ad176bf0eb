// The part of the front that watches over the running command.
#include "duration.hpp"
#include "failure.hpp"
#include "front.hpp"
#include "messages.hpp"
#include "run_words.hpp"

#include <sys/wait.h>
#include <algorithm>
#include <csignal>
#include <utility>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

constexpr duration leftover_grace = 5s;
constexpr duration message_rhythm = 500ms;  // of looking whether stderr has room again
constexpr int signal_base = 128;

std::string names_of(const std::vector<process>& those) {
    std::string text;
    for (const process& each : those) {
        text.append(text.empty() ? "" : ", ").append(each.name).append(" (");
        text.append(std::to_string(each.pid)).append(")");
    }
    return text;
}

}  // namespace

time_point front::deadline() const { return time_point(duration(shared_->safe_until.load())); }

void front::guard() {
    while (true) {
        reap();
        if (is_over()) return;
        act_on_time();
        const auto wake = next_wake();
        take(events_.wait(say_kept() ? wake : std::min(wake, boot_clock::now() + message_rhythm)));
    }
}

// The leader's zombie stays until we end: it keeps the number of its group from being used again.
bool front::is_over() {
    if (!leader_ended_) return false;
    auto seen = processes_->living();
    if (!seen) return is_over_unseen();
    auto left = std::move(*seen);
    if (must_stop_all()) return all_stopped(left);
    auto group = left;
    std::erase_if(group, [this](const process& each) { return each.group != leader_; });
    if (stage_ == stage::killing) return group.empty();
    const bool only_told = lost_ && options_.on_loss == loss_policy::term;
    if (group.empty() || only_told) {
        name_strays(std::move(left));
        return true;
    }
    if (stage_ == stage::watching) stop_leftovers(group);
    return false;
}

// Whether anything of the command is left is not known. Its group can be signalled all the same.
bool front::is_over_unseen() {
    const bool only_told = lost_ && options_.on_loss == loss_policy::term;
    if (must_stop_all()) {
        runs_on_ = boot_clock::now() >= deadline();
        if (!runs_on_) return false;
    } else if (!only_told && stage_ != stage::killing) {
        if (stage_ == stage::watching) stop_group();
        return false;
    }
    say("Cannot see whether anything of the command is left: no file of /proc can be opened. Raise "
        "the limit of open files (ulimit -n), or see what uses up the files or the memory of this "
        "host.");
    return true;
}

bool front::must_stop_all() const noexcept {
    return lost_ && options_.on_loss == loss_policy::kill;
}

// What we may not kill is waited for until the lease is over, in case that it ends by itself.
bool front::all_stopped(const std::vector<process>& left) {
    if (left.empty()) {
        if (processes_->blind()) {
            runs_on_ = true;
            say("Cannot see whether anything left the command's process group: /proc shows another "
                "PID namespace. Mount a /proc for this one (unshare --mount-proc does).");
        }
        return true;
    }
    runs_on_ = boot_clock::now() >= deadline() &&
               std::all_of(left.begin(), left.end(),
                           [this](const process& each) { return unstoppable_.contains(each.pid); });
    if (runs_on_) note_late(left);
    return runs_on_;
}

void front::note_late(const std::vector<process>& left) {
    if (late_) return;
    late_ = true;
    say("The lease ended while something of the command was still running: " + names_of(left) +
        ".");
}

void front::act_on_time() {
    const auto now = boot_clock::now();
    if (stage_ == stage::watching && !lost_ && must_stop_soon()) lose(why_ending());
    if (stage_ != stage::watching && now >= kill_at_) kill_everything();
}

bool front::must_stop_soon() const { return boot_clock::now() >= deadline() - margins_.term; }

// While the service says nothing else.
loss_reason front::why_ending() const {
    const auto end = plus(acquired_at_, options_.max_hold);
    const bool over = boot_clock::now() >= end - margins_.term - options_.ttl / 50 - 10ms;
    return over ? loss_reason::max_hold : loss_reason::expired;
}

time_point front::next_wake() const {
    switch (stage_) {
    case stage::watching: return lost_ ? time_point::max() : deadline() - margins_.term;
    case stage::told: return kill_at_;
    case stage::killing: break;
    }
    // SIGCHLD wakes us; this is for a stray whose parent dies in the same instant, and for those
    // that are not ours to kill.
    return boot_clock::now() + (late_ ? 500ms : 20ms);
}

void front::take(const happening& what) {
    for (const report& told : what.reports) {
        if (told.what == report::kind::lost) lose(told.why, told.text.data());
    }
    if (events_.keeper_gone() && !lost_) lose(loss_reason::none);
    for (const int signal : what.signals)
        take_signal(signal);
}

void front::take_signal(int signal) {
    switch (signal) {
    case SIGCHLD: return;  // guard() reaps in every round
    case SIGCONT: resume(); return;
    case SIGTERM:
    case SIGHUP:
        told_to_end_ = true;
        signal_group(signal);
        processes_->signal_group(SIGCONT);
        return;
    case SIGINT:
    case SIGQUIT: told_to_end_ = true; [[fallthrough]];
    default: signal_group(signal); return;
    }
}

void front::signal_group(int signal) {
    if (!processes_->signal_group(signal)) say_refused({{.pid = leader_, .name = "the command"}});
}

// Once for each process.
void front::say_refused(const std::vector<process>& refused) {
    std::vector<process> unknown;
    for (const process& each : refused)
        if (unstoppable_.insert(each.pid).second) unknown.push_back(each);
    if (unknown.empty()) return;
    say("Not permitted to stop " + names_of(unknown) +
        ", which runs as another user. Start pawl as that user, as in: sudo pawl run NAME -- "
        "COMMAND.");
}

void front::lose(loss_reason why, std::string_view which) {
    const auto now = boot_clock::now();
    // Told early, somebody else may have it already; else it is ours until the deadline.
    const bool early = why == loss_reason::forced || why == loss_reason::taken_over;
    const auto kill_at = early ? now + margins_.kill : deadline() - margins_.kill;
    const bool goes_on = options_.on_loss == loss_policy::resume;
    const bool first = !lost_;
    lost_ = true;
    if (!goes_on) {
        if (options_.on_loss == loss_policy::kill) kill_at_ = std::min(kill_at_, kill_at);
        if (stage_ == stage::watching) stage_ = stage::told;
        if (first && now < kill_at_) tell_to_stop();
    }
    if (first)
        say(loss_sentence(
            options_, why, which,
            goes_on ? "the command runs on without it" : "the command is told to stop"));
}

// The whole command, also what left its group: a script's `timeout` has one of its own.
void front::tell_to_stop() {
    const auto refused = processes_->signal(SIGTERM);
    if (!processes_->cgroup() || options_.on_loss == loss_policy::term) say_refused(refused);
    processes_->signal(SIGCONT);
}

void front::kill_everything() {
    stage_ = stage::killing;
    if (!must_stop_all()) {
        signal_group(SIGKILL);
        return;
    }
    // Their own children become ours when they die, so the next round sees those.
    say_refused(processes_->signal(SIGKILL));
    if (boot_clock::now() < deadline()) return;
    if (const auto left = processes_->living(); left && !left->empty()) note_late(*left);
}

void front::stop_leftovers(const std::vector<process>& left) {
    stop_group();
    say("The command left processes of its group behind, which are told to stop: " +
        names_of(left) + ".");
}

void front::stop_group() {
    stage_ = stage::told;
    kill_at_ = boot_clock::now() + leftover_grace;
    if (options_.on_loss == loss_policy::kill)
        kill_at_ = std::min(kill_at_, deadline() - margins_.kill);
    signal_group(SIGTERM);
    processes_->signal_group(SIGCONT);
}

void front::name_strays(std::vector<process> left) {
    // The keeper of a `pawl run` inside the command outlives its front for a moment, or for as long
    // as it has something to give back. It runs nothing, and ends by itself.
    std::erase_if(left, [](const process& each) { return each.name == keeper_name; });
    if (!left.empty())
        say("Left the command's group and runs on without the lock: " + names_of(left) + ".");
}

void front::reap() {
    siginfo_t what{};
    if (!leader_ended_ &&
        ::waitid(P_PID, static_cast<id_t>(leader_), &what, WSTOPPED | WNOHANG) == 0 &&
        what.si_pid == leader_) {
        suspend(what.si_status);
    }
    what = {};
    if (!leader_ended_ &&
        ::waitid(P_PID, static_cast<id_t>(leader_), &what, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        what.si_pid == leader_) {
        leader_ended_ = true;
        processes_->leader_ended();
        killed_by_ = what.si_code == CLD_EXITED ? 0 : what.si_status;
        status_ = killed_by_ == 0 ? what.si_status : signal_base + killed_by_;
        if (processes_->blind()) ::waitpid(leader_, nullptr, 0);
    }
    if (!leader_ended_ || processes_->blind()) reap_orphans();
}

// Behind the leader's zombie, where it is kept, they wait for init.
void front::reap_orphans() {
    while (true) {
        siginfo_t what{};
        if (::waitid(P_ALL, 0, &what, WEXITED | WNOHANG | WNOWAIT) != 0 || what.si_pid == 0) return;
        if (what.si_pid == leader_) return;
        if (what.si_pid == keeper_) keeper_reaped_ = true;
        ::waitpid(what.si_pid, nullptr, 0);
    }
}

// The command was stopped. In a job the whole job stops, so that the shell gets its terminal back;
// the keeper goes on renewing.
void front::suspend(int signal) {
    if (!terminal_ || stage_ != stage::watching) return;
    const bool for_terminal = signal == SIGTTIN || signal == SIGTTOU;
    if (for_terminal && terminal_.in_front()) {
        has_terminal_ = true;
        terminal_.give(leader_);
        processes_->signal_group(SIGCONT);
        return;
    }
    terminal_.take_back(leader_);
    const int own = signal == SIGSTOP ? SIGTSTP : signal;
    ::kill(0, own);
    deliver(own);
    // The kernel refuses to stop a group that no shell could continue. Then the command goes on as
    // well; unless it wants a terminal that it cannot have.
    if (!for_terminal) resume();
}

void front::resume() {
    act_on_time();
    if (stage_ != stage::watching) return;
    if (has_terminal_) terminal_.give(leader_);
    processes_->signal_group(SIGCONT);
}

}  // namespace pawl::cli
