// The vocabulary of Pawl: time, tokens, states and what tools may ask about a lock.
// Standard headers only. Everything here is a plain value.
#pragma once

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "Pawl needs C++20: compile with -std=c++20"
#endif

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace pawl {

using duration = std::chrono::nanoseconds;

// CLOCK_BOOTTIME: never jumps, and goes on while the machine is suspended, as the server's clock
// does.
struct boot_clock {
    using duration = pawl::duration;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<boot_clock>;
    static constexpr bool is_steady = true;
    static time_point now() noexcept;
};
using time_point = boot_clock::time_point;

// Larger = later. Give it to the resource with every write and let the resource refuse a smaller
// one. It may exceed 2^53: hand it to JSON, Lua or JavaScript as a decimal string.
class fencing_token {
public:
    constexpr fencing_token() noexcept = default;
    constexpr explicit fencing_token(std::uint64_t value) noexcept : value_(value) {}

    [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }
    // False for a hold that was asked for without a token.
    constexpr explicit operator bool() const noexcept { return value_ != 0; }
    constexpr auto operator<=>(const fencing_token&) const noexcept = default;

private:
    std::uint64_t value_ = 0;
};

[[nodiscard]] std::string to_string(fencing_token token);
std::ostream& operator<<(std::ostream& out, fencing_token token);

// exclusive: one holder, and nobody else. shared: any number of readers, no writer beside them.
// permits: as many holders as the permits of a semaphore allow. Who holds a name in one mode keeps
// out who asks for it in another.
enum class lock_mode : std::uint8_t { exclusive, shared, permits };
[[nodiscard]] const char* to_string(lock_mode mode) noexcept;

// held: renewed in time. at_risk: two thirds of the lease have gone by without a renewal.
// lost: it is, or may be, somebody else's; for ever. released: given back by the caller.
enum class lock_state : std::uint8_t { held, at_risk, lost, released };
[[nodiscard]] const char* to_string(lock_state state) noexcept;

enum class loss_reason : std::uint8_t {
    none,
    expired,        // no renewal was confirmed before the lease could have run out
    taken_over,     // the service says that it is no longer ours
    forced,         // an operator released it by force
    max_hold,       // the total time that the caller allowed is over
    client_closed,  // the client was destroyed before the handle
    forked          // this process is a fork of the holder and holds nothing
};
[[nodiscard]] const char* to_string(loss_reason reason) noexcept;

// What a release found. Only `released` proves that the lock was ours until then. `still_held`:
// other handles of the same lock_owner keep it.
enum class release_result : std::uint8_t { released, expired, taken_over, unknown, still_held };
[[nodiscard]] const char* to_string(release_result result) noexcept;

// Who holds a lock, for people and tools; never to decide anything.
struct holder {
    std::string host;  // empty for a holder that is not Pawl
    std::int64_t pid = 0;
    std::string command;
    std::chrono::system_clock::time_point since{};
    duration remaining{};  // of the lease, as the service sees it; `forever` where it has no end
    fencing_token token;
    std::string owner;  // a short prefix: enough to compare, too little to release with
    // How often the holder has entered, where the service counts it: Redisson's hold count.
    std::uint64_t count = 1;
    lock_mode mode = lock_mode::exclusive;
    std::uint32_t permits = 0;  // that it has; 0 in the other modes
};

struct lock_info {
    std::string name;
    std::optional<holder> held_by;
    std::uint64_t waiters = 0;
    // Who holds it too: the other readers, or holders of permits; in no promised order.
    std::vector<holder> others{};
    std::uint32_t permits = 0;  // of the semaphore, all in all; 0 where nobody has said
    // How many can be had now, where that is known: beside an exclusive hold or readers none.
    // Redisson's Semaphore knows nothing else: neither how many there are nor who has them.
    std::optional<std::uint32_t> free_permits{};
};

// What one client has done since it was made; every number only grows.
struct statistics {
    std::uint64_t requests = 0;     // sent to the service, repeated ones too; not greetings
    std::uint64_t pushes = 0;       // what the service told without being asked
    std::uint64_t connections = 0;  // made and greeted; 0 for a service without any
    std::uint64_t grants = 0;       // locks that the client was given
    std::uint64_t hand_offs = 0;    // of these, given to it while it stood in line
    std::uint64_t renewals = 0;     // of the requests, those that renewed; each up to 256 locks
    std::uint64_t losses = 0;       // locks that ended before they were given back
};

// One finding of `examine`, and of `pawl doctor`.
struct finding {
    enum class grade : std::uint8_t { good, note, warning, bad };
    grade how = grade::good;
    std::string topic;   // "eviction policy"
    std::string fact;    // "volatile-lru"
    std::string advice;  // what to change; empty when all is well
};

// One row of the guarantee table: what holds when the named thing happens.
struct guarantee_row {
    std::string backend, holder_crash, holder_pause, server_crash, failover, partition, clock_jump,
        token;
};

struct examination {
    std::vector<finding> findings;
    guarantee_row guarantees;
};

}  // namespace pawl
