#include "shortage.hpp"

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

namespace pawl::simulation {
namespace {

constinit thread_local memory_account* current = nullptr;
constinit thread_local std::uint64_t present_seed = 0;

// Asio copies a strand, erases a handler's executor, and asks either for its properties, within
// destructors and `noexcept` functions of its own, where a failure would end any process: blocks of
// these sizes are never refused.
struct own_sizes {
    std::atomic<std::size_t> strand = 0;
    std::atomic<std::size_t> erased_executor = 0;
};
own_sizes asios_own;
constexpr std::size_t property_size = sizeof(std::int64_t);

bool is_asios_own(std::size_t size) noexcept {
    constexpr auto relaxed = std::memory_order_relaxed;
    return size <= property_size || size == asios_own.strand.load(relaxed) ||
           size == asios_own.erased_executor.load(relaxed);
}

// Before every block.
struct alignas(std::max_align_t) block_head {
    memory_account* account;
    std::size_t size;
};

void* allocate(std::size_t size) noexcept {
    auto* const account = current;
    if (account != nullptr && !is_asios_own(size) && account->refuses()) return nullptr;
    auto* const memory = std::malloc(sizeof(block_head) + size);
    if (memory == nullptr) return nullptr;
    auto* const head = new (memory) block_head{account, size};
    if (account != nullptr) account->took(size);
    return head + 1;
}

void* allocate_or_throw(std::size_t size) {
    auto* const memory = allocate(size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

void give_back(void* memory) noexcept {
    if (memory == nullptr) return;
    auto* const head = static_cast<block_head*>(memory) - 1;
    if (head->account != nullptr) head->account->gave_back(head->size);
    std::free(head);
}

template <class Make>
std::size_t size_made_by(Make make) {
    const auto probe = memory_account::make(prng(1));
    const allocating_for counted(probe.get());
    const auto made = make();
    return probe->bytes();
}

bool measure_asios_own() {
    namespace asio = boost::asio;
    const asio::any_io_executor inner = asio::system_executor();
    const asio::any_io_executor strand = asio::make_strand(inner);
    asios_own.strand = size_made_by(
        [&] { return asio::prefer(strand, asio::execution::outstanding_work.tracked); });
    asios_own.erased_executor =
        size_made_by([&] { return asio::any_completion_executor(std::nothrow, strand); });
    return true;
}

[[noreturn]] void died() {
    std::printf("seed %llu: I15: the program dies, for want of memory where nothing may fail\n",
                static_cast<unsigned long long>(present_seed));
    std::fflush(stdout);
    std::_Exit(1);
}

}  // namespace

memory_account::ptr memory_account::make(prng chance) {
    auto* const memory = std::malloc(sizeof(memory_account));
    if (memory == nullptr) throw std::bad_alloc();
    return ptr(new (memory) memory_account(chance));
}

void memory_account::retire::operator()(memory_account* account) const noexcept {
    account->retired_ = true;
    if (account->blocks_ == 0) account->end();
}

void memory_account::end() noexcept {
    this->~memory_account();
    std::free(this);
}

bool memory_account::refuses() noexcept {
    if (refused_share_ <= 0 || !chance_.chance(refused_share_)) return false;
    ++refusals_;
    return true;
}

void memory_account::took(std::size_t size) noexcept {
    bytes_ += size;
    ++blocks_;
}

void memory_account::gave_back(std::size_t size) noexcept {
    bytes_ -= size;
    if (--blocks_ == 0 && retired_) end();
}

allocating_for::allocating_for(memory_account* account) noexcept : before_(current) {
    current = account;
}

allocating_for::~allocating_for() { current = before_; }

std::string_view to_string(resource which) noexcept {
    constexpr std::array<std::string_view, resource_kinds> names{"memory", "some memory", "timers",
                                                                 "descriptors"};
    return names[static_cast<std::size_t>(which)];
}

void resources::run_out_of(resource which) noexcept {
    [[maybe_unused]] static const bool measured = measure_asios_own();
    ever_short_ = true;
    switch (which) {
    case resource::memory: return memory_->refuse(1);
    case resource::some_memory: return memory_->refuse(0.03);
    case resource::timers: timers_ = false; return;
    case resource::descriptors: descriptors_ = false; return;
    }
}

void resources::recover() noexcept {
    memory_->refuse(0);
    timers_ = descriptors_ = true;
}

void resources::expect_timers() const {
    if (!timers_) throw std::system_error(EMFILE, std::system_category(), "timerfd_create");
}

void tell_of_deaths() { std::set_terminate(died); }

void now_in_world(std::uint64_t seed) noexcept { present_seed = seed; }

}  // namespace pawl::simulation

void* operator new(std::size_t size) { return pawl::simulation::allocate_or_throw(size); }
void* operator new[](std::size_t size) { return pawl::simulation::allocate_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return pawl::simulation::allocate(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return pawl::simulation::allocate(size);
}
void operator delete(void* memory) noexcept { pawl::simulation::give_back(memory); }
void operator delete[](void* memory) noexcept { pawl::simulation::give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { pawl::simulation::give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { pawl::simulation::give_back(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept {
    pawl::simulation::give_back(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
    pawl::simulation::give_back(memory);
}
