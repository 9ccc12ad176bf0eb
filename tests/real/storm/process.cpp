// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "process.hpp"

#include <real/clients/holder.hpp>
#include <real/record/records.hpp>

#include <pawl/blocking.hpp>
#include <pawl/striped.hpp>
#include <pawl/types.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace real::storm {

namespace {

using namespace std::chrono_literals;
using pawl::boot_clock;

constexpr std::size_t threads_of_stripes = 8;

struct process_options {
    std::string url;
    std::string folder;  // for the journal and the resources
    std::uint64_t process = 0;
};

// No two holds of a test have the same number.
std::uint64_t number_of(const process_options& options, std::size_t thread, std::uint64_t round) {
    return (options.process << 40U) | (thread << 32U) | round;
}

void note_grant(const journal& records, std::uint64_t hold, std::size_t lock,
                pawl::fencing_token token, instant invoked, pawl::time_point deadline) {
    records.note("got", hold, lock, token.value(), invoked, now(), to_instant(deadline), "writer");
}

// The stripes of two random keys at once, all or none.
void hold_stripes(pawl::blocking::client& locks, const journal& records,
                  const process_options& options, std::uint64_t first_hold,
                  std::minstd_rand& dice) {
    const pawl::striped parts("part", stripes);
    const std::vector<std::string> keys{std::to_string(dice() % 16), std::to_string(dice() % 16)};
    const auto names = parts.names_for(keys);
    const auto invoked = now();
    auto all = locks.acquire_all(names, {.ttl = 1s, .wait = 60s});
    std::vector<std::uint64_t> holds;
    std::vector<std::unique_ptr<holder<pawl::blocking::held_locks>>> users;
    for (std::size_t i = 0; i < stripes; ++i) {
        const auto name = parts.name_of(i);
        if (std::find(names.begin(), names.end(), name) == names.end()) continue;
        const auto hold = first_hold + i;
        const auto token = all.token(name);
        note_grant(records, hold, i, token, invoked, all.safe_until());
        users.push_back(std::make_unique<holder<pawl::blocking::held_locks>>(
            records, hold, all, token.value(), resource_path(options.folder, i)));
        holds.push_back(hold);
    }
    bool ours = std::ranges::all_of(users, [](const auto& each) { return each->begin(); });
    for (int step = 0; step < 3; ++step)
        for (const auto& each : users)
            ours = ours && each->step(1ms);
    for (std::size_t i = 0; i < users.size(); ++i) {
        ours = ours && users[i]->believes();
        records.note("leave", holds[i], now());
    }
    const auto released = all.release();
    for (const auto hold : holds)
        records.note("end", hold, now(), to_string(released));
}

int run_stripes(const process_options& options) {
    const journal records(journal_path(options.folder, options.process));
    pawl::blocking::client locks(pawl::from_url(options.url));
    std::vector<std::jthread> contenders;
    for (std::size_t i = 0; i < threads_of_stripes; ++i)
        contenders.emplace_back([&, i](const std::stop_token& stop) {
            std::minstd_rand dice(std::random_device{}());
            for (std::uint64_t round = 0; !stop.stop_requested(); ++round) {
                const auto hold = number_of(options, i, round * stripes);
                try {
                    hold_stripes(locks, records, options, hold, dice);
                } catch (const pawl::error& problem) {
                    records.note("error", hold, now(), problem.what());
                }
            }
        });
    std::cin.ignore(1);
    return 0;
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

// One hold. A chain continues until it is killed.
void hold_by_value(pawl::blocking::client& locks, const journal& records,
                   const process_options& options, std::uint64_t hold, bool in_chain) {
    const auto fresh = std::to_string(hold) + "-" + std::to_string(std::random_device{}());
    const auto invoked = now();
    auto lock = in_chain ? adopt_or_acquire(locks, options.folder + "/value", fresh)
                         : locks.acquire_as("it", fresh, {.ttl = 1s, .wait = 60s});
    note_grant(records, hold, 0, lock.token(), invoked, lock.safe_until());
    holder user(records, hold, lock, lock.token().value(), resource_path(options.folder, 0));
    bool ours = user.begin();
    for (int step = 0; ours && (in_chain || step < 20); ++step)
        ours = user.step(1ms);
    records.note("leave", hold, now());
    records.note("end", hold, now(), to_string(lock.release()));
}

int run_adopter(const process_options& options, bool in_chain) {
    const journal records(journal_path(options.folder, options.process));
    pawl::blocking::client locks(pawl::from_url(options.url));
    for (std::uint64_t round = 0;; ++round) {
        const auto hold = number_of(options, 0, round);
        try {
            hold_by_value(locks, records, options, hold, in_chain);
        } catch (const pawl::error& problem) {
            records.note("error", hold, now(), problem.what());
        }
    }
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

// Of the lock "x", which was requested alone, first or second.
const char* token_of_x() {
    const char* first = std::getenv("PAWL_NAME");
    const bool is_first = first != nullptr && std::string_view(first) == "x";
    return std::getenv(is_first ? "PAWL_TOKEN" : "PAWL_ALSO_1_TOKEN");
}

int run_worker(const std::string& folder) {
    const char* token = token_of_x();
    if (token == nullptr || ::signal(SIGTERM, SIG_IGN) == SIG_ERR) return 1;
    const std::string path = folder + "/work-" + token;
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    std::minstd_rand dice(std::random_device{}());
    const auto until = boot_clock::now() + std::uniform_int_distribution<int>(50, 900)(dice) * 1ms;
    std::array<std::int64_t, 2> times{now(), 0};
    while (boot_clock::now() < until) {
        times[1] = now();
        if (::pwrite(file, times.data(), sizeof times, 0) != sizeof times) return 1;
        ::poll(nullptr, 0, 1);  // the pace
    }
    return 0;
}

}  // namespace

int run_helper(const std::vector<std::string>& words) {
    if (words.size() == 2 && words[0] == "work") return run_worker(words[1]);
    if (words.size() == 3 && words[0] == "refused")
        return acquire_each(words[1], std::stoi(words[2]));
    if (words.size() < 4) return 2;
    const process_options options{
        .url = words[1], .folder = words[2], .process = std::stoul(words[3])};
    if (words[0] == "stripes") return run_stripes(options);
    if (words[0] == "adopt" && words.size() == 5) return run_adopter(options, words[4] == "chain");
    return 2;
}

std::vector<work_record> read_work(const std::string& folder) {
    std::vector<work_record> all;
    for (const auto& each : std::filesystem::directory_iterator(folder)) {
        const auto name = each.path().filename().string();
        if (!name.starts_with("work-")) continue;
        std::array<std::int64_t, 2> times{};
        std::ifstream file(each.path(), std::ios::binary);
        if (file.read(reinterpret_cast<char*>(times.data()), sizeof times))
            all.push_back({std::stoull(name.substr(5)), times[0], times[1]});
    }
    std::sort(all.begin(), all.end(),
              [](const work_record& a, const work_record& b) { return a.token < b.token; });
    return all;
}

}  // namespace real::storm
