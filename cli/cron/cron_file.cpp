// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "cron_file.hpp"

#include "../ui/failure.hpp"
#include "../ui/style.hpp"

#include <pawl/error.hpp>
#include <pawl/parse_duration.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

namespace pawl::cli {

namespace {

constexpr std::string_view blanks = " \t";
constexpr std::size_t max_file_size = 1 << 20;

// Takes words from the beginning of a line.
class line_reader {
public:
    explicit line_reader(std::string_view line) : rest_(line) { skip_blanks(); }

    [[nodiscard]] std::string_view peek() const {
        return rest_.substr(0, rest_.find_first_of(blanks));
    }
    std::string_view next() {
        const auto word = peek();
        rest_.remove_prefix(word.size());
        skip_blanks();
        return word;
    }
    [[nodiscard]] std::string_view rest() const noexcept { return rest_; }

private:
    void skip_blanks() {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size()));
    }

    std::string_view rest_;
};

// A sixth field, and not a name: numbers, `*` and names of days.
bool is_field(std::string_view word) {
    static constexpr std::array<std::string_view, 7> days{"sun", "mon", "tue", "wed",
                                                          "thu", "fri", "sat"};
    std::string part;
    const auto is_part = [&part] {
        const bool is_number = part.find_first_not_of("0123456789*") == std::string::npos;
        return !part.empty() && (is_number || std::ranges::find(days, part) != days.end());
    };
    for (const char each : word) {
        if (each != ',' && each != '-' && each != '/') {
            part += static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
            continue;
        }
        if (!is_part()) return false;
        part.clear();
    }
    return is_part();
}

std::string take_schedule(line_reader& line) {
    std::string text(line.next());
    if (text.starts_with('@')) {
        if (text == "@every") text.append(" ").append(line.next());
        return text;
    }
    for (int i = 1; i < 5; ++i)
        text.append(" ").append(line.next());
    if (is_field(line.peek())) text.append(" ").append(line.next());
    return text;
}

error option_error(std::string_view name, std::string_view value, const std::string& advice) {
    return {errc::bad_option, "The option " + std::string(name) + "=" + std::string(value) +
                                  " is not valid; use " + advice + "."};
}

duration parse_time(std::string_view name, std::string_view value) {
    const auto parsed = parse_duration(value);
    if (!parsed) throw option_error(name, value, "a time such as 30s, 10min or 2h");
    return *parsed;
}

guard::overlap_policy parse_overlap(std::string_view value) {
    if (value == "skip") return guard::overlap_policy::skip;
    if (value == "wait") return guard::overlap_policy::wait;
    if (value == "allow") return guard::overlap_policy::allow;
    throw option_error("overlap", value, "skip, wait or allow");
}

guard::catch_up_policy parse_catch_up(std::string_view value) {
    if (value == "latest") return guard::catch_up_policy::latest;
    if (value == "all") return guard::catch_up_policy::all;
    if (value == "none") return guard::catch_up_policy::none;
    throw option_error("catch_up", value, "latest, all or none");
}

std::uint32_t parse_attempts(std::string_view value) {
    std::uint32_t number = 0;
    const auto* end = value.data() + value.size();
    const auto parsed = std::from_chars(value.data(), end, number);
    if (parsed.ec != std::errc{} || parsed.ptr != end)
        throw option_error("attempts", value, "a whole number from 1 to 1000");
    return number;
}

struct line_options {
    guard::schedule_options schedule{};
    std::string zone;
};

void apply_option(line_options& target, std::string_view name, std::string_view value) {
    auto& schedule = target.schedule;
    if (name == "overlap")
        schedule.overlap = parse_overlap(value);
    else if (name == "catch_up")
        schedule.catch_up = parse_catch_up(value);
    else if (name == "late")
        schedule.late = parse_time(name, value);
    else if (name == "spread")
        schedule.spread = parse_time(name, value);
    else if (name == "max")
        schedule.max = parse_time(name, value);
    else if (name == "ttl")
        schedule.ttl = parse_time(name, value);
    else if (name == "attempts")
        schedule.attempts = parse_attempts(value);
    else if (name == "zone")
        target.zone = value;
    else
        throw error(errc::bad_option,
                    "The option '" + std::string(name) +
                        "' is unknown; there are max, late, overlap, catch_up, spread, attempts, "
                        "ttl and zone. A command that begins with a variable is written as: env " +
                        std::string(name) + "=… COMMAND.");
}

// Lower-case letters, and then a '='. A command may begin with a variable in capitals.
bool are_options(std::string_view word) {
    const auto name = word.substr(0, word.find('='));
    return name.size() < word.size() && !name.empty() &&
           name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos;
}

