// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "suggestions.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace pawl::cli {

namespace {

using translation = std::pair<std::string_view, std::string_view>;

constexpr std::array<translation, 13> verbs_of_others{{{"lock", "run"},
                                                       {"exec", "run"},
                                                       {"with", "run"},
                                                       {"unlock", "release"},
                                                       {"list", "ls"},
                                                       {"show", "status"},
                                                       {"info", "status"},
                                                       {"stat", "status"},
                                                       {"inspect", "status"},
                                                       {"top", "watch"},
                                                       {"check", "doctor"},
                                                       {"lead", "elect"},
                                                       {"version", "--version"}}};

// The options of flock(1), and of setlock and the commands `lock` of other programs.
constexpr std::array<translation, 19> options_of_others{
    {{"-n", "--wait 0"},
     {"--nb", "--wait 0"},
     {"--nonblock", "--wait 0"},
     {"--nonblocking", "--wait 0"},
     {"--no-wait", "--wait 0"},
     {"-w", "--wait TIME"},
     {"-t", "--wait TIME"},
     {"--timeout", "--wait TIME"},
     {"--wait-time", "--wait TIME"},
     {"-s", "--shared"},
     {"-E", "--busy-exit N"},
     {"--conflict-exit-code", "--busy-exit N"},
     {"-x", "a lock is exclusive unless --shared is given, so leave it out"},
     {"-e", "a lock is exclusive unless --shared is given, so leave it out"},
     {"--exclusive", "a lock is exclusive unless --shared is given, so leave it out"},
     {"-c", "write the command after --, as in: pawl run NAME -- sh -c 'COMMAND'"},
     {"--command", "write the command after --, as in: pawl run NAME -- sh -c 'COMMAND'"},
     {"-o", "the command never inherits the lock, so leave it out"},
     {"--close", "the command never inherits the lock, so leave it out"}}};

template <std::size_t Size>
std::string translated(const std::array<translation, Size>& table, std::string_view word) {
    const auto found = std::ranges::find(table, word, &translation::first);
    return found == table.end() ? std::string() : std::string(found->second);
}

// The number of letters to insert, delete or replace, and of neighbours to swap.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before = std::exchange(last, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const auto replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
            const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (is_swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row.back();
}

// Commands that only a shell has.
constexpr std::array<std::string_view, 8> shell_commands{"cd",     "exec", "export", "source",
                                                         "ulimit", "if",   "for",    "while"};

}  // namespace

std::string closest_to(std::string_view word, const std::vector<std::string>& names) {
    if (word.size() < 2) return {};
    const auto limit = std::clamp<std::size_t>(word.size() / 3, 1, 2);
    std::string result;
    std::size_t smallest = limit + 1;
    for (const auto& name : names) {
        const auto difference = distance(word, name);
        if (difference >= smallest) continue;
        smallest = difference;
        result = name;
    }
    return result;
}

std::string verb_meant_by(std::string_view word, const std::vector<std::string>& verbs) {
    auto meant = translated(verbs_of_others, word);
    return meant.empty() ? closest_to(word, verbs) : meant;
}

std::string option_meant_by(std::string_view option) {
    return translated(options_of_others, option);
}

std::string shell_advice(const std::vector<std::string>& command) {
    const std::string& first = command.front();
    const bool is_shell_text = first.find_first_of(" \t|&;<>$(){}*\"'`") != std::string::npos;
    if (!is_shell_text && std::ranges::find(shell_commands, first) == shell_commands.end())
        return {};
    return "it looks like a command for a shell; write it as in: -- sh -c 'COMMAND'";
}

}  // namespace pawl::cli
