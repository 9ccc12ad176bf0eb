// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "failed_command.hpp"

#include "../transport/numbers.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace pawl::redis {
namespace {

// The words of Redis 6.2 to Valkey 9, without the part that differs.
constexpr std::array<std::string_view, 2> nameless_errors{
    "Unknown Redis command called from", "The user executing the script can't run this command"};

// Lines count from 1; empty: there are fewer.
std::string_view line_of(std::string_view text, std::size_t number) noexcept {
    if (number == 0) return {};
    for (; number > 1; --number) {
        const auto end = text.find('\n');
        if (end == std::string_view::npos) return {};
        text.remove_prefix(end + 1);
    }
    return text.substr(0, text.find('\n'));
}

// The first argument of the line's only call of a command, which scripts write in quotes.
std::string_view command_in(std::string_view line) noexcept {
    static constexpr std::string_view call = "call(";
    const auto begin = line.find(call);
    if (begin == std::string_view::npos || line.rfind(call) != begin) return {};
    line.remove_prefix(begin + call.size());
    if (!line.starts_with('"')) return {};
    line.remove_prefix(1);
    return line.substr(0, line.find('"'));
}

}  // namespace

void name_failed_command(reply& answer, const script& called) {
    if (answer.type != reply::kind::error) return;
    static constexpr std::string_view place = "@user_script:";
    const std::string_view words = answer.text;
    const auto is_part = [words](std::string_view part) {
        return words.find(part) != std::string_view::npos;
    };
    const auto position = words.find(place);
    if (position == std::string_view::npos || std::ranges::none_of(nameless_errors, is_part))
        return;
    const auto digits = words.substr(position + place.size());
    const auto number =
        parse_number<std::size_t>(digits.substr(0, digits.find_first_not_of("0123456789")));
    const auto command = command_in(line_of(called.text, number));
    if (command.empty()) return;
    const bool is_unknown = is_part(nameless_errors.front());
    answer.text = is_unknown ? "ERR unknown command '" + std::string(command) + "' in a script"
                             : "NOPERM the user may not run the command '" + std::string(command) +
                                   "' in a script";
}

}  // namespace pawl::redis
