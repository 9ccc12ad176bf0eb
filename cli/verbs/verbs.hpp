// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The verbs of the command. Each does its work, prints, and returns the exit status. Failures are
// thrown.
#pragma once

#include "../config/service_location.hpp"

#include <pawl/options.hpp>
#include <pawl/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pawl::cli {

enum class loss_policy { kill, term, resume };

// The maximum for one `run`.
inline constexpr std::size_t max_locks = 256;

struct run_options {
    location_options location;
    std::string name;
    std::vector<std::string> also;  // held together with `name`, in the same mode: all or none
    std::vector<std::string> command;
    lock_mode mode = lock_mode::exclusive;
    bool fair = false;
    bool fenced = true;         // with fencing tokens
    std::uint32_t permits = 1;  // for lock_mode::permits
    std::uint32_t total_permits = 0;
    durability durable{};
    duration ttl{};
    duration wait{};
    duration max_hold{};
    duration min_hold{};
    loss_policy on_loss = loss_policy::kill;
    std::string label;  // the command that `pawl status` shows
    bool verbose = false;
    bool quiet = false;                    // prints nothing about a lock that is not free
    int busy_exit = 75;                    // the exit status if the lock was not free in time
    std::vector<std::string> variables{};  // more of the command's environment: NAME=value
};
// `name` and the others, in the order of the command line.
[[nodiscard]] std::vector<std::string> names_of(const run_options& options);
int run(const run_options& options);
// As `run`, but after each loss of the lock it waits for the lock again and runs the command again.
int elect(const run_options& options);

struct status_options {
    location_options location;
    std::string name;
    bool json = false;
};
int status(const status_options& options);

struct list_options {
    location_options location;
    std::string prefix;
    bool json = false;
    bool names_only = false;
};
int list(const list_options& options);

struct watch_options {
    location_options location;
    std::string prefix;
    duration interval{};
    bool json = false;
};
int watch(const watch_options& options);

struct release_options {
    location_options location;
    std::string name;
    std::optional<fencing_token> token{};  // only from the holder with this token
    bool yes = false;
    bool json = false;
};
int release(const release_options& options);

struct resize_options {
    location_options location;
    std::string name;
    std::uint32_t permits = 0;
    bool create = false;  // creates a semaphore that does not exist
    bool json = false;
};
int resize(const resize_options& options);

struct doctor_options {
    location_options location;
    bool json = false;
};
int doctor(const doctor_options& options);

struct acl_options {
    location_options location;
    std::string features;  // separated by commas; empty: all
    bool cluster_node = false;
    bool json = false;
};
// Contacts no server.
int acl(const acl_options& options);

struct schema_options {
    location_options location;
    std::string role;    // of the program that locks; empty: without a role of its own
    bool guard = false;  // the tables of pawl::guard, and not those of locks
};
// Contacts no server.
int schema(const schema_options& options);

struct redlock_options {
    location_options location;
    std::string operation;  // status, init or rejoin
    bool force = false;     // `init` also of nodes that are members
    bool yes = false;
    bool json = false;
};
int redlock_set(const redlock_options& options);

struct cron_options {
    location_options location;
    std::string file;      // the schedules
    bool check = false;    // only reads the file
    bool history = false;  // only prints the records
    bool schema = false;   // only prints the SQL of the table
    std::string name;      // of the schedule whose history is printed; empty: of all
    std::uint32_t last = 50;
    bool json = false;
    bool verbose = false;
};
int cron(const cron_options& options);

struct reconcile_options {
    location_options location;
    bool history = false;
    std::string name;  // of the reconciliation; empty: all
    std::uint32_t last = 50;
    bool json = false;
};
int reconcile(const reconcile_options& options);

struct once_records_options {
    location_options location;
    std::string operation;  // unfinished, failed or purge
    duration older_than{};  // of unfinished ones: how long their lease has been over at least
    std::uint32_t last = 50;
    bool json = false;
};
int once_records(const once_records_options& options);

struct bench_options {
    location_options location;
    std::string name;
    duration lasting{};  // of each of the two measurements
    bool json = false;
};
int bench(const bench_options& options);

// `shell` is bash, zsh or fish.
int completion(const std::string& shell);

}  // namespace pawl::cli
