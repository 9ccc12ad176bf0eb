#include "values.hpp"

#include "numbers.hpp"

#include <array>
#include <charconv>

namespace pawl::redis {
namespace {

// A field must not look like two; a command line may be long.
std::string field(std::string_view text, std::size_t most) {
    std::string plain(text.substr(0, most));
    for (auto& c : plain) {
        if (c == ';' || static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    return plain;
}

template <class Number>
bool read(std::string_view text, Number& into) {
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), into);
    return parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
}

}  // namespace

std::string value_prefix(std::string_view owner, std::string_view client, const identity& who) {
    std::string value(owner);
    value += ';';
    value += client;
    value += ';';
    value += std::to_string(who.pid);
    value += ';';
    value += field(who.host, 64);
    value += ';';
    value += field(who.command, 64);
    return value;
}

std::string value_of(std::string_view prefix, std::int64_t since_ms) {
    std::string value;
    value.reserve(prefix.size() + 21);
    value += prefix;
    value += ';';
    value += std::to_string(since_ms);
    return value;
}

holder read_value(std::string_view value) {
    holder who;
    std::array<std::string_view, 6> parts;
    std::size_t count = 0;
    auto rest = value;
    for (; count < parts.size(); ++count) {
        const auto end = count + 1 < parts.size() ? rest.find(';') : rest.size();
        if (end == std::string_view::npos) break;
        parts[count] = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    std::int64_t since_ms = 0;
    who.owner = std::string(value.substr(0, 8));
    if (count < parts.size() || !read(parts[2], who.pid) || !read(parts[5], since_ms)) {
        who.pid = 0;
        return who;
    }
    who.host = parts[3];
    who.command = parts[4];
    who.since = std::chrono::system_clock::time_point(milliseconds_of(since_ms));
    return who;
}

// Each of ours says since when.
bool is_pawls(const holder& who) noexcept {
    return who.since != std::chrono::system_clock::time_point{};
}

}  // namespace pawl::redis
