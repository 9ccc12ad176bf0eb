// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "client_process.hpp"

#include "holder.hpp"
#include "naive_counters.hpp"

#include <real/record/records.hpp>

#include <pawl/blocking.hpp>

#include <iostream>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

namespace real {

namespace {

using namespace std::chrono_literals;
using pawl::boot_clock;

// What the threads of a process share.
struct client_parts {
    const client_options& options;
    const real::journal& records;
    pawl::blocking::client& locks;
    naive_counters* counters;  // null: the tokens are Pawl's
};

// Works with the resource until `until`, the loss, or a refusal.
void use(holder<pawl::blocking::held_lock>& user, bool is_reader, pawl::time_point until,
         std::minstd_rand& dice) {
    const auto work = [&] { return std::uniform_int_distribution<int>(1, 6)(dice) * 1ms; };
    if (is_reader) {
        while (user.look() && boot_clock::now() < until)
            std::this_thread::sleep_for(work());  // the work
        return;
    }
    if (!user.begin()) return;
    while (user.step(work()))
        if (boot_clock::now() >= until) return void(user.believes());
}

void hold_once(const client_parts& parts, std::uint64_t hold, std::minstd_rand& dice,
               const std::stop_token& stop) {
    const auto& [options, records, locks, counters] = parts;
    const auto lock = dice() % options.locks;
    const bool is_long = options.has_long_holds && dice() % options.access.long_hold_interval == 0;
    const bool is_reader = options.access.has_readers && dice() % 3 == 0;
    const auto invoked = now();
    pawl::lock_options request{
        .ttl = dice() % 2 == 0 ? options.access.shortest_ttl : options.longest_ttl, .wait = 60s};
    if (is_reader) request.mode = pawl::lock_mode::shared;
    auto held = locks.acquire(lock_name(lock), request, stop);
    const auto token = counters ? counters->next(lock_name(lock))
                                : std::optional<std::uint64_t>(held.token().value());
    if (!token) return;  // too few servers have counted, so the holder leaves
    records.note("got", hold, lock, *token, invoked, now(), to_instant(held.safe_until()),
                 is_reader ? "reader" : "writer");
    {
        const std::stop_callback told(held.lost(), [&] { records.note("lost", hold, now()); });
        const auto length = is_long ? std::uniform_int_distribution<int>(200, 3000)(dice) * 1ms
                                    : std::uniform_int_distribution<int>(0, 8)(dice) * 1ms;
        holder user(records, hold, held, *token, resource_path(options.folder, lock),
                    options.checks_tokens);
        use(user, is_reader, boot_clock::now() + length, dice);
        records.note("leave", hold, now());
    }
    const auto result = held.release();
    records.note("end", hold, now(), to_string(result));
}

void contend(const client_parts& parts, std::size_t thread, const std::stop_token& stop) {
    const auto& [options, records, locks, counters] = parts;
    std::minstd_rand dice(std::random_device{}());
    for (std::uint64_t round = 0; !stop.stop_requested(); ++round) {
        const auto hold = (options.process << 40U) | (thread << 32U) | round;
        try {
            hold_once(parts, hold, dice, stop);
        } catch (const pawl::error& problem) {
            if (stop.stop_requested()) return;
            records.note("error", hold, now(), problem.what());
            std::this_thread::sleep_for(100ms);  // the back-off after an error
        }
    }
}

}  // namespace

std::string lock_name(std::size_t lock) { return "proof/" + std::to_string(lock); }

std::vector<std::string> client_words(const client_options& options) {
    std::vector<std::string> words{"client",
                                   options.access.url,
                                   options.folder,
                                   std::to_string(options.process),
                                   std::to_string(options.locks),
                                   options.checks_tokens ? "checks" : "ignores",
                                   std::to_string(options.longest_ttl.count()),
                                   std::to_string(options.threads),
                                   options.access.has_readers ? "readers" : "writers",
                                   options.has_long_holds ? "long" : "short",
                                   std::to_string(options.access.long_hold_interval),
                                   std::to_string(options.access.shortest_ttl.count())};
    words.insert(words.end(), options.access.counters.begin(), options.access.counters.end());
    return words;
}

std::optional<client_options> read_client_words(const std::vector<std::string>& words) {
    constexpr std::size_t first_counter = 12;
    if (words.size() < first_counter || words[0] != "client") return std::nullopt;
    return client_options{
        .access = {.url = words[1],
                   .counters = {words.begin() + first_counter, words.end()},
                   .has_readers = words[8] == "readers",
                   .long_hold_interval = static_cast<unsigned>(std::stoul(words[10])),
                   .shortest_ttl = std::chrono::milliseconds(std::stol(words[11]))},
        .folder = words[2],
        .process = std::stoul(words[3]),
        .locks = std::stoul(words[4]),
        .checks_tokens = words[5] == "checks",
        .longest_ttl = std::chrono::milliseconds(std::stol(words[6])),
        .threads = std::stoul(words[7]),
        .has_long_holds = words[9] == "long"};
}

int run_client(const client_options& options) {
    pawl::blocking::client locks(pawl::from_url(options.access.url));
    std::optional<naive_counters> counters;
    if (!options.access.counters.empty()) counters.emplace(options.access.counters);
    auto of_round = options;
    for (bool is_first = true;; is_first = false) {
        const journal records(journal_path(of_round.folder, options.process));
        std::string line;
        if (!is_first && !std::getline(std::cin, line)) return 0;
        const client_parts parts{.options = of_round,
                                 .records = records,
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

}  // namespace real
