// The threads that run the callbacks of lost locks. Nothing else depends on them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <list>
#include <mutex>
#include <stop_token>

namespace pawl::core {

// One for the process, never destroyed; a fork gets a new one. Thread-safe.
//
// A thread that is about to run callbacks first sees to it that another one is ready for the next
// loss, so a callback that blocks delays no other lock's signal. Every blocked callback costs a
// thread. When the system has no more threads, the next signals wait until a callback returns, or
// until a thread can be started: that is tried again at every loss.
class loss_notifier {
public:
    static loss_notifier& instance();

    // Starts the threads that the first losses need. Throws errc::exhausted.
    void prepare();
    // Stops the sources soon, each with its callbacks. Never waits for a callback.
    void notify(std::list<std::stop_source> lost) noexcept;

private:
    // Kept ready: callbacks of one lock may block even where no further thread can be started.
    static constexpr std::size_t spare_threads = 2;

    void run() noexcept;
    void add_thread();
    bool try_add_thread() noexcept;

    std::mutex mutex_;
    std::condition_variable due_came_;
    std::list<std::stop_source> due_;
    std::size_t idle_ = 0;  // threads that wait for a loss, or that are being started
};

}  // namespace pawl::core
