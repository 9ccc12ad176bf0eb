#include "front.hpp"

#include "duration.hpp"
#include "failure.hpp"
#include "messages.hpp"
#include "run_words.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

constexpr duration patience = 3s;  // with a keeper that has something to undo
constexpr int signal_base = 128;

shared_state* map_shared() {
    void* memory = ::mmap(nullptr, sizeof(shared_state), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw system_failure("Cannot share memory");
    return new (memory) shared_state;
}

void unmap_shared(shared_state* what) { ::munmap(what, sizeof *what); }

const char* name_run(std::array<char, 20>& name) {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number)
        throw system_failure("Cannot get a random number");
    std::snprintf(name.data(), name.size(), "%016llx", static_cast<unsigned long long>(number));
    return name.data();
}

// Seconds with nine digits, comparable with the first number in /proc/uptime.
std::string seconds_of(time_point when) {
    const auto since = when.time_since_epoch();
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(since);
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%lld.%09lld", static_cast<long long>(whole.count()),
                  static_cast<long long>((since - whole).count()));
    return text.data();
}

// A Ctrl-C went to the command alone while it had the terminal; the script around us is to have it
// as well.
void die_like(int signal) {
    ::prctl(PR_SET_DUMPABLE, 0);
    ::kill(0, signal);
    deliver(signal);
}

}  // namespace

front::front(const run_options& options, const place& where)
    : options_(options),
      where_(where),
      margins_(margins_for(options)),
      shared_(map_shared(), &unmap_shared),
      inherited_(name_run(shared_->run)) {
    never_wait_for_reader();
}

// The keeper sees the channel close and ends.
front::~front() = default;

// What the keeper had to undo has had its time.
void front::clear_away() {
    if (!keeper_reaped_) {
        ::kill(keeper_, SIGKILL);
        ::waitpid(keeper_, nullptr, 0);
    }
    if (leader_ != 0) ::waitpid(leader_, nullptr, WNOHANG);
}

int front::run() {
    start_keeper();
    if (!wait_for_lock()) return status_;
    const bool started = start_command();
    if (started) guard();
    lost_before_end_ = lost_;
    if (started) {
        if (terminal_.take_back(leader_) && killed_by_ != 0) terminal_.restore();
        if (!runs_on_) shared_->may_live = false;
        if (!lost_) keep_minimum();
    }
    give_back();
    if (processes_) processes_->cgroup().remove();
    return end();
}

// Before any thread or connection is made, so the copy is a clean process.
void front::start_keeper() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        throw system_failure("Cannot make a socket pair");
    }
    channel_ = descriptor(ends[0]);
    const descriptor other(ends[1]);
    keeper_ = ::fork();
    if (keeper_ < 0) throw system_failure("Cannot start a process");
    if (keeper_ == 0) ::_exit(keep(options_, where_.where, *shared_, inherited_, other.get()));
    events_.listen_to(channel_.get());
}

