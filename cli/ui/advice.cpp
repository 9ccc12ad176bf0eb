// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "advice.hpp"

#include <array>
#include <utility>

namespace pawl::cli {

namespace {

constexpr std::array<std::string_view, 9> advised_commands{
    "pawl status",         "pawl resize",         "pawl doctor",  "pawl acl",   "pawl redlock init",
    "pawl redlock status", "pawl redlock rejoin", "pawl release", "pawl schema"};

// Phrases, so that the name of a lock is not changed.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> translations{
    {{" (try_limit)", " (--wait 0)"},
     {"`total_permits`, or in a shell with --permits", "--permits"},
     {"`total_permits` (--permits K/N)", "--permits K/N"},
     {"durability::disk", "--durable disk"},
     {", or call make_tables.", "."}}};

std::string& service_option() {
    static std::string option;
    return option;
}

// Where the first advised command ends; npos without one.
std::size_t end_of_command(std::string_view text) {
    auto first = std::string_view::npos, end = std::string_view::npos;
    for (const auto command : advised_commands)
        if (const auto at = text.find(command); at < first) {
            first = at;
            end = at + command.size();
        }
    return end;
}

// Of a message for programs and people alike, such as `pawl schema --guard --on URL`.
constexpr std::string_view any_service = " --on URL";

// Where the command, which has options, names any service; npos if it does not.
std::size_t find_any_service(std::string_view rest) {
    if (!rest.starts_with(" --")) return std::string_view::npos;
    return rest.substr(0, rest.find('`')).find(any_service);
}

// The command is a whole one, and names no service yet.
bool may_name_service(std::string_view rest) {
    if (rest.starts_with(" --help") || rest.starts_with(" --on") || rest.starts_with(" --local"))
        return false;
    return rest.empty() || std::string_view(" `,.;)").find(rest.front()) != std::string_view::npos;
}

}  // namespace

void set_service_option(std::string option) { service_option() = std::move(option); }

std::string in_command_words(std::string_view text) {
    std::string translated(text);
    for (const auto& [name, option] : translations)
        for (auto at = translated.find(name); at != std::string::npos;
             at = translated.find(name, at))
            translated.replace(at, name.size(), option);
    const auto& option = service_option();
    if (option.empty()) return translated;
    std::string result;
    std::string_view rest = translated;
    for (auto end = end_of_command(rest); end != std::string_view::npos;
         end = end_of_command(rest)) {
        result += rest.substr(0, end);
        rest.remove_prefix(end);
        const auto at = find_any_service(rest);
        if (at != std::string_view::npos) {
            result.append(rest.substr(0, at)).append(" ").append(option);
            rest.remove_prefix(at + any_service.size());
        } else if (may_name_service(rest)) {
            result += " " + option;
        }
    }
    return result.append(rest);
}

}  // namespace pawl::cli
