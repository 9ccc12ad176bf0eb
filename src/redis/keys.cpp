#include "keys.hpp"

#include <pawl/error.hpp>

#include <vector>

namespace pawl::redis {
namespace {

// Braces in a name would change the hash tag.
void append_escaped(std::string& to, std::string_view name) {
    for (const char c : name) {
        switch (c) {
        case '{': to += "%7B"; break;
        case '}': to += "%7D"; break;
        case '%': to += "%25"; break;
        default: to += c;
        }
    }
}

std::optional<std::string> unescape(std::string_view text) {
    std::string name;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '{' || text[i] == '}') return std::nullopt;
        if (text[i] != '%') {
            name += text[i];
            continue;
        }
        const auto code = text.substr(i, 3);
        if (code == "%7B")
            name += '{';
        else if (code == "%7D")
            name += '}';
        else if (code == "%25")
            name += '%';
        else
            return std::nullopt;
        i += 2;
    }
    return name;
}

std::string joined(std::string_view base, std::string_view end) {
    std::string key;
    key.reserve(base.size() + end.size());
    key += base;
    key += end;
    return key;
}

// What the server reckons the slot of a key from: what stands in the first braces, if anything
// does, else the whole key.
std::string_view hashed_part(std::string_view key) {
    const auto open = key.find('{');
    const auto close = open == std::string_view::npos ? open : key.find('}', open);
    if (close == std::string_view::npos || close == open + 1) return key;
    return key.substr(open + 1, close - open - 1);
}

constexpr unsigned slots = 16384;

// CRC-16/XMODEM, as the server reckons it.
unsigned slot_of(std::string_view key) {
    unsigned crc = 0;
    for (const char c : hashed_part(key)) {
        crc ^= static_cast<unsigned>(static_cast<unsigned char>(c)) << 8;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc << 1) ^ ((crc & 0x8000) != 0 ? 0x1021 : 0);
        crc &= 0xffff;
    }
    return crc % slots;
}

// The smallest number that is of that slot when it is written down.
const std::vector<unsigned>& numbers_by_slot() {
    static const std::vector<unsigned> numbers = [] {
        std::vector<unsigned> found(slots, 0);
        unsigned missing = slots;
        for (unsigned n = 1; missing > 0; ++n) {
            auto& at = found[slot_of(std::to_string(n))];
            if (at == 0) --missing;
            if (at == 0) at = n;
        }
        return found;
    }();
    return numbers;
}

// What stands beside a lock whose key is as the caller made it, in the same slot. A key without
// braces becomes a hash tag, and one with a tag keeps it. Where that would be ambiguous ("{a}"
// beside "a"), or a brace would end the tag early, a number of the key's slot becomes the tag.
std::string beside(const std::string& space, const std::string& lock) {
    if (lock.find_first_of("{}") == std::string::npos) return space + ":x:{" + lock + "}";
    const bool tagged = hashed_part(lock).size() < lock.size();
    const bool wrapped = lock.front() == '{' && lock.find('}') == lock.size() - 1;
    if (tagged && !wrapped) return space + ":x:" + lock;
    return space + ":y:{" + std::to_string(numbers_by_slot()[slot_of(lock)]) + "}" + lock;
}

}  // namespace

std::string glob_escape(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '*' || c == '?' || c == '[' || c == ']' || c == '^' || c == '\\') escaped += '\\';
        escaped += c;
    }
    return escaped;
}

key_scheme::key_scheme(std::string name_space, std::string pattern, std::uint32_t database)
    : space_(std::move(name_space)),
      channels_(space_ + ":c:" + std::to_string(database) + ":"),
      database_(database),
      plain_(!pattern.empty()) {
    if (space_.empty() || space_.size() > 64 ||
        space_.find_first_of("{}% \t\r\n") != std::string::npos)
        throw error(errc::bad_option, "The namespace '" + space_ +
                                          "' is not usable; use 1 to 64 characters without "
                                          "spaces, braces and percent signs.");
    if (!plain_) {
        before_ = space_ + ":{";
        after_ = "}";
        return;
    }
    const auto at = pattern.find("{name}");
    if (at == std::string::npos || pattern.find("{name}", at + 1) != std::string::npos)
        throw error(errc::bad_option,
                    "The key template '" + pattern +
                        "' must contain {name} once; {name} alone is the plain name.");
    before_ = pattern.substr(0, at);
    after_ = pattern.substr(at + 6);
}

keys key_scheme::of(std::string_view name) const {
    keys all;
    auto& lock = all.lock;
    lock.reserve(before_.size() + name.size() + after_.size());
    lock += before_;
    if (plain_)
        lock += name;
    else
        append_escaped(lock, name);
    lock += after_;
    // Never a name that a lock could have.
    const auto base = plain_ ? beside(space_, lock) : lock;
    all.fence = joined(base, ":f");
    all.queue = joined(base, ":q");
    all.waiters = joined(base, ":w");
    all.holders = joined(base, ":h");
    all.details = joined(base, ":d");
    return all;
}

std::string key_scheme::channel_of(std::string_view key) const {
    return std::string(key) + "/" + std::to_string(database_);
}

std::optional<std::string> key_scheme::name_of(std::string_view key) const {
    if (key.size() <= before_.size() + after_.size() || !key.starts_with(before_) ||
        !key.ends_with(after_))
        return std::nullopt;
    const auto name = key.substr(before_.size(), key.size() - before_.size() - after_.size());
    if (!plain_) return unescape(name);
    if (key.starts_with(space_ + ":x:") || key.starts_with(space_ + ":y:")) return std::nullopt;
    return std::string(name);
}

std::string key_scheme::glob(std::string_view prefix) const {
    std::string begin;
    if (plain_)
        begin = prefix;
    else
        append_escaped(begin, prefix);
    return glob_escape(before_) + glob_escape(begin) + "*" + glob_escape(after_);
}

}  // namespace pawl::redis
