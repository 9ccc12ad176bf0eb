#include "loop.hpp"

#include "engine.hpp"
#include "quiet_thread.hpp"

#include <algorithm>
#include <chrono>

namespace pawl::blocking {

// How long the thread leaves the loop to callers.
constexpr duration patience = std::chrono::milliseconds(5);

loop::loop()
    : thread_(core::start_thread("the event loop of a client", [this] { background(); })) {}

// What the engine holds of the loop must go before the loop does.
loop::~loop() {
    stop();
    engine.reset();
}

void loop::serve(std::shared_ptr<core::engine> served) {
    engine = std::move(served);
    served_ = engine.get();
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
            home_.waiting_.splice(home_.waiting_.end(), in_line_);
            woken_.wait(lock);
            in_line_.splice(in_line_.end(), home_.waiting_,
                            std::find(home_.waiting_.begin(), home_.waiting_.end(), this));
            continue;
        }
        home_.driven_ = drives_ = true;
        lock.unlock();
        home_.drive();
        lock.lock();
        home_.context_.restart();
        home_.driven_ = drives_ = false;
    }
    --home_.callers_;
    home_.hand_on();
}

// What leaves a handler, such as a lack of memory inside Asio, ends that handler and no other:
// whatever depended on it is answered, or begun anew, by its own end.
void loop::drive() noexcept {
    for (;;) {
        try {
            context_.run();
            return;
        } catch (...) {
            survived();
        }
    }
}

void loop::survived() noexcept {
    const auto* served = served_.load();
    if (served != nullptr) engine->survived(std::current_exception());
}

// Under the mutex: somebody else should drive now.
void loop::hand_on() {
    if (driven_) return;
    if (!waiting_.empty()) {
        waiting_.front()->woken_.notify_one();
    } else if (callers_ == 0 && (parked_ || renewal_is_near())) {
        thread_woken_.notify_one();
    }
}

// So near that it must not wait for the thread to see that no caller comes.
bool loop::renewal_is_near() const noexcept {
    const auto* served = served_.load();
    return served != nullptr && served->next_due() <= served->time().now() + 2 * patience;
}

void loop::nudge() noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (driven_ || stopped_) return;
        driven_ = true;
    }
    try {
        context_.poll();
    } catch (...) {
        survived();
    }
    const std::lock_guard lock(mutex_);
    driven_ = false;
    ++calls_;
    hand_on();
}

// Takes the loop when no caller has come for some milliseconds, so that a caller in a tight loop
// never has to fetch it back; or earlier, when a lease has to be renewed.
void loop::background() {
    std::unique_lock lock(mutex_);
    auto seen = calls_;
    while (!stopped_) {
        if (callers_ > 0 && calls_ == seen) {
            parked_ = true;
            thread_woken_.wait(lock, [this] { return stopped_ || callers_ == 0; });
            parked_ = false;
        }
        if (driven_ || callers_ > 0 || (calls_ != seen && !renewal_is_near())) {
            seen = calls_;
            thread_woken_.wait_for(lock, patience);
            continue;
        }
        driven_ = by_thread_ = true;
        lock.unlock();
        drive();
        lock.lock();
        context_.restart();
        driven_ = by_thread_ = false;
        hand_on();
    }
}

}  // namespace pawl::blocking
