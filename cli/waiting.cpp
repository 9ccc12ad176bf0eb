// The part of the front that waits for the lock, until the command may begin.
#include "failure.hpp"
#include "front.hpp"
#include "run_words.hpp"

#include <csignal>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

constexpr duration patience = 3s;  // with a keeper that has a place in line to give up
constexpr int signal_base = 128;

}  // namespace

// Signals and reports that come together: the command has not begun, so the signals are ours.
bool front::wait_for_lock() {
    auto until = time_point::max();
    while (true) {
        const auto came = events_.wait(until);
        for (const int signal : came.signals) {
            if (signal == SIGTSTP) stop_self();
            if (!ends_a_wait(signal)) continue;
            if (interrupted_ != 0) return false;
            interrupted_ = signal;
            status_ = signal_base + signal;
            until = boot_clock::now() + patience;
            ask(order::cancel);
        }
        for (const report& told : came.reports) {
            if (told.what == report::kind::failed) return fail(told);
            take_early(told);
        }
        if (reached_) {
            if (interrupted_ == 0) return true;
            give_back();
            return false;
        }
        if (interrupted_ != 0 && boot_clock::now() >= until) return false;
        if (!events_.keeper_gone()) continue;
        if (interrupted_ == 0)
            throw failure(
                exit_code::system,
                "The process that asks for the lock has ended; see what killed it, and try again.");
        return false;
    }
}

bool front::fail(const report& told) {
    reached_ = told.reached;
    if (interrupted_ != 0) return false;
    const auto code = code_for(told.reason);
    const bool busy = code == exit_code::timed_out;
    if (!busy || !options_.quiet) say(told.text.data());
    status_ = busy ? options_.busy_exit : static_cast<int>(code);
    // An answer that nobody understands has the same exit status, and does not pass.
    unserved_ = told.reason == errc::unreachable || told.reason == errc::unavailable;
    return false;
}

// The loss may come with the grant, if this process was stopped meanwhile.
void front::take_early(const report& told) {
    if (told.what == report::kind::lost) lose_unstarted(told.why, told.text.data());
    if (told.what != report::kind::granted) return;
    acquired_at_ = boot_clock::now();
    reached_ = true;
}

void front::lose_unstarted(loss_reason why, std::string_view which) {
    if (!lost_ && interrupted_ == 0)
        say(loss_sentence(options_, why, which, "the command was not started"));
    lost_ = true;
}

// Asked directly before the command begins, because this process may have been stopped at any time
// since the grant.
bool front::may_start() {
    for (bool more = true; more;) {
        const auto came = events_.wait(boot_clock::now());
        more = !came.signals.empty();
        for (const int signal : came.signals) {
            if (signal == SIGTSTP) stop_self();
            if (ends_a_wait(signal)) interrupted_ = signal;
        }
        for (const report& told : came.reports)
            take_early(told);
    }
    if (interrupted_ != 0) return false;
    if (!lost_ && events_.keeper_gone()) lose_unstarted(loss_reason::none);
    if (!lost_ && must_stop_soon()) lose_unstarted(why_ending());
    return !lost_;
}

}  // namespace pawl::cli
