// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "commit_settings.hpp"

#include "replies.hpp"

#include <charconv>

namespace pawl::postgres {

const char* durability_query() noexcept {
    return "select current_setting('fsync'), current_setting('synchronous_commit'), "
           "current_setting('synchronous_standby_names')";
}

commit_settings read_commit_settings(const std::vector<sql::row>& rows, const error_place& place) {
    if (rows.size() != 1 || rows.front().size() != 3) throw strange_reply(place);
    const auto& row = rows.front();
    return {.has_fsync = row[0] != "off",
            .synchronous_commit = row[1].value_or(""),
            .synchronous_standbys = row[2].value_or("")};
}

// "", "a, b", "2 (a, b)", "FIRST 2 (a, b)" or "ANY 2 (a, b)".
std::uint32_t awaited_standbys(std::string_view names) noexcept {
    const auto open = names.find('(');
    if (names.find_first_not_of(' ') == std::string_view::npos) return 0;
    if (open == std::string_view::npos) return 1;
    const auto digit = names.substr(0, open).find_first_of("0123456789");
    std::uint32_t count = 0;
    if (digit != std::string_view::npos)
        std::from_chars(names.data() + digit, names.data() + open, count);
    return count;
}

void check_durability(const commit_settings& settings, durability wanted,
                      const error_place& place) {
    const auto& level = settings.synchronous_commit;
    if (wanted.is_on_disk() && (!settings.has_fsync || level == "off"))
        throw error(errc::unsupported, place.server +
                                           " answers before a lock is on its disk; set " +
                                           (settings.has_fsync ? "synchronous_commit" : "fsync") +
                                           " = on there, or leave the durability out.");
    const bool waits = level != "off" && level != "local";
    const auto standbys = waits ? awaited_standbys(settings.synchronous_standbys) : 0;
    if (wanted.is_on_replicas() && standbys < wanted.replica_count())
        throw error(errc::not_durable, place.server + " waits for " + std::to_string(standbys) +
                                           " standbys at a commit, and the lock needs " +
                                           std::to_string(wanted.replica_count()) +
                                           "; set synchronous_standby_names there, or want fewer.");
}

}  // namespace pawl::postgres
