// What a simulated program may run out of: memory, timers, descriptors. Its memory is counted by a
// replaced operator new, which refuses what the library asks for while the program has none. Asio's
// own allocations do not pass there: where one of them fails is played step by step, in
// tests/unit/short_of_memory_test.cpp.
#pragma once

#include "prng.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace pawl::simulation {

// The memory of one program. Lives until its last block is freed.
class memory_account {
public:
    struct retire {
        void operator()(memory_account* account) const noexcept;
    };
    using ptr = std::unique_ptr<memory_account, retire>;
    [[nodiscard]] static ptr make(prng chance);

    // Bytes that are allocated now.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    // How many allocations were refused.
    [[nodiscard]] std::uint64_t refusals() const noexcept { return refusals_; }
    // From now on that share of the allocations fails.
    void refuse(double share) noexcept { refused_share_ = share; }

    // For operator new and delete.
    [[nodiscard]] bool refuses() noexcept;
    void took(std::size_t size) noexcept;
    void gave_back(std::size_t size) noexcept;

private:
    explicit memory_account(prng chance) noexcept : chance_(chance) {}
    void end() noexcept;

    prng chance_;
    double refused_share_ = 0;
    std::uint64_t refusals_ = 0;
    std::size_t bytes_ = 0;
    std::size_t blocks_ = 0;
    bool retired_ = false;
};

// Until it goes out of scope, what this thread allocates belongs to that account. Not to be kept
// over a co_await.
class allocating_for {
public:
    explicit allocating_for(memory_account* account) noexcept;
    ~allocating_for();
    allocating_for(const allocating_for&) = delete;
    allocating_for& operator=(const allocating_for&) = delete;

private:
    memory_account* const before_;
};

// The simulation's own work inside a program: it belongs to no account, and never fails.
class own_bookkeeping : allocating_for {
public:
    own_bookkeeping() noexcept : allocating_for(nullptr) {}
};

enum class resource : std::uint8_t {
    memory,       // all of it
    some_memory,  // one allocation of many
    timers,
    descriptors
};
inline constexpr std::size_t resource_kinds = 4;
[[nodiscard]] std::string_view to_string(resource which) noexcept;

// What one program has.
class resources {
public:
    explicit resources(prng chance) : memory_(memory_account::make(chance)) {}

    [[nodiscard]] memory_account& memory() const noexcept { return *memory_; }
    void run_out_of(resource which) noexcept;
    void recover() noexcept;
    [[nodiscard]] bool ever_short() const noexcept { return ever_short_; }
    [[nodiscard]] bool has_descriptors() const noexcept { return descriptors_; }
    [[nodiscard]] bool has_timers() const noexcept { return timers_; }
    // Throws std::system_error, as a timer that cannot be made does.
    void expect_timers() const;

private:
    memory_account::ptr memory_;
    bool timers_ = true;
    bool descriptors_ = true;
    bool ever_short_ = false;
};

// What the program's end, which nothing can catch, is told as.
void tell_of_deaths();
// The world that this thread is in.
void now_in_world(std::uint64_t seed) noexcept;

}  // namespace pawl::simulation
