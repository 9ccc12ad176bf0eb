// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "scenario_names.hpp"

#include <redis/common/keys.hpp>
#include <redis/common/redisson_names.hpp>

using namespace std::chrono_literals;

namespace pawl::simulation {

std::vector<key_space> key_spaces_of(const plan& scenario_plan) {
    redis::options options;
    options.layout = scenario_plan.layout;
    options.reply_timeout = scenario_plan.reply_timeout;
    options.connect_timeout = 300ms;  // affects only the time limit of a latch's step
    if (scenario_plan.shares_keys) options.key = "{name}";
    std::vector<key_space> all;
    for (std::uint32_t database = 0; database < scenario_plan.database_count; ++database) {
        options.database = database;
        all.push_back({options, database == 0 ? "" : "/" + std::to_string(database)});
    }
    if (scenario_plan.has_other_namespace) {
        options.database = 0;
        options.name_space = "other";
        all.push_back({options, "@other"});
    }
    return all;
}

std::vector<std::string> names_of(const plan& scenario_plan) {
    constexpr std::array plain{"gate", "door", "yard", "attic"};
    std::vector<std::string> result(plain.begin(), plain.begin() + scenario_plan.name_count);
    if (scenario_plan.has_all_modes) result.emplace_back(read_write_name);
    const bool is_native = scenario_plan.layout == redis::key_layout::native;
    if (is_native ? scenario_plan.has_all_modes : scenario_plan.has_semaphore)
        result.emplace_back(semaphore_name);
    if (scenario_plan.has_plain_semaphore) result.emplace_back(plain_semaphore_name);
    if (scenario_plan.has_fair_lock) result.emplace_back(fair_name);
    return result;
}

lock_keys keys_in(const key_space& space, std::string_view name) {
    const auto& options = space.options;
    if (options.layout == redis::key_layout::native) {
        const auto keys =
            redis::key_scheme(options.name_space, options.key, options.database).keys_of(name);
        return {std::string(keys.lock()),    std::string(keys.fence()),
                std::string(keys.queue()),   std::string(keys.waiters()),
                std::string(keys.holders()), std::string(keys.details())};
    }
    const auto names = redis::redisson::naming("").names_of(name);
    return {names.lock,     names.counter,  names.queue,
            names.timeouts, names.presence, names.lent_permits};
}

}  // namespace pawl::simulation
