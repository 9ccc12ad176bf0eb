// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "supervisor.hpp"

#include "../ui/duration.hpp"
#include "../ui/failure.hpp"
#include "../ui/messages.hpp"
#include "../verbs/suggestions.hpp"
#include "lock_messages.hpp"
#include "process_names.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace pawl::cli {

namespace {

shared_state* map_shared() {
    void* memory = ::mmap(nullptr, sizeof(shared_state), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw system_failure("Cannot share memory");
    auto* const shared = new (memory) shared_state;
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number)
        throw system_failure("Cannot get a random number");
    std::snprintf(shared->run.data(), shared->run.size(), "%016llx",
                  static_cast<unsigned long long>(number));
    return shared;
}

void unmap_shared(shared_state* memory) { ::munmap(memory, sizeof *memory); }

// Seconds with nine decimals, comparable with the first number in /proc/uptime.
std::string seconds_of(time_point when) {
    const auto since = when.time_since_epoch();
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(since);
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%lld.%09lld", static_cast<long long>(whole.count()),
                  static_cast<long long>((since - whole).count()));
    return text.data();
}

// While the command had the terminal, Ctrl-C reached only the command. The script around pawl must
// get the signal, too.
void die_by_signal(int signal) {
    ::prctl(PR_SET_DUMPABLE, 0);  // no core dump of pawl at SIGQUIT
    ::kill(0, signal);
    deliver_pending(signal);
}

}  // namespace

supervisor::supervisor(const run_options& options, const service_location& location,
                       run_hooks* hooks)
    : options_(options),
      location_(location),
      hooks_(hooks),
      margins_(margins_for(options)),
      shared_(map_shared(), &unmap_shared),
      // The children that this process already had do not belong to the command, nor do their
      // orphans. The name of this run tells those orphans from processes of the command.
      inherited_children_(shared_->run.data()) {
    never_block_on_stderr();
}

// The lock process sees the closed channel and ends.
supervisor::~supervisor() = default;

// The lock process had enough time to undo its work.
void supervisor::reap_children() {
    if (!lock_process_reaped_) {
        ::kill(lock_process_, SIGKILL);
        ::waitpid(lock_process_, nullptr, 0);
    }
    if (leader_ != 0) ::waitpid(leader_, nullptr, WNOHANG);
}

int supervisor::run() {
    start_lock_process();
    if (!wait_for_lock()) return status_;
    const bool started = start_command();
    if (started) guard_child();
    // At the deadline the lock process kills the command, perhaps before its report is read here.
    if (started && !lock_lost_ && boot_clock::now() >= deadline()) {
        handle_loss(ending_reason());
        may_outlive_supervisor_ = may_outlive_supervisor_ || only_terminates();
    }
    lost_before_end_ = lock_lost_;
    if (started) {
        if (terminal_.take_back(leader_) && killed_by_ != 0) terminal_.restore();
        // With `kill`, processes that may be left must not outlive the lease: command_may_live
        // stays true, and the lock process kills them if this process dies. In all other cases no
        // process is left, or what is left may continue.
        if (!may_outlive_supervisor_ || options_.on_loss != loss_policy::kill)
            shared_->command_may_live = false;
        if (!lock_lost_) hold_for_minimum();
    }
    call_end_hook(started);
    release_lock();
    if (processes_) processes_->cgroup().remove();
    return exit_status();
}

// Runs before any thread or connection exists, so that fork copies a clean process.
void supervisor::start_lock_process() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        throw system_failure("Cannot make a socket pair");
    }
    channel_ = descriptor(ends[0]);
    const descriptor lock_process_end(ends[1]);
    lock_process_ = ::fork();
    if (lock_process_ < 0) throw system_failure("Cannot start a process");
    if (lock_process_ == 0)
        ::_exit(run_lock_process(options_, location_.lock_service, *shared_, inherited_children_,
                                 lock_process_end.get()));
    events_.listen_to(channel_.get());
}

