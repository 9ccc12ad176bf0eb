// What happens in the world of one seed: who lives there, and which troubles come when. Each seed
// switches on a random few of them ("swarm testing", Groce et al., ISSTA 2012): a world in which
// everything goes wrong at once hides more than it shows.
#pragma once

#include "shortage.hpp"
#include "simulated_network.hpp"

#include <redis/limits.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::simulation {

enum class trouble : std::uint8_t {
    cut_off,         // a program's messages wait, as TCP's do
    break_all,       // its connections break
    freeze,          // the server stands still
    restart,         // and comes back with its data,
    restart_old,     // with those of a while ago,
    restart_empty,   // or with none
    flush,           // FLUSHALL
    forget_scripts,  // SCRIPT FLUSH
    evict,           // one of a lock's keys is gone
    clock_forward,   // the server's clock is set
    clock_backward,
    pause,          // SIGSTOP of a program, and SIGCONT
    crash,          // SIGKILL
    force,          // an operator releases by force
    foreign,        // another library takes the lock, and frees it
    data_back,      // a stale copy replaces the server's data, and every connection stays
    out_of_memory,  // the server refuses what may need more
    refuse          // the server is there and refuses every script: see refusals.hpp
};
inline constexpr std::size_t trouble_kinds = 18;
[[nodiscard]] std::string_view to_string(trouble what) noexcept;

struct disturbance {
    instant at{};
    trouble what{};
    instant lasts{};
    std::size_t which = 0;  // program, key or name: the world takes it modulo their number
};

// A program runs out of something.
struct scarcity {
    instant at{};
    resource of{};
    instant lasts{};
    std::size_t which = 0;  // program
};

// What a program's users do, as chances and ranges.
struct habits {
    double tries = 0.2;     // asks once
    double limited = 0.3;   // waits for a while only
    double cancels = 0.1;   // gives up at a random moment
    double drops = 0.2;     // lets the handle go instead of releasing
    double clings = 0.1;    // holds on until it is lost, or for very long
    double max_hold = 0.1;  // limits the total hold
    double unfenced = 0.0;  // asks for no token
    double fair = 0.0;      // insists on the order of arrival
    double reads = 0.0;     // where readers and writers meet
    double permits = 0.0;   // where holders of permits meet others
    double downgrades = 0.0;
    double sets = 0.0;    // of the users: take several names at once
    double owners = 0.0;  // of those: ask through an owner of their own
    double sets_read = 0.0;
    double blocks = 0.0;    // their callbacks of a loss block, for up to
    instant blocks_most{};  // so long
    double shortage = 0.0;  // a grant meets a program that has run out of something
    instant idle_most{};    // between two locks
    instant hold_most{};
    duration ttl_least{}, ttl_most{};
};

struct plan {
    std::uint64_t seed = 0;
    network_faults net;
    std::vector<disturbance> troubles;
    std::vector<scarcity> shortages;
    habits users;
    std::size_t programs = 1;
    std::size_t users_each = 1;
    std::size_t names = 1;
    instant horizon{};
    duration reply_timeout{};
    bool mixed = false;        // also names that are not always held alone
    bool shared_key = false;   // on the wire with other libraries
    redis::limits bounds;      // of every client
    double clocks_differ = 0;  // how much faster or slower a program's clock may be

    // Nothing happens to messages or the server: whoever is alive is served at once.
    bool calm_network = false;
    bool memory_runs_out = false;
    bool steps = false;     // each program also has a user of latches,
    bool waits = false;     // and those who wait for them and meet at barriers,
    bool redisson = false;  // also at Redisson's latches
    // Programs live in turn in each: databases, and one more namespace.
    std::size_t databases = 1;
    bool other_namespace = false;
    // What the server knows of a step may be gone before its time.
    bool forgets_steps = false;
    // A clock was set back and the counter may be lost: tokens may then go back
    // (docs/guarantees.md).
    bool tokens_may_go_back = false;
};

// A name of readers and writers, and one of permits.
inline constexpr std::string_view room = "room", pool = "pool";
inline constexpr std::uint32_t pool_permits = 3;
// A latch, and a barrier with its parties.
inline constexpr std::string_view steps = "steps", turns = "turns";
inline constexpr std::uint32_t turn_parties = 2;

[[nodiscard]] plan make_plan(std::uint64_t seed, planted bug);

}  // namespace pawl::simulation
