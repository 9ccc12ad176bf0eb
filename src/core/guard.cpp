#include "guard.hpp"

#include "lease.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
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
    wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (timer_ < 0 || wake_ < 0)
        throw std::system_error(errno, std::system_category(), "watching leases");
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
    if (deadline < planned_) {
        planned_ = deadline;
        wake();
    }
}

void guard::forget(lease& one) noexcept {
    const std::lock_guard lock(mutex_);
    if (!one.guarded_) return;
    one.guarded_ = false;
    (one.guard_previous_ != nullptr ? one.guard_previous_->guard_next_ : first_) = one.guard_next_;
    if (one.guard_next_ != nullptr) one.guard_next_->guard_previous_ = one.guard_previous_;
}

void guard::wake() const noexcept {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
}

void guard::run() {
    std::vector<std::shared_ptr<lease>> late;
    for (;;) {
        {
            const std::lock_guard lock(mutex_);
            const auto now = boot_clock::now().time_since_epoch().count();
            planned_ = never;
            for (auto* one = first_; one != nullptr; one = one->guard_next_) {
                const auto deadline = one->deadline_.load();
                const auto state = one->state_.load();
                if (state != lock_state::held && state != lock_state::at_risk) continue;
                if (deadline > now) {
                    planned_ = std::min<long long>(planned_, deadline);
                } else if (auto alive = one->weak_from_this().lock()) {
                    late.push_back(std::move(alive));
                }
            }
            itimerspec when{};
            if (planned_ != never) {
                when.it_value.tv_sec = planned_ / 1'000'000'000;
                when.it_value.tv_nsec = planned_ % 1'000'000'000;
            }
            ::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr);
        }
        for (const auto& one : late)
            one->lose(one->ended_by_max_hold() ? loss_reason::max_hold : loss_reason::expired);
        late.clear();
        std::array<pollfd, 2> wait{{{timer_, POLLIN, 0}, {wake_, POLLIN, 0}}};
        ::poll(wait.data(), wait.size(), -1);
        std::uint64_t ticks = 0;
        [[maybe_unused]] const auto first = ::read(timer_, &ticks, sizeof ticks);
        [[maybe_unused]] const auto second = ::read(wake_, &ticks, sizeof ticks);
    }
}

}  // namespace pawl::core