void supervisor::send_request(supervisor_request request) const {
    ::send(channel_.get(), &request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// The names of the runs around this one, and then the name of this run.
std::string supervisor::run_variable() const {
    const char* around = std::getenv(run_variable_name);
    std::string value = run_variable_name;
    value.append("=").append(around == nullptr ? "" : around);
    return value.append(around == nullptr ? "" : ",").append(shared_->run.data());
}

std::vector<std::string> supervisor::environment() const {
    auto removed = location_.secret_variables;
    removed.emplace_back("PAWL_URL_FILE");
    // Variables of a `pawl run` around this one.
    removed.emplace_back("PAWL_TOKEN");
    for (auto& each : variables_beginning_with("PAWL_ALSO"))
        removed.push_back(std::move(each));
    std::vector<std::string> added{"PAWL_NAME=" + options_.name,
                                   "PAWL_SAFE_UNTIL=" + seconds_of(deadline()),
                                   "PAWL_URL=" + location_.url, run_variable()};
    // A hold of classic Redlock has no token, whatever the options say.
    const auto add_token = [this, &added](const std::string& prefix, std::size_t index) {
        const fencing_token token(shared_->tokens.at(index));
        if (options_.fenced && token.value() != 0)
            added.push_back(prefix + "_TOKEN=" + to_string(token));
    };
    add_token("PAWL", 0);
    added.insert(added.end(), options_.variables.begin(), options_.variables.end());
    const auto others = options_.also.size();
    if (others > 0) added.push_back("PAWL_ALSO=" + std::to_string(others));
    for (std::size_t i = 1; i <= others; ++i) {
        const auto prefix = "PAWL_ALSO_" + std::to_string(i);
        added.push_back(prefix + "_NAME=" + options_.also[i - 1]);
        add_token(prefix, i);
    }
    return environment_with(removed, added);
}

// Called before `command_may_live` is set. If the supervisor is killed after that, the lock process
// finds the cgroup; before that, an empty folder may stay.
control_group supervisor::make_cgroup() {
    auto cgroup =
        control_group::make("pawl-" + std::to_string(::getpid()) + "-" + shared_->run.data());
    if (cgroup.path().size() >= shared_->cgroup.size()) cgroup.remove();
    if (cgroup) cgroup.path().copy(shared_->cgroup.data(), shared_->cgroup.size() - 1);
    return cgroup;
}

// Before the release: whoever has the lock next finds the end of this command.
void supervisor::call_end_hook(bool started) {
    if (!hooks_have_begun_) return;
    const bool was_executed = started || status_ != 0;  // or the attempt has failed
    if (!was_executed)
        hooks_->withdraw();
    else if (lock_lost_ && started)
        hooks_->end(static_cast<int>(loss_status()), true);
    else
        hooks_->end(status_, false);
}

bool supervisor::start_command() {
    if (hooks_ != nullptr) {
        hooks_have_begun_ = hooks_->may_begin(fencing_token(shared_->tokens.at(0)));
        if (!hooks_have_begun_) return false;
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    has_terminal_ = terminal_.wants_foreground() && terminal_.is_foreground();
    auto cgroup = make_cgroup();
    shared_->command_may_live = true;
    const command_spec command{.arguments = options_.command,
                               .environment = environment(),
                               .terminal = has_terminal_ ? terminal_.number() : -1,
                               .signals = events_.original_mask(),
                               .cgroup = cgroup.number()};
    if (!may_start()) {
        shared_->command_may_live = false;
        cgroup.remove();
        return false;
    }
    const auto started = cli::start_command(command);
    leader_ = started.pid;
    shared_->in_cgroup = started.in_cgroup;
    if (!started.in_cgroup) cgroup.remove();
    processes_.emplace(::getpid(), lock_process_, inherited_children_)
        .set_leader(leader_, std::move(cgroup));
    if (started.error == 0) {
        shared_->group = leader_;
        return true;
    }
    shared_->command_may_live = false;
    terminal_.take_back(leader_);
    leader_ = 0;  // its process has ended, and ran nothing
    status_ = static_cast<int>(started.error == ENOENT ? exit_code::not_found
                                                       : exit_code::not_executable);
    auto advice = started.error == ENOENT ? shell_advice(options_.command) : std::string();
    if (advice.empty()) advice = std::strerror(started.error);
    if (options_.command.front().starts_with('-')) advice += "; options of pawl come before --";
    say("Cannot run '" + options_.command.front() + "': " + advice + ".");
    return false;
}

void supervisor::hold_for_minimum() {
    const auto until = saturated_sum(acquired_at_, options_.min_hold);
    while (interrupted_ == 0) {
        const auto now = boot_clock::now();
        const auto lease_end = deadline();
        // A lock process that has ended or is frozen does not renew: the lock ends with its lease.
        const bool is_renewed = !events_.lock_process_ended() && now < lease_end;
        if (!is_renewed && lease_end < until) return note_loss_in_minimum();
        if (!is_renewed || now >= until) return;
        const auto batch = events_.wait(std::min(until, lease_end));
        note_interrupts(batch);
        const auto is_loss = [](const lock_report& report) {
            return report.event == lock_report::kind::lost;
        };
        if (std::any_of(batch.reports.begin(), batch.reports.end(), is_loss))
            return note_loss_in_minimum();
    }
}

void supervisor::note_loss_in_minimum() {
    lock_lost_ = true;
    say("Lost " + describe_locks(options_) + " before the end of the " +
        format_exact(options_.min_hold) + " of --min-hold; the command had already ended.");
}

void supervisor::release_lock() {
    send_request(supervisor_request::release);
    const auto until = boot_clock::now() + undo_timeout;
    while (boot_clock::now() < until && !events_.lock_process_ended()) {
        const auto batch = events_.wait(until);
        // Note the signal: `pawl elect` would otherwise stand for election again.
        for (const int signal : batch.signals)
            end_requested_ = end_requested_ || is_termination_signal(signal);
        for (const lock_report& report : batch.reports) {
            if (report.event != lock_report::kind::released) continue;
            if (report.result == release_result::unknown && !lock_lost_) {
                report_unconfirmed_release();
                return;
            }
            const bool lost_before_release = report.result == release_result::expired ||
                                             report.result == release_result::taken_over;
            if (!lost_before_release || lock_lost_) return;
            // A command that could not be started keeps its own exit status.
            lock_lost_ = leader_ != 0;
            const std::string subject = options_.also.empty()
                                            ? "The lock " + describe_locks(options_)
                                            : "One of the locks " + describe_locks(options_);
            say(subject + " was lost before its release: " +
                (report.result == release_result::expired ? "it expired or was deleted."
                                                          : "another owner holds it."));
            return;
        }
    }
    if (!lock_lost_) report_unconfirmed_release();
}

void supervisor::report_unconfirmed_release() const {
    say("The service did not confirm the release of " + describe_locks(options_) +
        "; the lock is free within " + format_exact(options_.ttl) + ".");
}

exit_code supervisor::loss_status() const noexcept {
    const bool outlived = outlived_lease_ || may_outlive_supervisor_;
    return outlived ? exit_code::outlived : exit_code::lost;
}

int supervisor::exit_status() {
    const bool unstarted = leader_ == 0;
    if (unstarted && interrupted_ != 0) return signal_status(interrupted_);
    if (lock_lost_ && (unstarted || options_.on_loss != loss_policy::resume))
        return static_cast<int>(loss_status());
    if (interrupted_ != 0) return signal_status(interrupted_);
    if (has_terminal_ && (killed_by_ == SIGINT || killed_by_ == SIGQUIT)) {
        say_rest();
        die_by_signal(killed_by_);
    }
    return status_;
}

}  // namespace pawl::cli
