// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "config_file.hpp"

#include "../ui/duration.hpp"
#include "../ui/failure.hpp"
#include "lock_file.hpp"

#include <pawl/parse_duration.hpp>

#include <algorithm>
#include <array>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

struct known_key {
    std::string_view name;
    std::optional<config_value> config_file::*member;
    // Returns the error in a value, or null.
    const char* (*complaint)(std::string_view text);
};

const char* complaint_about_url(std::string_view text) {
    static const std::string sentence =
        "the path must be absolute, as in " + std::string(lock_file_example()) + ".";
    return names_relative_file(text) ? sentence.c_str() : nullptr;
}

const char* complaint_about_path(std::string_view text) {
    return text.starts_with('/') ? nullptr : "url_file must be an absolute path.";
}

const char* no_complaint(std::string_view /*text*/) { return nullptr; }

const char* complaint_about_ttl(std::string_view text) {
    const auto ttl = parse_duration(text);
    if (ttl && *ttl >= 10ms && *ttl <= 24h) return nullptr;
    return "ttl must be a time between 10ms and 24h, such as 30s.";
}

const char* complaint_about_yes_or_no(std::string_view text) {
    return text == "yes" || text == "no" ? nullptr : "require_url must be yes or no.";
}

constexpr std::array<known_key, 5> keys{
    {{"url", &config_file::url, complaint_about_url},
     {"url_file", &config_file::url_file, complaint_about_path},
     {"namespace", &config_file::name_space, no_complaint},
     {"ttl", &config_file::ttl, complaint_about_ttl},
     {"require_url", &config_file::require_url, complaint_about_yes_or_no}}};

// Other file formats have comments and quotes in these places. In this format they would be part of
// the value.
const char* complaint_about_form(std::string_view value) {
    if (value.find(" #") != std::string_view::npos || value.find("\t#") != std::string_view::npos)
        return "a comment must be on its own line.";
    if (value.starts_with('"') || value.starts_with('\'')) return "remove the quotes.";
    return nullptr;
}

constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

bool has_control(std::string_view text) {
    return std::any_of(text.begin(), text.end(),
                       [](unsigned char c) { return (c < ' ' && c != '\t') || c == 0x7f; });
}

// The text before the first = is repeated only if it looks like a key. A bare URL may have a
// password there.
bool looks_like_a_key(std::string_view text) {
    return text.size() <= 20 &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_-") == std::string_view::npos;
}

class config_parser {
public:
    explicit config_parser(const std::string& path) { file_.path = path; }

    void parse_line(std::string_view raw) {
        ++line_;
        const auto line = trimmed(raw);
        if (line.empty() || line.front() == '#') return;
        if (has_control(line)) refuse("the line contains a control character; remove it.");
        const auto equals = line.find('=');
        const auto key = trimmed(line.substr(0, equals));
        if (equals == std::string_view::npos || !looks_like_a_key(key) || key.empty())
            refuse("write key = value, as in: url = redis://host.");
        const auto setting = std::find_if(keys.begin(), keys.end(),
                                          [&](const known_key& each) { return each.name == key; });
        if (setting == keys.end())
            refuse("'" + std::string(key) +
                   "' is not a setting; use url, url_file, namespace, ttl or require_url.");
        store_value(*setting, trimmed(line.substr(equals + 1)));
    }

    config_file result() {
        if (file_.url && file_.url_file) {
            line_ = std::max(file_.url->line, file_.url_file->line);
            refuse("url and url_file both name the service; remove one of them.");
        }
        return std::move(file_);
    }

private:
    void store_value(const known_key& key, std::string_view value) {
        const std::string name(key.name);
        auto& member = file_.*key.member;
        if (value.empty()) refuse(name + " has no value; add a value, or remove the line.");
        if (member)
            refuse(name + " is already set in line " + std::to_string(member->line) +
                   "; remove one of the two.");
        if (const char* complaint = complaint_about_form(value)) refuse(complaint);
        if (const char* complaint = key.complaint(value)) refuse(complaint);
        member = config_value{.text = std::string(value), .line = line_};
    }

    [[noreturn]] void refuse(const std::string& sentence) const {
        throw failure(exit_code::config,
                      file_.path + ", line " + std::to_string(line_) + ": " + sentence);
    }

    config_file file_;
    unsigned line_ = 0;
};

}  // namespace

config_file parse_config(const std::string& path, std::string_view text) {
    config_parser lines(path);
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        lines.parse_line(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines.result();
}

std::string position(const config_file& file, const config_value& value) {
    return file.path + ", line " + std::to_string(value.line);
}

duration ttl_of(const config_value& value) { return parse_duration(value.text).value(); }
bool is_yes(const config_value& value) { return value.text == "yes"; }

}  // namespace pawl::cli