void apply_options(line_options& target, std::string_view word) {
    std::set<std::string_view> names;
    while (true) {
        const auto option = word.substr(0, word.find(','));
        const auto equals = std::min(option.find('='), option.size());
        if (equals + 1 >= option.size())
            throw error(errc::bad_option, "The option '" + std::string(option) +
                                              "' has no value; write NAME=VALUE, and commas "
                                              "without blanks between the options.");
        const auto name = option.substr(0, equals);
        if (!names.insert(name).second)
            throw error(errc::bad_option,
                        "The option " + std::string(name) + " is there twice; keep one of them.");
        apply_option(target, name, option.substr(equals + 1));
        if (option.size() == word.size()) return;
        word.remove_prefix(option.size() + 1);
    }
}

// A word that could be a field is none of a name: a line may have a field too many, or no name.
void check_is_no_field(const std::string& name, const std::string& schedule) {
    if (!is_field(name)) return;
    throw error(errc::bad_option, "The name '" + name + "' after the schedule '" + schedule +
                                      "' looks like another field; write 5 or 6 fields, and then a "
                                      "name.");
}

// A line of a crontab has no name, so the path of its command stands there.
void check_is_no_path(const std::string& name) {
    if (!name.starts_with('/')) return;
    throw error(errc::bad_option, "The name '" + name +
                                      "' looks like a command; write a name before the command, "
                                      "as in: 30 2 * * *  nightly  /usr/bin/repair.");
}

error missing_word(bool is_name, const std::string& schedule) {
    const bool has_seconds = std::ranges::count(schedule, ' ') == 5;
    return {errc::bad_option,
            std::string(is_name ? "The name" : "The command") + " is missing after the schedule '" +
                schedule +
                "'; write the schedule, the name, options if there are any, and the command." +
                (has_seconds ? " A number or a day is no name, but the sixth field." : "")};
}

cron_line parse_line(std::string_view text, int number, const std::string& zone) {
    line_reader line(text);
    const auto schedule = take_schedule(line);
    line_options options{.schedule = {}, .zone = zone};
    const std::string name(line.next());
    if (are_options(line.peek())) apply_options(options, line.next());
    auto parsed = guard::cron_schedule::parse(schedule, options.zone);
    check_is_no_path(name);
    if (name.empty() || line.rest().empty()) throw missing_word(name.empty(), schedule);
    check_is_no_field(name, schedule);
    std::string command(line.rest());
    command.resize(command.find_last_not_of(blanks) + 1);
    // Checks the name and the options.
    static_cast<void>(guard::schedule_watch(name, parsed, options.schedule, {}));
    return {.number = number,
            .name = name,
            .schedule = std::move(parsed),
            .options = options.schedule,
            .command = std::move(command)};
}

bool sets_zone(std::string_view line) {
    return line.starts_with("TZ=") || line.starts_with("CRON_TZ=");
}

// "TZ=Europe/Berlin" is for the lines that follow.
std::optional<std::string> parse_zone(std::string_view line) {
    if (sets_zone(line)) {
        std::string zone(line.substr(line.find('=') + 1));
        zone.resize(zone.find_last_not_of(blanks) + 1);
        static_cast<void>(guard::cron_schedule::parse("@daily", zone));
        return zone;
    }
    const auto name = line.substr(0, line.find('='));
    if (name.size() < line.size() && name.find_first_of(" \t*@") == std::string_view::npos)
        throw error(errc::bad_option, "Only TZ can be set in this file; set '" + std::string(name) +
                                          "' in the environment of pawl cron, or in the command.");
    return {};
}

}  // namespace

cron_file parse_cron_file(std::string_view text, const std::string& name) {
    cron_file file;
    std::map<std::string, int> numbers;  // of the lines, by name
    std::string zone = "UTC";
    bool is_zone_known = true;
    for (int number = 1; !text.empty(); ++number) {
        auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty() || line.starts_with('#')) continue;
        try {
            if (auto next = parse_zone(line)) {
                zone = *std::move(next);
                is_zone_known = true;
                continue;
            }
            auto parsed = parse_line(line, number, zone);
            const auto [first, is_new] = numbers.emplace(parsed.name, number);
            if (!is_new)
                throw error(errc::bad_option, "'" + parsed.name + "' is also the name of line " +
                                                  std::to_string(first->second) +
                                                  "; give each schedule its own name.");
            if (is_zone_known) file.lines.push_back(std::move(parsed));
        } catch (const error& problem) {
            if (sets_zone(line)) is_zone_known = false;
            file.errors.push_back(printable(name) + ", line " + std::to_string(number) + ": " +
                                  printable(problem.what()));
        }
    }
    return file;
}

cron_file read_cron_file(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    if (stream) text << stream.rdbuf();
    if (!stream || text.str().empty() || text.str().size() > max_file_size)
        throw failure(exit_code::no_input,
                      "The file '" + path +
                          "' cannot be read, is empty, or has more than 1 MiB; name the file with "
                          "the schedules.");
    auto file = parse_cron_file(text.str(), path);
    if (file.lines.empty() && file.errors.empty())
        throw failure(exit_code::config, "The file '" + path +
                                             "' has no schedules; add a line such as: 30 2 * * *  "
                                             "orders/nightly  /usr/bin/repair.");
    return file;
}

}  // namespace pawl::cli
