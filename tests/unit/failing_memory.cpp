#include "failing_memory.hpp"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

thread_local bool none = false;

constexpr long never = std::numeric_limits<long>::max() / 2;
std::atomic<long> left = never;

bool fails() noexcept { return none || left.fetch_sub(1, std::memory_order_relaxed) == 0; }

void* allocate(std::size_t size) {
    if (fails()) throw std::bad_alloc();
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    try {
        return allocate(size);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    void* memory = nullptr;
    if (fails() || ::posix_memalign(&memory, alignment, size) != 0) return nullptr;
    return memory;
}

namespace failing_memory {

none_for_this_thread::none_for_this_thread() noexcept { none = true; }
none_for_this_thread::~none_for_this_thread() { none = false; }

void fail_once_at(long number) noexcept { left = number; }
bool fail_no_more() noexcept { return left.exchange(never) < 0; }

}  // namespace failing_memory
