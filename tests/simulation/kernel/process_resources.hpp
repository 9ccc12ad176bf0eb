// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The resources that a simulated program may run out of: memory, timers, descriptors. A replaced
// operator new counts the library's memory and refuses it while the program has none. Most of
// Asio's own allocations do not use operator new; their failures are tested step by step in
// tests/unit/short_of_memory_test.cpp. The few that do and must not fail are never refused.
#pragma once

#include "prng.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace pawl::simulation {

// The memory of one program. The account exists until its last block is freed.
class memory_account {
public:
    struct retire_account {
        void operator()(memory_account* account) const noexcept;
    };
    using ptr = std::unique_ptr<memory_account, retire_account>;
    [[nodiscard]] static ptr make(prng random);

    // The bytes that are allocated now.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    // The number of refused allocations.
    [[nodiscard]] std::uint64_t refusals() const noexcept { return refusals_; }
    // From now on, this share of the allocations fails.
    void refuse(double share) noexcept { refused_share_ = share; }

    // For operator new and delete.
    [[nodiscard]] bool should_refuse() noexcept;
    void add_block(std::size_t size) noexcept;
    void remove_block(std::size_t size) noexcept;

private:
    explicit memory_account(prng random) noexcept : random_(random) {}
    void destroy() noexcept;

    prng random_;
    double refused_share_ = 0;
    std::uint64_t refusals_ = 0;
    std::size_t bytes_ = 0;
    std::size_t blocks_ = 0;
    bool retired_ = false;
};

// Until this object goes out of scope, the thread's allocations belong to the account. Do not keep
// it over a co_await.
class allocation_scope {
public:
    explicit allocation_scope(memory_account* account) noexcept;
    ~allocation_scope();
    allocation_scope(const allocation_scope&) = delete;
    allocation_scope& operator=(const allocation_scope&) = delete;

private:
    memory_account* const previous_;
};

// The simulation's own allocations inside a program: they belong to no account and never fail.
class uncounted_allocations : allocation_scope {
public:
    uncounted_allocations() noexcept : allocation_scope(nullptr) {}
};

enum class resource : std::uint8_t {
    memory,       // every allocation fails
    some_memory,  // some allocations fail
    timers,
    descriptors
};
inline constexpr std::size_t resource_count = 4;
[[nodiscard]] std::string_view to_string(resource kind) noexcept;

// The resources of one program.
class process_resources {
public:
    explicit process_resources(prng random) : memory_(memory_account::make(random)) {}

    [[nodiscard]] memory_account& memory() const noexcept { return *memory_; }
    void run_out_of(resource kind) noexcept;
    void recover() noexcept;
    [[nodiscard]] bool has_ever_run_short() const noexcept { return has_ever_run_short_; }
    [[nodiscard]] bool has_descriptors() const noexcept { return descriptors_; }
    [[nodiscard]] bool has_timers() const noexcept { return timers_; }
    // Throws std::system_error, as the constructor of a timer does.
    void require_timers() const;

private:
    memory_account::ptr memory_;
    bool timers_ = true;
    bool descriptors_ = true;
    bool has_ever_run_short_ = false;
};

// Installs a terminate handler that reports the seed.
void report_terminations();
// The seed of the scenario that this thread runs.
void set_current_seed(std::uint64_t seed) noexcept;

}  // namespace pawl::simulation
