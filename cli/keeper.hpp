// `pawl run` is two processes. The *front* is the one that the shell knows: it has one thread, the
// terminal and the command. The *keeper* has the lock, and with it the library and its threads.
// Each watches over the other:
// - The front dies (kill -9): the keeper kills the command, and gives the lock back if it can know
//   that nothing of it is left; else the lease runs out.
// - The keeper dies or is frozen: the front stops the command before the last deadline that it
// knows of.
// - The front is stopped (Ctrl-Z): the keeper goes on renewing, so a suspended job keeps its lock.
#pragma once

#include "inherited_children.hpp"
#include "verbs.hpp"

#include <pawl/error.hpp>
#include <pawl/types.hpp>

#include <sys/types.h>
#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace pawl::cli {

// As others see the keeper's process.
inline constexpr const char* keeper_name = "lock-keeper";
// The variable in the command's environment by which its processes can be found.
inline constexpr const char* run_name = "PAWL_RUN";

// In memory that both processes have mapped.
struct shared_state {
    std::atomic<std::int64_t> safe_until{0};  // CLOCK_BOOTTIME, ns; the keeper writes it
    // The front writes these.
    std::atomic<bool> may_live{false};   // something of the command may, and must not run on
    std::atomic<pid_t> group{0};         // of the command
    std::atomic<bool> in_cgroup{false};  // all that it ever starts is in `cgroup`
    std::array<char, 1024> cgroup{};     // its folder; written before `may_live`
    std::array<char, 20> run{};          // names the run; written before the keeper begins
    // Of NAME and the others, as they were given; the keeper writes them before it tells `granted`.
    std::array<std::uint64_t, most_locks> tokens{};
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free &&
              std::atomic<pid_t>::is_always_lock_free);

// What the keeper tells, one packet each.
struct report {
    enum class kind : std::uint8_t {
        granted,  // shared_state::safe_until and the tokens are set
        failed,   // `reason` and `text`: the lock was not to be had; the keeper ends
        lost,     // `why`, and which one in `text`
        released  // `found`; the keeper ends
    };
    kind what = kind::failed;
    loss_reason why = loss_reason::none;
    release_result found = release_result::unknown;
    bool reached = false;  // failed, but the service has been there
    errc reason = errc::unreachable;
    std::array<char, 1024> text{};
};
static_assert(std::is_trivially_copyable_v<report>);

// What the front asks for, one byte each.
enum class order : std::uint8_t { cancel, give_back };

// How long a claim lasts without a renewal.
[[nodiscard]] duration lease_of(const run_options& options);

// How long before the deadline the command is told to stop, and killed.
struct margins {
    duration term{};
    duration kill{};
};
[[nodiscard]] margins margins_for(const run_options& options);

// The keeper's whole life: takes the lock, keeps it, gives it back. Returns the process's exit
// status.
[[nodiscard]] int keep(const run_options& options, const service& where, shared_state& shared,
                       const inherited_children& inherited, int channel);

}  // namespace pawl::cli
