#include "keeper.hpp"

#include "command_processes.hpp"
#include "descriptor.hpp"
#include "duration.hpp"
#include "explain.hpp"
#include "failure.hpp"
#include "messages.hpp"
#include "processes.hpp"
#include "pursuit.hpp"

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

// Leaves the terminal and the job, so that what hits them does not hit the keeper, and lets go of
// all descriptors but stderr and the channel: they are the command's, and whoever reads them waits
// for their end.
void step_aside(int channel) {
    ::setsid();
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    ::prctl(PR_SET_NAME, keeper_name);
    const descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    ::dup2(nothing.get(), STDIN_FILENO);
    ::dup2(nothing.get(), STDOUT_FILENO);
    const auto low = static_cast<unsigned>(channel);
    if (low > 3) ::close_range(3, low - 1, 0);
    ::close_range(low + 1, ~0U, 0);
}

class keeper {
public:
    keeper(const run_options& options, shared_state& shared, const inherited_children& inherited,
           int channel)
        : options_(options),
          shared_(shared),
          inherited_(inherited),
          margins_(margins_for(options)),
          channel_(channel),
          changed_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (!changed_) throw system_failure("Cannot make an eventfd");
    }

    int live(const service& where);

private:
    void listen();
    blocking::held_locks take(blocking::client& locks);
    blocking::held_locks ask(blocking::client& locks, const lock_options& asked) const;
    void grant(const blocking::held_locks& mine);
    void hold(blocking::held_locks& mine);
    void look(blocking::held_locks& mine);
    void give_back(blocking::held_locks& mine);
    void kill_command() const;
    [[nodiscard]] bool kill_orphans() const;
    [[nodiscard]] bool end_orphans(const blocking::held_locks& mine);
    void note_sight() noexcept;
    void wait(duration longest) const;
    void wake() const noexcept;
    void say_goodbye(const report& what, std::string_view text = {});
    void tell(report what, std::string_view text = {}) const noexcept;

    const run_options& options_;
    shared_state& shared_;
    const inherited_children& inherited_;
    margins margins_;
    int channel_;
    pid_t front_ = ::getppid();
    descriptor changed_;
    std::stop_source cancel_;
    std::atomic<bool> finish_{false};
    std::atomic<bool> orphaned_{false};
    std::atomic<bool> done_{false};
    std::atomic<std::int64_t> last_sight_{0};  // of the command without a front; CLOCK_BOOTTIME, ns
    bool told_lost_ = false;
    time_point kill_at_ = time_point::max();
    time_point end_ = time_point::max();  // of --max-hold, where the library does not see to it
};

std::string_view lost_among(const blocking::held_locks& mine) {
    for (const auto& each : mine)
        if (each.why_lost() != loss_reason::none) return each.name();
    return {};
}

// Runs on a thread of its own until the front is done or dead.
void keeper::listen() {
    order what{};
    while (true) {
        const auto size = ::recv(channel_, &what, sizeof what, 0);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) break;
        if (what == order::cancel) cancel_.request_stop();
        if (what == order::give_back) finish_ = true;
        wake();
    }
    if (done_) return;
    // The front died: at once, before anything that could wait for a server.
    orphaned_ = true;
    static_cast<void>(kill_orphans());
    cancel_.request_stop();
    wake();
    // After the last sight of the command the lease ends, and then nobody is left whom this process
    // could serve.
    note_sight();
    while (!done_ &&
           boot_clock::now() < time_point(duration(last_sight_.load())) + options_.ttl + 10s)
        ::poll(nullptr, 0, 20);
    if (!done_) ::_exit(static_cast<int>(exit_code::system));
}

void keeper::note_sight() noexcept { last_sight_ = boot_clock::now().time_since_epoch().count(); }

void keeper::wake() const noexcept {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(changed_.get(), &one, sizeof one);
}

void keeper::wait(duration longest) const {
    pollfd watched{.fd = changed_.get(), .events = POLLIN, .revents = 0};
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
    if (::poll(&watched, 1, static_cast<int>(milliseconds)) <= 0) return;
    std::uint64_t count = 0;
    [[maybe_unused]] const auto size = ::read(changed_.get(), &count, sizeof count);
}

