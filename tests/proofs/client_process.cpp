// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "client_process.hpp"

#include "instant.hpp"
#include "resource.hpp"

#include <pawl/blocking.hpp>

#include <support/journal.hpp>

#include <iostream>
#include <random>
#include <sstream>
#include <stop_token>
#include <thread>
#include <vector>

namespace proofs {

namespace {

using namespace std::chrono_literals;
using pawl::boot_clock;

// "VERB FIELD FIELD …", as `read_records` expects it.
template <class... Fields>
void note(const support::journal& journal, const char* verb, const Fields&... fields) {
    std::ostringstream line;
    line << verb;
    ((line << ' ' << fields), ...);
    journal.write(line.str());
}

class holder {
public:
    holder(const client_options& options, const support::journal& journal, std::uint64_t hold,
           std::size_t lock, const pawl::blocking::held_lock& held)
        : journal_(journal),
          hold_(hold),
          held_(held),
          resource_(resource_path(options.folder, lock), options.checks_tokens) {}

    // Reads, then works and writes until `until`, the loss, or a refusal.
    void work(pawl::time_point until, std::minstd_rand& dice) {
        if (!believes()) return;
        auto value = resource_.read(hold_, held_.token().value());
        if (!value) return note(journal_, "refused", hold_, now());
        do {
            if (!believes()) return;
            // The work.
            std::this_thread::sleep_for(std::uniform_int_distribution<int>(1, 6)(dice) * 1ms);
            // Without another check, as a program that is paused here.
            if (!resource_.write(hold_, held_.token().value(), *value + 1))
                return note(journal_, "refused", hold_, now());
            ++*value;
        } while (boot_clock::now() < until);
        (void)believes();
    }

private:
    // Records the belief at this moment; false without one.
    bool believes() {
        const auto at = boot_clock::now();
        const bool owns = held_.owns_lock();
        const auto deadline = held_.safe_until();
        if (!owns) return false;
        note(journal_, "at", hold_, at.time_since_epoch().count(),
             deadline.time_since_epoch().count());
        return true;
    }

    const support::journal& journal_;
    std::uint64_t hold_;
    const pawl::blocking::held_lock& held_;
    resource resource_;
};

void hold_once(pawl::blocking::client& locks, const client_options& options,
               const support::journal& journal, std::uint64_t hold, std::minstd_rand& dice,
               const std::stop_token& stop) {
    const auto lock = dice() % options.locks;
    const bool is_long = dice() % 40 == 0;
    const auto invoked = now();
    auto held = locks.acquire(lock_name(lock),
                              {.ttl = dice() % 2 == 0 ? 1s : longest_ttl, .wait = 60s}, stop);
    note(journal, "got", hold, lock, held.token(), invoked, now(),
         held.safe_until().time_since_epoch().count());
    {
        const std::stop_callback told(held.lost(), [&] { note(journal, "lost", hold, now()); });
        const auto length = is_long ? std::uniform_int_distribution<int>(200, 3000)(dice) * 1ms
                                    : std::uniform_int_distribution<int>(0, 8)(dice) * 1ms;
        holder(options, journal, hold, lock, held).work(boot_clock::now() + length, dice);
        note(journal, "leave", hold, now());
    }
    const auto result = held.release();
    note(journal, "end", hold, now(), to_string(result));
}

void contend(pawl::blocking::client& locks, const client_options& options,
             const support::journal& journal, std::size_t thread, const std::stop_token& stop) {
    std::minstd_rand dice(std::random_device{}());
    for (std::uint64_t round = 0; !stop.stop_requested(); ++round) {
        const auto hold = (options.process << 40U) | (thread << 32U) | round;
        try {
            hold_once(locks, options, journal, hold, dice, stop);
        } catch (const pawl::error& problem) {
            if (stop.stop_requested()) return;
            note(journal, "error", hold, now(), problem.what());
            std::this_thread::sleep_for(100ms);  // the back-off after an error
        }
    }
}

}  // namespace

std::string lock_name(std::size_t lock) { return "proof/" + std::to_string(lock); }

std::string resource_path(const std::string& folder, std::size_t lock) {
    return folder + "/resource-" + std::to_string(lock);
}

std::string journal_path(const std::string& folder, std::size_t process) {
    return folder + "/" + std::to_string(process) + ".journal";
}

int run_client(const client_options& options) {
    const support::journal journal(journal_path(options.folder, options.process));
    pawl::blocking::client locks(pawl::from_url(options.url));
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < options.threads; ++i)
        threads.emplace_back(
            [&, i](const std::stop_token& stop) { contend(locks, options, journal, i, stop); });
    std::cin.ignore(1);
    return 0;
}

}  // namespace proofs