void front::ask(order what) const {
    ::send(channel_.get(), &what, sizeof what, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// A `pawl run` inside a command stands behind those around it.
std::string front::run_variable() const {
    const char* around = std::getenv(run_name);
    std::string value = run_name;
    value.append("=").append(around == nullptr ? "" : around);
    return value.append(around == nullptr ? "" : ",").append(shared_->run.data());
}

std::vector<std::string> front::environment() const {
    auto removed = where_.secret_variables;
    removed.emplace_back("PAWL_URL_FILE");
    // Those of a `pawl run` around us.
    removed.emplace_back("PAWL_TOKEN");
    for (auto& each : variables_beginning_with("PAWL_ALSO"))
        removed.push_back(std::move(each));
    const auto token = [this](std::size_t which) {
        return to_string(fencing_token(shared_->tokens.at(which)));
    };
    std::vector<std::string> added{"PAWL_NAME=" + options_.name,
                                   "PAWL_SAFE_UNTIL=" + seconds_of(deadline()),
                                   "PAWL_URL=" + where_.url, run_variable()};
    if (options_.fenced) added.push_back("PAWL_TOKEN=" + token(0));
    const auto others = options_.also.size();
    if (others > 0) added.push_back("PAWL_ALSO=" + std::to_string(others));
    for (std::size_t i = 1; i <= others; ++i) {
        const auto one = "PAWL_ALSO_" + std::to_string(i);
        added.push_back(one + "_NAME=" + options_.also[i - 1]);
        if (options_.fenced) added.push_back(one + "_TOKEN=" + token(i));
    }
    return environment_with(removed, added);
}

// Before the command begins: if we are killed meanwhile, the keeper knows where to look.
control_group front::make_cgroup() {
    auto cgroup =
        control_group::make("pawl-" + std::to_string(::getpid()) + "-" + shared_->run.data());
    if (cgroup.path().size() >= shared_->cgroup.size()) cgroup.remove();
    if (cgroup) cgroup.path().copy(shared_->cgroup.data(), shared_->cgroup.size() - 1);
    return cgroup;
}

bool front::start_command() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    has_terminal_ = terminal_.wanted_at_once() && terminal_.in_front();
    auto cgroup = make_cgroup();
    shared_->may_live = true;
    const command_line what{.arguments = options_.command,
                            .environment = environment(),
                            .terminal = has_terminal_ ? terminal_.number() : -1,
                            .signals = events_.inherited(),
                            .cgroup = cgroup.number()};
    if (!may_start()) {
        shared_->may_live = false;
        cgroup.remove();
        return false;
    }
    const auto started = cli::start_command(what);
    leader_ = started.pid;
    shared_->in_cgroup = started.in_cgroup;
    if (!started.in_cgroup) cgroup.remove();
    processes_.emplace(::getpid(), keeper_, inherited_).begin(leader_, std::move(cgroup));
    if (started.error == 0) {
        shared_->group = leader_;
        return true;
    }
    shared_->may_live = false;
    terminal_.take_back(leader_);
    status_ = static_cast<int>(started.error == ENOENT ? exit_code::not_found
                                                       : exit_code::not_executable);
    say("Cannot run '" + options_.command.front() + "': " + std::strerror(started.error) + ".");
    return false;
}

void front::keep_minimum() {
    const auto until = plus(acquired_at_, options_.min_hold);
    while (boot_clock::now() < until && interrupted_ == 0 && !events_.keeper_gone()) {
        const auto came = events_.wait(until);
        for (const int signal : came.signals) {
            if (signal == SIGTSTP) stop_self();
            if (ends_a_wait(signal)) interrupted_ = signal;
        }
        for (const report& told : came.reports) {
            if (told.what != report::kind::lost) continue;
            say("Lost " + in_words(options_) + " before the " + exact(options_.min_hold) +
                " of --min-hold were over; the command had already ended.");
            return;
        }
    }
}

void front::give_back() {
    ask(order::give_back);
    const auto until = boot_clock::now() + patience;
    while (boot_clock::now() < until && !events_.keeper_gone()) {
        const auto came = events_.wait(until);
        // An election that was lost would go on otherwise.
        for (const int signal : came.signals)
            told_to_end_ = told_to_end_ || ends_a_wait(signal);
        for (const report& told : came.reports) {
            if (told.what != report::kind::released) continue;
            if (told.found == release_result::unknown && !lost_) {
                say_unconfirmed();
                return;
            }
            const bool gone =
                told.found == release_result::expired || told.found == release_result::taken_over;
            if (!gone || lost_) return;
            lost_ = leader_ != 0;
            const std::string one = options_.also.empty() ? "The lock " + in_words(options_)
                                                          : "Of " + in_words(options_) + ", one";
            say(one + " was not ours any more when it was given back: " +
                (told.found == release_result::expired ? "it had expired or was deleted."
                                                       : "somebody else has it."));
            return;
        }
    }
    if (!lost_) say_unconfirmed();
}

void front::say_unconfirmed() const {
    say("The service did not confirm the release of " + in_words(options_) +
        "; it ends by itself within " + exact(options_.ttl) + ".");
}

int front::end() {
    const bool unstarted = leader_ == 0;
    if (unstarted && interrupted_ != 0) return signal_base + interrupted_;
    if (lost_ && (unstarted || options_.on_loss != loss_policy::resume)) {
        const bool outlived = options_.on_loss == loss_policy::kill && (late_ || runs_on_);
        return static_cast<int>(outlived ? exit_code::outlived : exit_code::lost);
    }
    if (interrupted_ != 0) return signal_base + interrupted_;
    if (has_terminal_ && (killed_by_ == SIGINT || killed_by_ == SIGQUIT)) {
        say_rest();
        die_like(killed_by_);
    }
    return status_;
}

}  // namespace pawl::cli
