// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "run_parts.hpp"

#include <real/record/records.hpp>

#include <support/eventually.hpp>
#include <support/temp_folder.hpp>

#include <filesystem>

namespace real {

using namespace std::chrono_literals;

// Both layouts keep all of a lock in the slot of its name.
environment_options options_of(const environment_entry& entry, std::size_t clients) {
    environment_options options{.longest_ttl = entry.longest_ttl, .clients = clients};
    for (std::size_t i = 0; i < lock_count; ++i)
        options.keys.push_back("{" + lock_name(i) + "}");
    return options;
}

const fault& fault_order::next(pace& pace) {
    if (left_.empty())
        for (std::size_t i = 0; i < all_.size(); ++i)
            left_.push_back(i);
    const auto position = left_.begin() + static_cast<std::ptrdiff_t>(pace.pick(left_.size()));
    const auto index = *position;
    left_.erase(position);
    return all_[index];
}

void inject(const fault& next, environment& servers, pace& pace) {
    try {
        next.run(pace);
    } catch (const interrupted&) {
        throw;
    } catch (const std::runtime_error& problem) {
        throw std::runtime_error("in the fault '" + next.name + "': " + problem.what() + "\n" +
                                 servers.logs());
    }
}

std::vector<std::string> expect_free_locks(const environment& servers,
                                           const client_options& client) {
    std::vector<std::string> problems;
    const support::temp_folder folder;
    auto options = client;
    options.folder = options.outputs = folder.path().string();
    options.checks_tokens = false;
    client_group last(servers, options, {.processes = 1});
    for (std::size_t i = 0; i < client.locks; ++i)
        if (!support::eventually(
                [&] { return std::filesystem::exists(resource_path(options.folder, i)); }, 90s))
            problems.push_back("Nobody gets the lock " + lock_name(i) + " after the last fault.");
    if (const auto problem = last.finish(); !problem.empty()) problems.push_back(problem);
    return problems;
}

}  // namespace real
