// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_messages.hpp"

#include "../ui/duration.hpp"

namespace pawl::cli {

namespace {

std::string subject(const run_options& options, std::string_view lock_name) {
    if (options.also.empty() || lock_name.empty()) return describe_locks(options);
    const auto all = std::to_string(options.also.size() + 1);
    return "'" + std::string(lock_name) + "', one of the " + all + " locks";
}

}  // namespace

std::vector<std::string> names_of(const run_options& options) {
    std::vector<std::string> names{options.name};
    names.insert(names.end(), options.also.begin(), options.also.end());
    return names;
}

std::string describe_locks(const run_options& options) {
    const auto others = options.also.size();
    const std::string more =
        others == 0 ? "" : " and " + std::to_string(others) + (others == 1 ? " other" : " others");
    return "'" + options.name + "'" + more;
}

bool is_before_deadline(loss_reason reason) {
    return reason == loss_reason::forced || reason == loss_reason::taken_over ||
           reason == loss_reason::failed_over || reason == loss_reason::missing;
}

std::string loss_message(const run_options& options, loss_reason reason, std::string_view lock_name,
                         std::string_view outcome) {
    const std::string lost = "Lost " + subject(options, lock_name);
    const std::string then = "; " + std::string(outcome) + ".";
    switch (reason) {
    case loss_reason::max_hold:
        return "The " + format_exact(options.max_hold) + " of --max-hold are over for " +
               describe_locks(options) + then;
    case loss_reason::forced: return lost + ": it was released by force" + then;
    case loss_reason::taken_over:
        return lost + ": another owner holds it, or it was deleted" + then;
    case loss_reason::missing: return lost + ": it has expired or was deleted" + then;
    case loss_reason::failed_over:
        return lost + ": the new master did not know it after a failover" + then;
    case loss_reason::none:
    case loss_reason::client_closed: return lost + ": the lock process has ended" + then;
    case loss_reason::expired:
    case loss_reason::forked: break;
    }
    return lost + ": no renewal was confirmed in time" + then;
}

}  // namespace pawl::cli
