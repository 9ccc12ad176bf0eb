#include "guard.hpp"

#include "lease.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <system_error>
#include <thread>
#include <vector>

namespace pawl::core {
namespace {

constexpr auto never = std::numeric_limits<long long>::max();

std::atomic<guard*> current{nullptr};

// The child has the list but not the thread; it starts again with neither.
const int watching_forks = ::pthread_atfork(nullptr, nullptr, [] { current.store(nullptr); });

std::mutex making;

}  // namespace

guard& guard::instance() {
    if (auto* one = current.load(std::memory_order_acquire)) return *one;
    const std::lock_guard lock(making);
    if (auto* one = current.load(std::memory_order_acquire)) return *one;
    auto* one = new guard;  // lives as long as the process: its thread may run until the very end
    current.store(one, std::memory_order_release);
    return *one;
}

guard::guard() : planned_(never) {
    timer_ = ::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (timer_ < 0) throw std::system_error(errno, std::system_category(), "watching leases");
    // The program's signals are for the program's threads.
    sigset_t all{};
    sigset_t before{};
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([this] { run(); }).detach();
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void guard::watch(lease& one) {
    const auto deadline = one.deadline_.load();
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
    std::vector<std::shared_ptr<lease>> late;
    for (;;) {
        {
            const std::lock_guard lock(mutex_);
            const auto now = boot_clock::now().time_since_epoch().count();
            auto earliest = never;
            for (auto* one = first_; one != nullptr; one = one->guard_next_) {
                const auto deadline = one->deadline_.load();
                const auto state = one->state_.load();
                if (state != lock_state::held && state != lock_state::at_risk) continue;
                if (deadline > now) {
                    earliest = std::min<long long>(earliest, deadline);
                } else if (auto alive = one->weak_from_this().lock()) {
                    late.push_back(std::move(alive));
                }
            }
            plan(earliest);
        }
        for (const auto& one : late)
            one->lose(one->ended_by_max_hold() ? loss_reason::max_hold : loss_reason::expired);
        late.clear();
        pollfd wait{timer_, POLLIN, 0};
        ::poll(&wait, 1, -1);
        std::uint64_t ticks = 0;
        [[maybe_unused]] const auto read = ::read(timer_, &ticks, sizeof ticks);
    }
}

}  // namespace pawl::core
