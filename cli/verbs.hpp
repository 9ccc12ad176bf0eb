// The verbs of the command. Each does its work, prints, and returns the exit status; failures are
// thrown.
#pragma once

#include "place.hpp"

#include <pawl/options.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace pawl::cli {

enum class loss_policy { kill, term, resume };

// That one `run` can hold.
inline constexpr std::size_t most_locks = 256;

struct run_options {
    place_options on;
    std::string name;
    std::vector<std::string> also;  // held with it, in the same mode: all or none
    std::vector<std::string> command;
    lock_mode mode = lock_mode::exclusive;
    bool fair = false;
    bool fenced = true;         // with tokens
    std::uint32_t permits = 1;  // with lock_mode::permits
    std::uint32_t of = 0;
    duration ttl{};
    duration wait{};
    duration max_hold{};
    duration min_hold{};
    loss_policy on_loss = loss_policy::kill;
    std::string label;  // what `pawl status` shows as the command
    bool verbose = false;
    bool quiet = false;  // says nothing of a lock that is not free
    int busy_exit = 75;  // the status when the lock was not free in time
};
// NAME and the others, as they were given.
[[nodiscard]] std::vector<std::string> names_of(const run_options& options);
int run(const run_options& options);
// Again and again, as long as it is only the lock that is lost.
int elect(const run_options& options);

struct status_options {
    place_options on;
    std::string name;
    bool json = false;
};
int status(const status_options& options);

struct list_options {
    place_options on;
    std::string prefix;
    bool json = false;
    bool names_only = false;
};
int list(const list_options& options);

struct watch_options {
    place_options on;
    std::string prefix;
    duration interval{};
    bool json = false;
};
int watch(const watch_options& options);

struct release_options {
    place_options on;
    std::string name;
    bool yes = false;
    bool json = false;
};
int release(const release_options& options);

struct resize_options {
    place_options on;
    std::string name;
    std::uint32_t permits = 0;
    bool create = false;  // also a semaphore that nobody has used
    bool json = false;
};
int resize(const resize_options& options);

struct doctor_options {
    place_options on;
    bool json = false;
};
int doctor(const doctor_options& options);

struct bench_options {
    place_options on;
    std::string name;
    duration lasting{};  // of each of the two measurements
    bool json = false;
};
int bench(const bench_options& options);

// `shell` is bash, zsh or fish.
int completion(const std::string& shell);

}  // namespace pawl::cli
