// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_process.hpp"

#include "../ui/descriptor.hpp"
#include "../ui/duration.hpp"
#include "../ui/failure.hpp"
#include "../ui/messages.hpp"
#include "command_processes.hpp"
#include "lock_messages.hpp"
#include "process_kill.hpp"
#include "process_names.hpp"
#include "processes.hpp"
#include "wait_messages.hpp"

#include <pawl/blocking.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

// Leaves the terminal and the job, so that their signals do not reach the lock process. Closes all
// descriptors except stderr and the channel, because a reader of the command's descriptors waits
// until all copies are closed.
void detach_from_job(int channel) {
    ::setsid();
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    ::prctl(PR_SET_NAME, lock_process_name);
    const descriptor null_device(::open("/dev/null", O_RDWR | O_CLOEXEC));
    ::dup2(null_device.get(), STDIN_FILENO);
    ::dup2(null_device.get(), STDOUT_FILENO);
    const auto low = static_cast<unsigned>(channel);
    if (low > 3) ::close_range(3, low - 1, 0);
    ::close_range(low + 1, ~0U, 0);
}

// The command that other users see. Redis keeps 64 bytes, so every service shows as many.
std::string label_of(const run_options& options) {
    constexpr std::size_t max_size = 64;
    auto label = options.label.empty()
                     ? std::filesystem::path(options.command.front()).filename().string()
                     : options.label;
    if (label.size() <= max_size) return label;
    auto size = max_size;
    const auto is_within_character = [&] {
        return (static_cast<unsigned char>(label[size]) & 0xC0) == 0x80;
    };
    while (size > max_size - 4 && is_within_character())
        --size;
    label.resize(size);
    return label;
}

class lock_process {
public:
    lock_process(const run_options& options, shared_state& shared,
                 const inherited_children& inherited, int channel)
        : options_(options),
          shared_(shared),
          inherited_children_(inherited),
          margins_(margins_for(options)),
          channel_(channel),
          wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (!wakeup_) throw system_failure("Cannot make an eventfd");
    }

    int run(const service& lock_service);

private:
    void receive_requests();
    blocking::held_locks acquire(blocking::client& locks);
    blocking::held_locks try_acquire(blocking::client& locks,
                                     const lock_options& acquire_options) const;
    void report_grant(const blocking::held_locks& held_locks);
    void hold(blocking::held_locks& held_locks);
    void update_deadline(blocking::held_locks& held_locks);
    [[nodiscard]] bool is_stop_near(duration within) const noexcept;
    void release(blocking::held_locks& held_locks);
    void kill_command() const;
    [[nodiscard]] bool kill_orphans() const;
    [[nodiscard]] bool end_orphans(const blocking::held_locks& held_locks);
    void note_command_alive() noexcept;
    void wait(duration longest) const;
    void notify() const noexcept;
    void send_last_report(const lock_report& report, std::string_view text = {});
    void send_report(lock_report report, std::string_view text = {}) const noexcept;

    const run_options& options_;
    shared_state& shared_;
    const inherited_children& inherited_children_;
    margins margins_;
    int channel_;
    pid_t supervisor_ = ::getppid();
    descriptor wakeup_;
    std::stop_source cancel_;
    std::atomic<bool> release_requested_{false};
    std::atomic<bool> orphaned_{false};
    std::atomic<bool> finished_{false};
    std::atomic<std::int64_t> last_seen_alive_{
        0};  // of the command after the supervisor's death; CLOCK_BOOTTIME, ns
    bool loss_reported_ = false;
    time_point kill_at_ = time_point::max();
    // The end of --max-hold if the library does not enforce it.
    time_point end_ = time_point::max();
};

std::string_view lost_lock_name(const blocking::held_locks& held_locks) {
    for (const auto& each : held_locks)
        if (each.why_lost() != loss_reason::none) return each.name();
    return {};
}

// Runs on its own thread until the supervisor closes the channel or dies.
void lock_process::receive_requests() {
    supervisor_request request{};
    while (true) {
        const auto size = ::recv(channel_, &request, sizeof request, 0);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) break;
        if (request == supervisor_request::cancel) cancel_.request_stop();
        if (request == supervisor_request::release) release_requested_ = true;
        notify();
    }
    if (finished_) return;
    // The supervisor died. Kill at once, before anything that could wait for a server.
    orphaned_ = true;
    static_cast<void>(kill_orphans());
    cancel_.request_stop();
    notify();
    // This process, and its renewals with it, ends one ttl plus 10 s after the command was last
    // seen alive, even if the release has no answer.
    note_command_alive();
    while (!finished_ &&
           boot_clock::now() < time_point(duration(last_seen_alive_.load())) + options_.ttl + 10s)
        ::poll(nullptr, 0, 20);
    if (!finished_) ::_exit(static_cast<int>(exit_code::system));
}

void lock_process::note_command_alive() noexcept {
    last_seen_alive_ = boot_clock::now().time_since_epoch().count();
}

void lock_process::notify() const noexcept {
    const std::uint64_t increment = 1;
    [[maybe_unused]] const auto written = ::write(wakeup_.get(), &increment, sizeof increment);
}

