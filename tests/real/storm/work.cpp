// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "work.hpp"

#include <pawl/types.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace real::storm {

namespace {

using pawl::boot_clock;

// Of the lock "x", which was requested alone, first or second.
const char* token_of_x() {
    const char* first = std::getenv("PAWL_NAME");
    const bool is_first = first != nullptr && std::string_view(first) == "x";
    return std::getenv(is_first ? "PAWL_TOKEN" : "PAWL_ALSO_1_TOKEN");
}

std::int64_t now() { return boot_clock::now().time_since_epoch().count(); }

}  // namespace

int run_worker(const std::string& folder) {
    using namespace std::chrono_literals;
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
