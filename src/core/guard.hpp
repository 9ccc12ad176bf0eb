// The thread that tells of a loss when the event loop that should have is stuck.
#pragma once

#include <memory>
#include <mutex>

namespace pawl::core {

class lease;

// One for the process, never destroyed; a fork gets a new one. Thread-safe.
class guard {
public:
    static guard& instance();
    // Starts all threads that a loss needs, before a lock is asked for. Throws errc::exhausted.
    static void prepare();

    void watch(lease& one) noexcept;
    void forget(lease& one) noexcept;

private:
    guard();
    void run();
    void look() noexcept;
    void plan(long long when) noexcept;

    std::mutex mutex_;
    lease* first_ = nullptr;
    long long planned_ = 0;  // ns of the boot clock; when the thread looks next
    int timer_ = -1;
};

}  // namespace pawl::core
