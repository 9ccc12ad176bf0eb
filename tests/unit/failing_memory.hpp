// Memory that ends when a test wants it to: of operator new, and of Asio, which asks aligned_alloc.
#pragma once

namespace failing_memory {

// Until it goes out of scope this thread gets none.
class none_for_this_thread {
public:
    none_for_this_thread() noexcept;
    ~none_for_this_thread();
    none_for_this_thread(const none_for_this_thread&) = delete;
    none_for_this_thread& operator=(const none_for_this_thread&) = delete;
};

// Of the allocations of all threads from now on, only the one with this number fails: 0 is the
// next.
void fail_once_at(long number) noexcept;
// From now on none fails. True: it has come to the one that did.
bool fail_no_more() noexcept;

}  // namespace failing_memory
