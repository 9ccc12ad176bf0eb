// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "process_resources.hpp"

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

constinit thread_local memory_account* current_account = nullptr;
constinit thread_local std::uint64_t current_seed = 0;

// Asio copies a strand, erases a handler's executor and queries properties of both within its own
// destructors and `noexcept` functions. A failure there would end any process, so blocks of these
// sizes are never refused.
struct asio_block_sizes {
    std::atomic<std::size_t> strand = 0;
    std::atomic<std::size_t> erased_executor = 0;
};
asio_block_sizes asio_sizes;
constexpr std::size_t property_block_size = sizeof(std::int64_t);

bool is_asio_block(std::size_t size) noexcept {
    constexpr auto relaxed = std::memory_order_relaxed;
    return size <= property_block_size || size == asio_sizes.strand.load(relaxed) ||
           size == asio_sizes.erased_executor.load(relaxed);
}

// Precedes every block.
struct alignas(std::max_align_t) block_header {
    memory_account* account;
    std::size_t size;
};

void* allocate(std::size_t size) noexcept {
    auto* const account = current_account;
    if (account != nullptr && !is_asio_block(size) && account->should_refuse()) return nullptr;
    auto* const memory = std::malloc(sizeof(block_header) + size);
    if (memory == nullptr) return nullptr;
    auto* const head = new (memory) block_header{account, size};
    if (account != nullptr) account->add_block(size);
    return head + 1;
}

void* allocate_or_throw(std::size_t size) {
    auto* const memory = allocate(size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

void deallocate(void* memory) noexcept {
    if (memory == nullptr) return;
    auto* const head = static_cast<block_header*>(memory) - 1;
    if (head->account != nullptr) head->account->remove_block(head->size);
    std::free(head);
}

template <class Make>
std::size_t measure_allocation(Make make) {
    const auto probe = memory_account::make(prng(1));
    const allocation_scope scope(probe.get());
    const auto allocated = make();
    return probe->bytes();
}

bool measure_asio_blocks() {
    namespace asio = boost::asio;
    const asio::any_io_executor inner = asio::system_executor();
    const asio::any_io_executor strand = asio::make_strand(inner);
    asio_sizes.strand = measure_allocation(
        [&] { return asio::prefer(strand, asio::execution::outstanding_work.tracked); });
    asio_sizes.erased_executor =
        measure_allocation([&] { return asio::any_completion_executor(std::nothrow, strand); });
    return true;
}

[[noreturn]] void report_termination() {
    std::printf("seed %llu: I15: the program ends in a place where nothing may fail\n",
                static_cast<unsigned long long>(current_seed));
    std::fflush(stdout);
    std::_Exit(1);
}

}  // namespace

memory_account::ptr memory_account::make(prng random) {
    auto* const memory = std::malloc(sizeof(memory_account));
    if (memory == nullptr) throw std::bad_alloc();
    return ptr(new (memory) memory_account(random));
}

void memory_account::retire_account::operator()(memory_account* account) const noexcept {
    account->retired_ = true;
    if (account->blocks_ == 0) account->destroy();
}

void memory_account::destroy() noexcept {
    this->~memory_account();
    std::free(this);
}

bool memory_account::should_refuse() noexcept {
    if (refused_share_ <= 0 || !random_.happens(refused_share_)) return false;
    ++refusals_;
    return true;
}

void memory_account::add_block(std::size_t size) noexcept {
    bytes_ += size;
    ++blocks_;
}

void memory_account::remove_block(std::size_t size) noexcept {
    bytes_ -= size;
    if (--blocks_ == 0 && retired_) destroy();
}

allocation_scope::allocation_scope(memory_account* account) noexcept : previous_(current_account) {
    current_account = account;
}

allocation_scope::~allocation_scope() { current_account = previous_; }

std::string_view to_string(resource kind) noexcept {
    constexpr std::array<std::string_view, resource_count> names{"memory", "some memory", "timers",
                                                                 "descriptors"};
    return names[static_cast<std::size_t>(kind)];
}

void process_resources::run_out_of(resource kind) noexcept {
    [[maybe_unused]] static const bool measured = measure_asio_blocks();
    has_ever_run_short_ = true;
    switch (kind) {
    case resource::memory: return memory_->refuse(1);
    case resource::some_memory: return memory_->refuse(0.03);
    case resource::timers: timers_ = false; return;
    case resource::descriptors: descriptors_ = false; return;
    }
}

void process_resources::recover() noexcept {
    memory_->refuse(0);
    timers_ = descriptors_ = true;
}

void process_resources::require_timers() const {
    if (!timers_) throw std::system_error(EMFILE, std::system_category(), "timerfd_create");
}

void report_terminations() { std::set_terminate(report_termination); }

void set_current_seed(std::uint64_t seed) noexcept { current_seed = seed; }

}  // namespace pawl::simulation

void* operator new(std::size_t size) { return pawl::simulation::allocate_or_throw(size); }
void* operator new[](std::size_t size) { return pawl::simulation::allocate_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return pawl::simulation::allocate(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return pawl::simulation::allocate(size);
}
void operator delete(void* memory) noexcept { pawl::simulation::deallocate(memory); }
void operator delete[](void* memory) noexcept { pawl::simulation::deallocate(memory); }
void operator delete(void* memory, std::size_t) noexcept { pawl::simulation::deallocate(memory); }
void operator delete[](void* memory, std::size_t) noexcept { pawl::simulation::deallocate(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept {
    pawl::simulation::deallocate(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
    pawl::simulation::deallocate(memory);
}
