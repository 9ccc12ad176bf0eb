#include "loop.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>

namespace pawl::blocking {

using namespace std::chrono_literals;

loop::loop() {
    // The program's signals are for the program's threads.
    sigset_t all{};
    sigset_t before{};
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { background(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// What the engine holds of the loop must go before the loop does.
loop::~loop() {
    stop();
    engine.reset();
}

void loop::stop() {
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(stopped_, true)) return;
        thread_woken_.notify_one();
    }
    context_.stop();
    if (thread_.joinable()) thread_.join();
}

bool loop::stopped() {
    const std::lock_guard lock(mutex_);
    return stopped_;
}

void loop::call::answered() {
    const std::lock_guard lock(home_.mutex_);
    done_ = true;
    if (drives_)
        home_.context_.stop();
    else
        woken_.notify_one();
}

void loop::call::wait() {
    std::unique_lock lock(home_.mutex_);
    ++home_.callers_;
    ++home_.calls_;
    if (home_.by_thread_) home_.context_.stop();  // makes the thread step aside
    while (!done_) {
        if (home_.driven_) {
            home_.waiting_.push_back(this);
            woken_.wait(lock);
            const auto here = std::find(home_.waiting_.begin(), home_.waiting_.end(), this);
            if (here != home_.waiting_.end()) home_.waiting_.erase(here);
            continue;
        }
        home_.driven_ = drives_ = true;
        lock.unlock();
        home_.context_.run();
        lock.lock();
        home_.context_.restart();
        home_.driven_ = drives_ = false;
    }
    --home_.callers_;
    home_.hand_on();
}

// Under the mutex: somebody else should drive now.
void loop::hand_on() {
    if (driven_) return;
    if (!waiting_.empty()) {
        waiting_.front()->woken_.notify_one();
    } else if (parked_ && callers_ == 0) {
        thread_woken_.notify_one();
    }
}

void loop::nudge() noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (driven_ || stopped_) return;
        driven_ = true;
    }
    context_.poll();
    const std::lock_guard lock(mutex_);
    driven_ = false;
    ++calls_;
    hand_on();
}

// Takes the loop when no caller has come for some milliseconds, so that a caller in a tight loop
// never has to fetch it back.
void loop::background() {
    std::unique_lock lock(mutex_);
    auto seen = calls_;
    while (!stopped_) {
        if (callers_ > 0 && calls_ == seen) {
            parked_ = true;
            thread_woken_.wait(lock, [this] { return stopped_ || callers_ == 0; });
            parked_ = false;
        }
        if (driven_ || callers_ > 0 || calls_ != seen) {
            seen = calls_;
            thread_woken_.wait_for(lock, 5ms);
            continue;
        }
        driven_ = by_thread_ = true;
        lock.unlock();
        context_.run();
        lock.lock();
        context_.restart();
        driven_ = by_thread_ = false;
        hand_on();
    }
}

}  // namespace pawl::blocking
