// The part of the front that watches over the running command.
#include "failure.hpp"
#include "front.hpp"
#include "run_words.hpp"

#include <sys/wait.h>
#include <algorithm>
#include <csignal>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

constexpr duration leftover_grace = 5s;
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
        take(events_.wait(next_wake()));
    }
}

// The leader's zombie stays until we end: it keeps the number of its group from being used again.
bool front::is_over() {
    if (!leader_ended_) return false;
    auto left = members_of(leader_);
    if (stage_ == stage::killing) {
        const auto others = strays();
        left.insert(left.end(), others.begin(), others.end());
        return left.empty();
    }
    const bool only_told = lost_ && options_.on_loss == loss_policy::term;
    if (left.empty() || only_told) {
        name_strays();
        return true;
    }
    if (stage_ == stage::watching) stop_leftovers(left);
    return false;
}

void front::act_on_time() {
    const auto now = boot_clock::now();
    if (stage_ == stage::watching && !lost_ && now >= deadline() - margins_.term) {
        const auto end =
            options_.max_hold == forever ? time_point::max() : acquired_at_ + options_.max_hold;
        const bool over = now >= end - margins_.term - options_.ttl / 50 - 10ms;
        lose(over ? loss_reason::max_hold : loss_reason::expired);
    }
    if (stage_ != stage::watching && now >= kill_at_) kill_everything();
}

time_point front::next_wake() const {
    switch (stage_) {
    case stage::watching: return lost_ ? time_point::max() : deadline() - margins_.term;
    case stage::told: return kill_at_;
    case stage::killing: break;
    }
    // SIGCHLD wakes us; this is for a stray whose parent dies in the same instant.
    return boot_clock::now() + 20ms;
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
        signal_group(SIGCONT);
        return;
    case SIGINT:
    case SIGQUIT: told_to_end_ = true; [[fallthrough]];
    default: signal_group(signal); return;
    }
}

void front::signal_group(int signal) const { ::kill(-leader_, signal); }

void front::lose(loss_reason why, std::string_view which) {
    const auto now = boot_clock::now();
    // Told early, somebody else may have it already; else it is ours until the deadline.
    const bool early = why == loss_reason::forced || why == loss_reason::taken_over;
    const auto kill_at = early ? now + margins_.kill : deadline() - margins_.kill;
    if (!lost_) say(loss_sentence(options_, why, which));
    const bool first = !lost_;
    lost_ = true;
    if (options_.on_loss == loss_policy::resume) return;
    if (options_.on_loss == loss_policy::kill) kill_at_ = std::min(kill_at_, kill_at);
    if (stage_ == stage::watching) stage_ = stage::told;
    if (!first || now >= kill_at_) return;
    signal_group(SIGTERM);
    signal_group(SIGCONT);
}

void front::kill_everything() {
    stage_ = stage::killing;
    signal_group(SIGKILL);
    // Their own children become ours when they die, so the next round finds those.
    for (const process& each : strays())
        ::kill(each.pid, SIGKILL);
}

void front::stop_leftovers(const std::vector<process>& left) {
    say("The command left processes of its group behind, which are told to stop: " +
        names_of(left) + ".");
    stage_ = stage::told;
    kill_at_ = boot_clock::now() + leftover_grace;
    if (options_.on_loss == loss_policy::kill)
        kill_at_ = std::min(kill_at_, deadline() - margins_.kill);
    signal_group(SIGTERM);
    signal_group(SIGCONT);
}

// Descendants that left the group and lost their parent: this process is their reaper.
std::vector<process> front::strays() const {
    auto found = all_processes();
    std::erase_if(found, [this](const process& each) {
        return each.zombie || each.parent != ::getpid() || each.group == leader_ ||
               each.pid == keeper_;
    });
    return found;
}

void front::name_strays() const {
    auto left = strays();
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
        killed_by_ = what.si_code == CLD_EXITED ? 0 : what.si_status;
        status_ = killed_by_ == 0 ? what.si_status : signal_base + killed_by_;
    }
    // Adopted orphans; behind the leader's zombie they wait for init.
    while (!leader_ended_) {
        what = {};
        if (::waitid(P_ALL, 0, &what, WEXITED | WNOHANG | WNOWAIT) != 0 || what.si_pid == 0) return;
        if (what.si_pid == leader_) return;
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
        signal_group(SIGCONT);
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
    signal_group(SIGCONT);
}

}  // namespace pawl::cli
