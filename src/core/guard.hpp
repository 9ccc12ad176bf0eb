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

    void watch(lease& one);
    void forget(lease& one) noexcept;

private:
    guard();
    void run();
    void plan(long long when) noexcept;

    std::mutex mutex_;
    lease* first_ = nullptr;
    long long planned_ = 0;  // ns of the boot clock; when the thread looks next
    int timer_ = -1;
};

}  // namespace pawl::core
