// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "client_process.hpp"

#include "instant.hpp"
#include "naive_counters.hpp"
#include "resource.hpp"

#include <pawl/blocking.hpp>

#include <support/journal.hpp>

#include <iostream>
#include <optional>
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
           std::size_t lock, const pawl::blocking::held_lock& held, std::uint64_t token)
        : journal_(journal),
          hold_(hold),
          held_(held),
          token_(token),
          resource_(resource_path(options.folder, lock), options.checks_tokens) {}

    // Reads, then works and writes until `until`, the loss, or a refusal.
    void work(pawl::time_point until, std::minstd_rand& dice) {
        if (!believes()) return;
        auto value = resource_.read(hold_, token_);
        if (!value) return note(journal_, "refused", hold_, now());
        do {
            if (!believes()) return;
            // The work.
            std::this_thread::sleep_for(std::uniform_int_distribution<int>(1, 6)(dice) * 1ms);
            // Without another check, as a program that is paused here.
            if (!resource_.write(hold_, token_, *value + 1))
                return note(journal_, "refused", hold_, now());
            ++*value;
        } while (boot_clock::now() < until);
        (void)believes();
    }

    // Looks at the value again and again, for as long.
    void look(pawl::time_point until, std::minstd_rand& dice) {
        while (believes()) {
            if (!resource_.look(hold_, token_)) return note(journal_, "refused", hold_, now());
            if (boot_clock::now() >= until) return;
            // The work.
            std::this_thread::sleep_for(std::uniform_int_distribution<int>(1, 6)(dice) * 1ms);
        }
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
    const std::uint64_t token_;
    resource resource_;
};

// What the threads of a process share.
struct client_parts {
    const client_options& options;
    const support::journal& journal;
    pawl::blocking::client& locks;
    naive_counters* counters;  // null: the tokens are Pawl's
};

void hold_once(const client_parts& parts, std::uint64_t hold, std::minstd_rand& dice,
               const std::stop_token& stop) {
    const auto& [options, journal, locks, counters] = parts;
    const auto lock = dice() % options.locks;
    const bool is_long = dice() % 40 == 0;
    const bool is_reader = options.access.has_readers && dice() % 3 == 0;
    const auto invoked = now();
    pawl::lock_options request{.ttl = dice() % 2 == 0 ? 1s : options.longest_ttl, .wait = 60s};
    if (is_reader) request.mode = pawl::lock_mode::shared;
    auto held = locks.acquire(lock_name(lock), request, stop);
    const auto token = counters ? counters->next(lock_name(lock))
                                : std::optional<std::uint64_t>(held.token().value());
    if (!token) return;  // too few servers have counted, so the holder leaves
    note(journal, "got", hold, lock, *token, invoked, now(),
         held.safe_until().time_since_epoch().count(), is_reader ? "reader" : "writer");
    {
        const std::stop_callback told(held.lost(), [&] { note(journal, "lost", hold, now()); });
        const auto length = is_long ? std::uniform_int_distribution<int>(200, 3000)(dice) * 1ms
                                    : std::uniform_int_distribution<int>(0, 8)(dice) * 1ms;
        holder user(options, journal, hold, lock, held, *token);
        if (is_reader)
            user.look(boot_clock::now() + length, dice);
        else
            user.work(boot_clock::now() + length, dice);
        note(journal, "leave", hold, now());
    }
    const auto result = held.release();
    note(journal, "end", hold, now(), to_string(result));
}

void contend(const client_parts& parts, std::size_t thread, const std::stop_token& stop) {
    const auto& [options, journal, locks, counters] = parts;
    std::minstd_rand dice(std::random_device{}());
    for (std::uint64_t round = 0; !stop.stop_requested(); ++round) {
        const auto hold = (options.process << 40U) | (thread << 32U) | round;
        try {
            hold_once(parts, hold, dice, stop);
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

std::vector<std::string> client_words(const client_options& options) {
    std::vector<std::string> words{"client",
                                   options.access.url,
                                   options.folder,
                                   std::to_string(options.process),
                                   std::to_string(options.locks),
                                   options.checks_tokens ? "checks" : "ignores",
                                   std::to_string(options.longest_ttl.count()),
                                   std::to_string(options.threads),
                                   options.access.has_readers ? "readers" : "writers"};
    words.insert(words.end(), options.access.counters.begin(), options.access.counters.end());
    return words;
}

std::optional<client_options> read_client_words(const std::vector<std::string>& words) {
    constexpr std::size_t first_counter = 9;
    if (words.size() < first_counter || words[0] != "client") return std::nullopt;
    return client_options{.access = {.url = words[1],
                                     .counters = {words.begin() + first_counter, words.end()},
                                     .has_readers = words[8] == "readers"},
                          .folder = words[2],
                          .process = std::stoul(words[3]),
                          .locks = std::stoul(words[4]),
                          .checks_tokens = words[5] == "checks",
                          .longest_ttl = std::chrono::milliseconds(std::stol(words[6])),
                          .threads = std::stoul(words[7])};
}

int run_client(const client_options& options) {
    pawl::blocking::client locks(pawl::from_url(options.access.url));
    std::optional<naive_counters> counters;
    if (!options.access.counters.empty()) counters.emplace(options.access.counters);
    auto of_round = options;
    for (bool is_first = true;; is_first = false) {
        const support::journal journal(journal_path(of_round.folder, options.process));
        std::string line;
        if (!is_first && !std::getline(std::cin, line)) return 0;
        const client_parts parts{.options = of_round,
                                 .journal = journal,
                                 .locks = locks,
                                 .counters = counters ? &*counters : nullptr};
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < options.threads; ++i)
            threads.emplace_back([&, i](const std::stop_token& stop) { contend(parts, i, stop); });
        if (!std::getline(std::cin, line)) return 0;
        for (auto& each : threads)
            each.request_stop();
        threads.clear();
        of_round.folder = line;
    }
}

}  // namespace proofs
