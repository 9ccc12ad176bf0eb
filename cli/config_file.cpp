#include "config_file.hpp"

#include "duration.hpp"
#include "failure.hpp"

#include <algorithm>
#include <array>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

struct known_key {
    std::string_view name;
    std::optional<config_value> config_file::*member;
    // What is wrong with a value; null when nothing is.
    const char* (*complaint)(std::string_view text);
};

const char* complaint_about_url(std::string_view text) {
    if (names_relative_file(text))
        return "the path of a file must be absolute here, as in sqlite:/var/lib/pawl/locks.db.";
    return nullptr;
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

const char* complaint_about_answer(std::string_view text) {
    return text == "yes" || text == "no" ? nullptr : "require_url must be yes or no.";
}

constexpr std::array<known_key, 5> keys{
    {{"url", &config_file::url, complaint_about_url},
     {"url_file", &config_file::url_file, complaint_about_path},
     {"namespace", &config_file::name_space, no_complaint},
     {"ttl", &config_file::ttl, complaint_about_ttl},
     {"require_url", &config_file::require_url, complaint_about_answer}}};

// What other formats would take for comments and quotes, and is a part of the value here.
const char* complaint_about_form(std::string_view value) {
    if (value.find(" #") != std::string_view::npos || value.find("\t#") != std::string_view::npos)
        return "a comment needs a line of its own.";
    if (value.starts_with('"') || value.starts_with('\'')) return "leave out the quotes.";
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

// A line that is a bare URL must not be repeated: it may have a password in front of its first =.
bool looks_like_a_key(std::string_view text) {
    return text.size() <= 20 &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_-") == std::string_view::npos;
}

class reader {
public:
    explicit reader(const std::string& path) { file_.path = path; }

    void take_line(std::string_view raw) {
        ++line_;
        const auto line = trimmed(raw);
        if (line.empty() || line.front() == '#') return;
        if (has_control(line)) refuse("a control character is no part of a setting.");
        const auto equals = line.find('=');
        const auto key = trimmed(line.substr(0, equals));
        if (equals == std::string_view::npos || !looks_like_a_key(key) || key.empty())
            refuse("write key = value, as in: url = redis://host.");
        const auto known = std::find_if(keys.begin(), keys.end(),
                                        [&](const known_key& each) { return each.name == key; });
        if (known == keys.end())
            refuse("'" + std::string(key) +
                   "' is not a setting; there are url, url_file, namespace, ttl and require_url.");
        take(*known, trimmed(line.substr(equals + 1)));
    }

    config_file result() {
        if (file_.url && file_.url_file) {
            line_ = std::max(file_.url->line, file_.url_file->line);
            refuse("url and url_file both name the service; leave one out.");
        }
        return std::move(file_);
    }

private:
    void take(const known_key& key, std::string_view value) {
        const std::string name(key.name);
        auto& member = file_.*key.member;
        if (value.empty()) refuse(name + " has no value; write one, or take the line out.");
        if (member)
            refuse(name + " stands in line " + std::to_string(member->line) +
                   " already; keep one of the two.");
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
    reader lines(path);
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        lines.take_line(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines.result();
}

std::string position(const config_file& file, const config_value& value) {
    return file.path + ", line " + std::to_string(value.line);
}

bool names_relative_file(std::string_view url) {
    const std::string_view file = "sqlite:";
    return url.starts_with(file) && !url.substr(file.size()).starts_with('/');
}

duration ttl_of(const config_value& value) { return parse_duration(value.text).value(); }
bool is_yes(const config_value& value) { return value.text == "yes"; }

}  // namespace pawl::cli
