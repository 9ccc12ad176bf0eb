#include "guard.hpp"

#include "exhausted.hpp"
#include "lease.hpp"
#include "loss_notifier.hpp"
#include "quiet_thread.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <system_error>

namespace pawl::core {
namespace {

constexpr auto never = std::numeric_limits<long long>::max();

std::atomic<guard*> current{nullptr};
std::mutex making;

// The child has the list but not the thread; it starts again with neither. The mutex is held over
// the fork, so that no other thread's lock of it is copied.
const int watching_forks = ::pthread_atfork([] { making.lock(); }, [] { making.unlock(); },
                                            [] {
                                                current.store(nullptr);
                                                making.unlock();
                                            });

// Half way between the moment at which the event loop tells of a loss and the deadline: late enough
// to leave that to the loop, early enough for a thread to wake up.
long long due_at(duration::rep deadline, duration ttl) {
    return deadline - notice(ttl).count() / 2;
}

}  // namespace

guard& guard::instance() {
    if (auto* one = current.load(std::memory_order_acquire)) return *one;
    const std::lock_guard lock(making);
    if (auto* one = current.load(std::memory_order_acquire)) return *one;
    auto* one = new guard;  // lives as long as the process: its thread may run until the very end
    current.store(one, std::memory_order_release);
    return *one;
}

void guard::prepare() {
    (void)instance();
    loss_notifier::instance().prepare();
}

guard::guard() : planned_(never) {
    timer_ = ::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (timer_ < 0)
        throw exhausted("There is no timer for watching leases",
                        std::system_category().message(errno));
    try {
        start_thread("watching leases", [this] { run(); }).detach();
    } catch (...) {
        ::close(timer_);
        throw;
    }
}

void guard::watch(lease& one) noexcept {
    const auto deadline = due_at(one.deadline_.load(), one.what().claim.ttl);
    const std::lock_guard lock(mutex_);
    one.guarded_ = true;
    one.guard_next_ = first_;
    one.guard_previous_ = nullptr;
    if (first_ != nullptr) first_->guard_previous_ = &one;
    first_ = &one;
    if (deadline < planned_) plan(deadline);
}

void guard::forget(lease& one) noexcept {
    const std::lock_guard lock(mutex_);
    if (!one.guarded_) return;
    one.guarded_ = false;
    (one.guard_previous_ != nullptr ? one.guard_previous_->guard_next_ : first_) = one.guard_next_;
    if (one.guard_next_ != nullptr) one.guard_next_->guard_previous_ = one.guard_previous_;
}

// Under the mutex. The thread sleeps on: whoever waits for a lock to run should not have to share
// the processor with it.
void guard::plan(long long when) noexcept {
    planned_ = when;
    itimerspec at{};
    if (when != never) {
        at.it_value.tv_sec = when / 1'000'000'000;
        at.it_value.tv_nsec = when % 1'000'000'000;
    }
    ::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &at, nullptr);
}

void guard::run() {
    for (;;) {
        look();
        pollfd wait{timer_, POLLIN, 0};
        ::poll(&wait, 1, -1);
        std::uint64_t ticks = 0;
        [[maybe_unused]] const auto read = ::read(timer_, &ticks, sizeof ticks);
    }
}

// No lease can go away meanwhile, and none is kept alive: the last reference to one, and with it to
// its client, must not end on this thread.
void guard::look() noexcept {
    const std::lock_guard lock(mutex_);
    const auto now = boot_clock::now().time_since_epoch().count();
    auto earliest = never;
    for (auto* one = first_; one != nullptr; one = one->guard_next_) {
        const auto due = due_at(one->deadline_.load(), one->what().claim.ttl);
        const auto state = one->state_.load();
        if (state != lock_state::held && state != lock_state::at_risk) continue;
        if (due > now)
            earliest = std::min<long long>(earliest, due);
        else
            one->lose(one->ended_by_max_hold() ? loss_reason::max_hold : loss_reason::expired);
    }
    plan(earliest);
}

}  // namespace pawl::core