void lock_process::wait(duration longest) const {
    pollfd watched{.fd = wakeup_.get(), .events = POLLIN, .revents = 0};
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
    if (::poll(&watched, 1, static_cast<int>(milliseconds)) <= 0) return;
    std::uint64_t count = 0;
    [[maybe_unused]] const auto size = ::read(wakeup_.get(), &count, sizeof count);
}

void lock_process::send_report(lock_report report, std::string_view text) const noexcept {
    const auto size = std::min(text.size(), report.text.size() - 1);
    std::copy_n(text.begin(), size, report.text.begin());
    // Reports are few and small, so they fit into the socket's buffer even if the supervisor is
    // stopped.
    ::send(channel_, &report, sizeof report, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Used while the supervisor lives or is stopped: kills all of its descendants.
void lock_process::kill_command() const {
    if (!shared_.command_may_live) return;
    command_processes command(supervisor_, ::getpid(), inherited_children_);
    command.set_leader(shared_.group, control_group::at(shared_.cgroup.data()));
    command.kill();
}

// The supervisor is dead, and its descendants have lost their common ancestor. Returns true if
// there was a process to kill.
bool lock_process::kill_orphans() const {
    if (!shared_.command_may_live) return false;
    const auto cgroup = control_group::at(shared_.cgroup.data());
    if (cgroup) cgroup.kill();
    const pid_t group = shared_.group;
    bool lives = group > 0 && (::kill(-group, SIGKILL) == 0 || errno == EPERM);
    if (!proc_shows_own_namespace()) return lives;
    const auto is_ours = [this](const process& each) {
        // Spares the lock process of a `pawl run` inside the command: see report_strays.
        return each.name != lock_process_name &&
               has_variable(each.pid, run_variable_name, shared_.run.data());
    };
    const auto all = all_processes();
    std::vector<process> living;
    for (const process& each : all) {
        const bool in_group = group > 0 && each.group == group;
        if (!each.zombie && (in_group || is_ours(each))) living.push_back(each);
    }
    kill_with_groups(living, all);
    kill_until_gone(is_ours);
    return !living.empty();
}

// Returns true if no process of the command is left. Without a cgroup this cannot be known: all
// visible processes are killed, and the lease must run out.
bool lock_process::end_orphans(const blocking::held_locks& held_locks) {
    if (!shared_.command_may_live) return true;
    auto cgroup = control_group::at(shared_.cgroup.data());
    const bool all_in_cgroup = cgroup && shared_.in_cgroup;
    bool left = true;
    for (duration pause = 5ms; left && held_locks.state() != lock_state::lost;
         pause = std::min<duration>(pause * 2, 500ms)) {
        const auto failed_before = failed_proc_reads();
        const bool alive = kill_orphans() || (all_in_cgroup && cgroup.populated());
        const bool visible = failed_proc_reads() == failed_before;
        left = alive || !visible;
        if (!left) break;
        if (visible) note_command_alive();
        wait(pause);
    }
    cgroup.remove();
    return all_in_cgroup && !left;
}

// Publishes the deadline. With `kill`, kills the command shortly before it even if the supervisor
// does nothing.
void lock_process::update_deadline(blocking::held_locks& held_locks) {
    const duration margin = margins_.kill;
    const auto now = boot_clock::now();
    const bool reached_max_hold = now >= end_;
    if (held_locks.state() != lock_state::lost && !reached_max_hold) {
        const auto until = std::min(held_locks.safe_until(), end_);
        shared_.safe_until = until.time_since_epoch().count();
        kill_at_ = until - margin / 2;
    } else if (!loss_reported_) {
        loss_reported_ = true;
        lock_report lost{.event = lock_report::kind::lost};
        lost.loss_cause = reached_max_hold ? loss_reason::max_hold : held_locks.why_lost();
        send_report(lost, lost_lock_name(held_locks));
        const bool early = is_before_deadline(lost.loss_cause);
        kill_at_ = early ? now + margin : now;
    }
    if (options_.on_loss == loss_policy::kill && now >= kill_at_) kill_command();
    if (reached_max_hold) (void)held_locks.release();
}

// The supervisor stops the command when the published deadline is near. A renewal that is answered
// just before that must be published before it, too.
bool lock_process::is_stop_near(duration within) const noexcept {
    const time_point until{duration(shared_.safe_until.load())};
    return !loss_reported_ && boot_clock::now() >= until - margins_.term - within;
}

void lock_process::hold(blocking::held_locks& held_locks) {
    const std::stop_callback on_loss(held_locks.lost(), [this] { notify(); });
    const duration interval = std::clamp<duration>(options_.ttl / 40, 5ms, 500ms);
    while (!release_requested_ && !orphaned_) {
        update_deadline(held_locks);
        say_kept();
        const auto left = kill_at_ - boot_clock::now();
        const auto pause = is_stop_near(2 * interval) ? interval / 8 : interval;
        wait(left > duration::zero() ? std::min<duration>(left, pause) : pause);
    }
    // No process of the command may run when the next holder starts.
    if (orphaned_ && !end_orphans(held_locks) && held_locks.state() != lock_state::lost)
        ::_exit(static_cast<int>(exit_code::ok));
    release(held_locks);
}

void lock_process::release(blocking::held_locks& held_locks) {
    lock_report released{.event = lock_report::kind::released};
    released.result = held_locks.release();
    released.loss_cause = held_locks.why_lost();
    send_last_report(released);
}

// Gives up stderr before the report is sent: the remaining work may take a while, and the reader of
// stderr must not wait for it.
void lock_process::send_last_report(const lock_report& report, std::string_view text) {
    const descriptor null_device(::open("/dev/null", O_RDWR | O_CLOEXEC));
    ::dup2(null_device.get(), STDERR_FILENO);
    send_report(report, text);
}

// Returns an empty handle if the lock was lost before the command could start.
blocking::held_locks lock_process::try_acquire(blocking::client& locks,
                                               const lock_options& acquire_options) const {
    try {
        auto held_locks =
            locks.acquire_all(names_of(options_), acquire_options, cancel_.get_token());
        // A lock that was handed over has a short first lease. Its warning time may be before the
        // first renewal, so the lock is renewed before the command starts.
        if (held_locks.safe_until() - boot_clock::now() < lease_of(options_) / 2)
            held_locks.renew();
        return held_locks;
    } catch (const pawl::error& problem) {
        if (problem.reason() != errc::lost) throw;
    }
    return {};
}

blocking::held_locks lock_process::acquire(blocking::client& locks) {
    const auto began = boot_clock::now();
    auto longest_wait = options_.wait;
    if (longest_wait > duration::zero() && std::getenv(run_variable_name) != nullptr) {
        refuse_wait_for_ancestor(locks, options_);
        longest_wait = remaining_of(longest_wait, began);
    }
    std::jthread explainer;
    // A try does not wait for a holder.
    const bool is_shown = options_.verbose || (!options_.quiet && ::isatty(STDERR_FILENO) == 1);
    if (is_shown && longest_wait > duration::zero()) {
        explainer =
            std::jthread([&](const std::stop_token& stop) { explain_wait(locks, options_, stop); });
    }
    // With several locks, --max-hold begins when the last one is acquired.
    const bool multiple = !options_.also.empty();
    lock_options acquire_options{.ttl = options_.ttl,
                                 .wait = longest_wait,
                                 .max_hold = multiple ? forever : options_.max_hold,
                                 .mode = options_.mode,
                                 .fenced = options_.fenced,
                                 .fair = options_.fair,
                                 .permits = options_.permits,
                                 .total_permits = options_.total_permits,
                                 .durable = options_.durable};
    while (true) {
        auto held_locks = try_acquire(locks, acquire_options);
        if (held_locks && multiple) end_ = saturated_sum(boot_clock::now(), options_.max_hold);
        if (held_locks) return held_locks;
        acquire_options.wait = remaining_of(options_.wait, began);
    }
}

void lock_process::report_grant(const blocking::held_locks& held_locks) {
    const auto names = names_of(options_);
    for (std::size_t i = 0; i < names.size(); ++i)
        shared_.tokens.at(i) = held_locks.token(names[i]).value();
    shared_.safe_until = std::min(held_locks.safe_until(), end_).time_since_epoch().count();
    send_report({.event = lock_report::kind::granted});
}

int lock_process::run(const service& lock_service) {
    const std::jthread listener([this] { receive_requests(); });
    // recv has no stop token; shutting the channel down ends it.
    const std::shared_ptr<void> finish_at_end(nullptr, [this](void*) {
        finished_ = true;
        ::shutdown(channel_, SHUT_RDWR);
    });
    client_options settings;
    settings.command = label_of(options_);
    settings.pid = ::getppid();  // the process that the shell started
    settings.drain = 2s;         // the supervisor waits no longer
    // A wait for an unavailable service is always reported, because the URL may be mistyped.
    settings.log = [verbose = options_.verbose](std::string_view line) {
        if (verbose || line.starts_with("Waiting for the service: ")) say(line);
    };
    std::optional<blocking::client> locks;
    try {
        locks.emplace(lock_service, settings);
        auto held_locks = acquire(*locks);
        report_grant(held_locks);
        hold(held_locks);
    } catch (const pawl::error& problem) {
        lock_report failed{.event = lock_report::kind::failed};
        failed.reason = problem.reason();
        failed.reached_service = locks && locks->statistics().connections > 0;
        send_last_report(failed, problem.what());
        locks.reset();  // leaves the queue; the supervisor waits for that a little
    }
    return 0;
}

}  // namespace

duration lease_of(const run_options& options) { return std::min(options.ttl, options.max_hold); }

margins margins_for(const run_options& options) {
    const auto lease = lease_of(options);
    return {.term = std::min<duration>(5s, lease / 4), .kill = std::min<duration>(1s, lease / 10)};
}

int run_lock_process(const run_options& options, const service& lock_service, shared_state& shared,
                     const inherited_children& inherited, int channel) {
    detach_from_job(channel);
    try {
        return lock_process(options, shared, inherited, channel).run(lock_service);
    } catch (...) {
        return report_current();
    }
}

}  // namespace pawl::cli