void keeper::tell(report what, std::string_view text) const noexcept {
    const auto size = std::min(text.size(), what.text.size() - 1);
    std::copy_n(text.begin(), size, what.text.begin());
    // Few and small: they fit into the socket's buffer even when the front is stopped.
    ::send(channel_, &what, sizeof what, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// While the front lives, and perhaps is stopped: all that descends from it.
void keeper::kill_command() const {
    if (!shared_.may_live) return;
    command_processes command(front_, ::getpid(), inherited_);
    command.begin(shared_.group, control_group::at(shared_.cgroup.data()));
    command.kill();
}

// The front is dead, and the tree below it has fallen apart. True when something was there to kill.
bool keeper::kill_orphans() const {
    if (!shared_.may_live) return false;
    const auto cgroup = control_group::at(shared_.cgroup.data());
    if (cgroup) cgroup.kill();
    const pid_t group = shared_.group;
    bool lives = group > 0 && (::kill(-group, SIGKILL) == 0 || errno == EPERM);
    if (!proc_is_ours()) return lives;
    const auto is_ours = [this](const process& each) {
        // The keeper of a `pawl run` inside is spared: see front.hpp.
        return each.name != keeper_name && has_variable(each.pid, run_name, shared_.run.data());
    };
    const auto all = all_processes();
    std::vector<process> living;
    for (const process& each : all) {
        const bool in_group = group > 0 && each.group == group;
        if (!each.zombie && (in_group || is_ours(each))) living.push_back(each);
    }
    kill_with_groups(living, all);
    pursue(is_ours);
    return !living.empty();
}

// True when nothing of the command is left. Without a cgroup nobody can know that: then all that
// can be seen is gone, and the lease has to run out.
bool keeper::end_orphans(const blocking::held_locks& mine) {
    if (!shared_.may_live) return true;
    auto cgroup = control_group::at(shared_.cgroup.data());
    const bool all_in_cgroup = cgroup && shared_.in_cgroup;
    bool left = true;
    for (duration pause = 5ms; left && mine.state() != lock_state::lost;
         pause = std::min<duration>(pause * 2, 500ms)) {
        const auto refused = refused_looks();
        const bool seen = kill_orphans() || (all_in_cgroup && cgroup.populated());
        const bool known = refused_looks() == refused;
        left = seen || !known;
        if (!left) break;
        if (known) note_sight();
        wait(pause);
    }
    cgroup.remove();
    return all_in_cgroup && !left;
}

// Passes the deadline on, and sees to it that the command does not outlive it even if the front
// does nothing.
void keeper::look(blocking::held_locks& mine) {
    const duration margin = margins_.kill;
    const auto now = boot_clock::now();
    const bool over = now >= end_;
    if (mine.state() != lock_state::lost && !over) {
        const auto until = std::min(mine.safe_until(), end_);
        shared_.safe_until = until.time_since_epoch().count();
        kill_at_ = until - margin / 2;
    } else if (!told_lost_) {
        told_lost_ = true;
        report lost{.what = report::kind::lost};
        lost.why = over ? loss_reason::max_hold : mine.why_lost();
        tell(lost, lost_among(mine));
        const bool early = lost.why == loss_reason::forced || lost.why == loss_reason::taken_over;
        kill_at_ = early ? now + margin : now;
    }
    if (options_.on_loss == loss_policy::kill && now >= kill_at_) kill_command();
    if (over) mine.release();
}

void keeper::hold(blocking::held_locks& mine) {
    const std::stop_callback on_loss(mine.lost(), [this] { wake(); });
    const duration rhythm = std::clamp<duration>(options_.ttl / 40, 5ms, 500ms);
    while (!finish_ && !orphaned_) {
        look(mine);
        say_kept();
        const auto left = kill_at_ - boot_clock::now();
        wait(left > duration::zero() ? std::min(left, rhythm) : rhythm);
    }
    // Nothing of the command may run on when the next holder starts.
    if (orphaned_ && !end_orphans(mine) && mine.state() != lock_state::lost)
        ::_exit(static_cast<int>(exit_code::ok));
    give_back(mine);
}

void keeper::give_back(blocking::held_locks& mine) {
    report released{.what = report::kind::released};
    released.found = mine.release();
    released.why = mine.why_lost();
    say_goodbye(released);
}

// What is left to do may take a while: whoever reads our stderr must not wait for it.
void keeper::say_goodbye(const report& what, std::string_view text) {
    const descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    ::dup2(nothing.get(), STDERR_FILENO);
    tell(what, text);
}

// Empty: lost again before the command could begin.
blocking::held_locks keeper::ask(blocking::client& locks, const lock_options& asked) const {
    try {
        auto mine = locks.acquire_all(names_of(options_), asked, cancel_.get_token());
        // What was handed over has a short first lease. The command must not start in one of which
        // the warning may be told before the renewal that confirms it.
        if (mine.safe_until() - boot_clock::now() < lease_of(options_) / 2) mine.renew();
        return mine;
    } catch (const pawl::error& problem) {
        if (problem.reason() == errc::bad_option) explain_permits(locks, options_);
        if (problem.reason() != errc::lost) throw;
    }
    return {};
}

blocking::held_locks keeper::take(blocking::client& locks) {
    const auto began = boot_clock::now();
    auto longest_wait = options_.wait;
    if (longest_wait > duration::zero() && std::getenv(run_name) != nullptr) {
        refuse_own_wait(locks, options_);
        longest_wait = rest_of(longest_wait, began);
    }
    std::jthread explainer;
    if (options_.verbose || (!options_.quiet && ::isatty(STDERR_FILENO) == 1)) {
        explainer =
            std::jthread([&](const std::stop_token& over) { explain_wait(locks, options_, over); });
    }
    // Of several the first may be here long before the last, which is when --max-hold begins.
    const bool several = !options_.also.empty();
    lock_options asked{.ttl = options_.ttl,
                       .wait = longest_wait,
                       .max_hold = several ? forever : options_.max_hold,
                       .mode = options_.mode,
                       .fenced = options_.fenced,
                       .fair = options_.fair,
                       .permits = options_.permits,
                       .of = options_.of};
    while (true) {
        auto mine = ask(locks, asked);
        if (mine && several) end_ = plus(boot_clock::now(), options_.max_hold);
        if (mine) return mine;
        asked.wait = rest_of(options_.wait, began);
    }
}

void keeper::grant(const blocking::held_locks& mine) {
    const auto names = names_of(options_);
    for (std::size_t i = 0; i < names.size(); ++i)
        shared_.tokens.at(i) = mine.token(names[i]).value();
    shared_.safe_until = std::min(mine.safe_until(), end_).time_since_epoch().count();
    tell({.what = report::kind::granted});
}

int keeper::live(const service& where) {
    const std::jthread listener([this] { listen(); });
    // recv has no stop token; shutting the channel down ends it.
    const std::shared_ptr<void> at_the_end(nullptr, [this](void*) {
        done_ = true;
        ::shutdown(channel_, SHUT_RDWR);
    });
    client_options settings;
    settings.command = options_.label.empty()
                           ? std::filesystem::path(options_.command.front()).filename().string()
                           : options_.label;
    settings.pid = ::getppid();  // the process that the shell knows
    // A wait for a service that is away must be seen: the URL may be mistyped.
    settings.log = [verbose = options_.verbose](std::string_view line) {
        if (verbose || line.starts_with("Waiting for the service: ")) say(line);
    };
    std::optional<blocking::client> locks;
    try {
        locks.emplace(where, settings);
        auto mine = take(*locks);
        grant(mine);
        hold(mine);
    } catch (const pawl::error& problem) {
        report failed{.what = report::kind::failed};
        failed.reason = problem.reason();
        failed.reached = locks && locks->statistics().connections > 0;
        locks.reset();  // a place in line is given up before the end is told
        say_goodbye(failed, problem.what());
    }
    return 0;
}

}  // namespace

duration lease_of(const run_options& options) { return std::min(options.ttl, options.max_hold); }

margins margins_for(const run_options& options) {
    const auto lease = lease_of(options);
    return {.term = std::min<duration>(5s, lease / 4), .kill = std::min<duration>(1s, lease / 10)};
}

int keep(const run_options& options, const service& where, shared_state& shared,
         const inherited_children& inherited, int channel) {
    step_aside(channel);
    try {
        return keeper(options, shared, inherited, channel).live(where);
    } catch (...) {
        return report_current();
    }
}

}  // namespace pawl::cli
