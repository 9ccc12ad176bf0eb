// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "process.hpp"

#include "journal.hpp"

#include <pawl/blocking.hpp>
#include <pawl/striped.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace storm {

namespace {

using namespace std::chrono_literals;
using pawl::boot_clock;
using pawl::lock_state;

support::instant to_instant(pawl::time_point when) { return when.time_since_epoch().count(); }

// Two files and the name of this thread.
struct participant {
    const journal& journal_file;
    const resource& guarded_resource;
    std::string name;
};

// Records that this participant believes in the lock, or in all locks of a batch, and when; false
// without belief.
template <class Lock>
bool note_belief(const Lock& lock, const participant& participant_of_thread,
                 const std::string& key) {
    const auto at = boot_clock::now();
    const auto until = lock.safe_until();
    if (lock.state() == lock_state::lost || at >= until) return false;
    participant_of_thread.journal_file.write("at " + key + " " + std::to_string(to_instant(at)) +
                                             " " + std::to_string(to_instant(until)));
    return true;
}

// Checks, works, writes. However long it took from the check to the write, the resource may refuse
// only a participant that has lost the lock: a belief after a refusal would overlap with another's,
// which the checker reports.
template <class Lock>
bool work_once(const Lock& lock, pawl::fencing_token token,
               const participant& participant_of_thread, const std::string& key) {
    if (!note_belief(lock, participant_of_thread, key)) return false;
    std::this_thread::sleep_for(1ms);  // work
    if (participant_of_thread.guarded_resource.accept_token(token.value())) return true;
    participant_of_thread.journal_file.write("refused " + key);
    return note_belief(lock, participant_of_thread, key);
}

void hold_once(pawl::blocking::client& locks, const participant& participant_of_thread,
               const std::string& key, int steps) {
    const auto invoked = to_instant(boot_clock::now());
    auto lock = locks.acquire("it", {.ttl = 1s, .wait = 60s});
    const auto deadline = to_instant(lock.safe_until());
    participant_of_thread.journal_file.write(
        "got " + key + " " + to_string(lock.token()) + " " + std::to_string(invoked) + " " +
        std::to_string(to_instant(boot_clock::now())) + " " + std::to_string(deadline));
    bool is_valid = true;
    for (int i = 0; i < steps && is_valid; ++i)
        is_valid = work_once(lock, lock.token(), participant_of_thread, key);
    is_valid = is_valid && note_belief(lock, participant_of_thread, key);
    participant_of_thread.journal_file.write("leave " + key);
    const auto result = lock.release();
    if (!is_valid || result != pawl::release_result::released)
        participant_of_thread.journal_file.write("late " + key);
}

void contend(pawl::blocking::client& locks, const participant& participant_of_thread,
             const std::stop_token& stop) {
    std::minstd_rand dice(std::random_device{}());
    for (int round = 0; !stop.stop_requested(); ++round) {
        try {
            hold_once(locks, participant_of_thread,
                      participant_of_thread.name + "." + std::to_string(round),
                      std::uniform_int_distribution<int>(1, 6)(dice));
        } catch (const pawl::error& thrown) {
            std::cerr << thrown.what() << "\n";
        }
    }
}

void note_grant(const participant& participant_of_thread, const std::string& key,
                pawl::fencing_token token, support::instant invoked, support::instant deadline) {
    participant_of_thread.journal_file.write(
        "got " + key + " " + to_string(token) + " " + std::to_string(invoked) + " " +
        std::to_string(to_instant(boot_clock::now())) + " " + std::to_string(deadline));
}

// The files of one stripe.
struct stripe_files {
    stripe_files(const process_options& options, std::size_t index)
        : journal_file(folder_of_stripe(options.folder, index) + "/" + options.name + ".journal"),
          guarded_resource(folder_of_stripe(options.folder, index)) {}
    journal journal_file;
    resource guarded_resource;
};

// The stripes of two random keys at once, all or none.
void hold_stripes(pawl::blocking::client& locks, std::vector<std::unique_ptr<stripe_files>>& files,
                  const std::string& holder_key, std::minstd_rand& dice) {
    const pawl::striped parts("part", stripes);
    const std::vector<std::string> keys{std::to_string(dice() % 16), std::to_string(dice() % 16)};
    const auto names = parts.names_for(keys);
    const auto invoked = to_instant(boot_clock::now());
    auto all = locks.acquire_all(names, {.ttl = 1s, .wait = 60s});
    const auto deadline = to_instant(all.safe_until());
    std::vector<std::pair<participant, pawl::fencing_token>> held;
    for (std::size_t i = 0; i < stripes; ++i) {
        const auto name = parts.name_of(i);
        if (std::find(names.begin(), names.end(), name) == names.end()) continue;
        held.push_back(
            {{files[i]->journal_file, files[i]->guarded_resource, holder_key}, all.token(name)});
        note_grant(held.back().first, holder_key, all.token(name), invoked, deadline);
    }
    bool ours = true;
    for (int step = 0; step < 3; ++step)
        for (const auto& [stripe, token] : held)
            ours = ours && work_once(all, token, stripe, holder_key);
    for (const auto& [stripe, token] : held) {
        ours = ours && note_belief(all, stripe, holder_key);
        stripe.journal_file.write("leave " + holder_key);
    }
    const auto released = all.release();
    for (const auto& [stripe, token] : held)
        if (!ours || released != pawl::release_result::released)
            stripe.journal_file.write("late " + holder_key);
}

// Adopts the hold of the process before; if that is over, acquires anew. The value is written down
// before it is used, so the next process knows it wherever this one is killed.
pawl::blocking::held_lock adopt_or_acquire(pawl::blocking::client& locks, const std::string& path,
                                           const std::string& fresh) {
    std::string value;
    std::getline(std::ifstream(path), value);
    if (!value.empty()) {
        if (auto lock = locks.adopt("it", value, {.ttl = 1s})) return lock;
    }
    std::ofstream(path) << fresh << std::flush;
    return locks.acquire_as("it", fresh, {.ttl = 1s, .wait = 60s});
}

}  // namespace

std::string folder_of_stripe(const std::string& folder, std::size_t index) {
    return folder + "/" + std::to_string(index);
}

int run_stripes(const process_options& options) {
    pawl::blocking::client locks(pawl::from_url(options.url));
    std::vector<std::unique_ptr<stripe_files>> files;
    for (std::size_t i = 0; i < stripes; ++i)
        files.push_back(std::make_unique<stripe_files>(options, i));
    std::vector<std::jthread> contenders;
    for (int i = 0; i < options.threads; ++i)
        contenders.emplace_back([&, i](const std::stop_token& stop) {
            std::minstd_rand dice(std::random_device{}());
            for (int round = 0; !stop.stop_requested(); ++round) {
                try {
                    hold_stripes(locks, files, std::to_string(i) + "." + std::to_string(round),
                                 dice);
                } catch (const pawl::error& problem) {
                    std::cerr << problem.what() << "\n";
                }
            }
        });
    std::cin.ignore(1);
    return 0;
}

int run_adopter(const process_options& options) {
    const journal journal_file(options.folder + "/" + options.name + ".journal");
    const resource guarded_resource(options.folder);
    pawl::blocking::client locks(pawl::from_url(options.url));
    const participant participant_of_thread{journal_file, guarded_resource, options.name};
    // Participants with a value of their own compete with the chain.
    const bool in_chain = options.name.starts_with("chain");
    std::random_device generator;
    for (int round = 0;; ++round) {
        const std::string key = std::to_string(round);
        const std::string fresh = options.name + "-" + key + "-" + std::to_string(generator());
        const auto invoked = to_instant(boot_clock::now());
        try {
            auto lock = in_chain ? adopt_or_acquire(locks, options.folder + "/value", fresh)
                                 : locks.acquire_as("it", fresh, {.ttl = 1s, .wait = 60s});
            note_grant(participant_of_thread, key, lock.token(), invoked,
                       to_instant(lock.safe_until()));
            bool ours = true;
            // A chain continues until it is killed.
            for (int step = 0; ours && (in_chain || step < 20); ++step)
                ours = work_once(lock, lock.token(), participant_of_thread, key);
            participant_of_thread.journal_file.write("leave " + key);
            (void)lock.release();
        } catch (const pawl::error& problem) {
            std::cerr << problem.what() << "\n";
        }
    }
}

int run_process(const process_options& options) {
    const journal journal_file(options.folder + "/" + options.name + ".journal");
    const resource guarded_resource(options.folder);
    pawl::blocking::client locks(pawl::from_url(options.url));
    std::vector<std::jthread> contenders;
    for (int i = 0; i < options.threads; ++i)
        contenders.emplace_back([&, i](const std::stop_token& stop) {
            contend(locks, {journal_file, guarded_resource, std::to_string(i)}, stop);
        });
    std::cin.ignore(1);
    return 0;
}

int acquire_each(const std::string& url, int count) {
    pawl::blocking::client locks(pawl::from_url(url));
    std::vector<pawl::blocking::held_lock> locks_held(static_cast<std::size_t>(count));
    std::vector<std::jthread> contenders;
    for (int i = 0; i < count; ++i)
        contenders.emplace_back([&, i](const std::stop_token& stop) {
            try {
                locks_held[static_cast<std::size_t>(i)] =
                    locks.acquire("lock" + std::to_string(i), {}, stop);
            } catch (const pawl::error& thrown) {
                if (!stop.stop_requested()) std::cerr << thrown.what() << "\n";
            }
        });
    std::cin.ignore(1);
    return 0;
}

}  // namespace storm
