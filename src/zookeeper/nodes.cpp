// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "nodes.hpp"

#include <pawl/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

namespace pawl::zookeeper {
namespace {

constexpr std::string_view digits = "0123456789";
constexpr std::string_view total_node = "__total__";
constexpr std::string_view data_mark = "pawl\n";
constexpr std::size_t sequence_size = 10;
constexpr std::size_t owner_size = 32;

struct marker {
    std::string_view text;
    lock_mode mode;
};
// Curator's read/write lock, mutex and latch, and kazoo's locks.
constexpr std::array markers{
    marker{"__WRIT__", lock_mode::exclusive}, marker{"__READ__", lock_mode::shared},
    marker{"lock-", lock_mode::exclusive},    marker{"latch-", lock_mode::exclusive},
    marker{"__lock__", lock_mode::exclusive}, marker{"__rlock__", lock_mode::shared}};

void append_encoded(std::string& text, char byte) {
    static constexpr char hex[] = "0123456789ABCDEF";
    const auto bits = static_cast<unsigned char>(byte);
    text += '%';
    text += hex[bits >> 4];
    text += hex[bits & 15];
}

// The length of the character at the front, if ZooKeeper accepts it in a path; else 0.
std::size_t accepted_length(std::string_view text) noexcept {
    const auto byte_at = [&](std::size_t i) -> unsigned {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
    };
    const auto first = byte_at(0);
    if (first < 0x80) return first > 0x1F && first != 0x7F && first != '%' ? 1 : 0;
    const std::size_t size = first >= 0xC2 && first < 0xE0   ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                                                             : 0;
    unsigned code = first & (size == 2 ? 0x1FU : 0x0FU);
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte_at(i) & 0xC0) != 0x80) return 0;
        code = code << 6 | (byte_at(i) & 0x3F);
    }
    const bool is_refused = code < 0xA0 || (size == 3 && code < 0x800) ||
                            (code >= 0xD800 && code <= 0xF8FF) || code >= 0xFFF0;
    return size == 0 || is_refused ? 0 : size;
}

bool ends_in_sequence(std::string_view node) noexcept {
    return node.size() >= sequence_size &&
           node.substr(node.size() - sequence_size).find_first_not_of(digits) ==
               std::string_view::npos;
}

// Names that would be taken for others.
std::string protected_node(std::string node, bool is_first, bool is_at_top) {
    if (node == "." || node == ".." || node == total_node ||
        (is_first && is_at_top && node == "zookeeper")) {
        std::string text;
        append_encoded(text, node.front());
        return text + node.substr(1);
    }
    if (!is_first && ends_in_sequence(node)) {
        const char last = node.back();
        node.pop_back();
        append_encoded(node, last);
    }
    return node;
}

std::optional<std::uint32_t> permits_in(std::string_view prefix) {
    // …__P<n>__-__WRIT__
    static constexpr std::string_view tail = "__-__WRIT__", head = "__P";
    if (!prefix.ends_with(tail)) return std::nullopt;
    prefix.remove_suffix(tail.size());
    const auto begin = prefix.rfind(head);
    if (begin == std::string_view::npos) return std::nullopt;
    const auto text = prefix.substr(begin + head.size());
    std::uint32_t count = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), count);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || count == 0)
        return std::nullopt;
    return count;
}

// The mark and the number at the end. Empty: no contender.
std::optional<contender> parse_contender(std::string_view node) {
    if (!ends_in_sequence(node)) return std::nullopt;
    contender parsed{.node = std::string(node)};
    const auto number = node.substr(node.size() - sequence_size);
    std::from_chars(number.data(), number.data() + number.size(), parsed.sequence);
    auto prefix = node.substr(0, node.size() - sequence_size);
    const auto ends_with_marker = [&] {
        return std::ranges::find_if(markers,
                                    [&](const auto& each) { return prefix.ends_with(each.text); });
    };
    auto mark = ends_with_marker();
    if (mark == markers.end() && prefix.ends_with('-')) {
        prefix.remove_suffix(1);
        parsed.sequence = -parsed.sequence;
        mark = ends_with_marker();
    }
    if (mark == markers.end()) return std::nullopt;
    parsed.share.mode = mark->mode;
    if (const auto permits = permits_in(prefix)) parsed.share = {lock_mode::permits, *permits};
    return parsed;
}

}  // namespace

std::string path_of(std::string_view root, std::string_view name) {
    std::string path(root == "/" ? "" : root);
    std::string node;
    bool is_first = true;
    const auto add_node = [&] {
        path += '/' + protected_node(std::move(node), is_first, root == "/");
        node.clear();
        is_first = false;
    };
    while (!name.empty()) {
        const bool is_separator =
            name.front() == '/' && !node.empty() && name.size() > 1 && name[1] != '/';
        const auto length = name.front() == '/' ? 0 : accepted_length(name);
        if (is_separator)
            add_node();
        else if (length == 0)
            append_encoded(node, name.front());
        else
            node += name.substr(0, length);
        name.remove_prefix(std::max<std::size_t>(length, 1));
    }
    add_node();
    return path;
}

std::string decoded(std::string_view node) {
    std::string text;
    while (!node.empty()) {
        unsigned code = 0;
        const bool is_encoded =
            node.front() == '%' && node.size() > 2 &&
            std::from_chars(node.data() + 1, node.data() + 3, code, 16).ptr == node.data() + 3;
        text += is_encoded ? static_cast<char>(code) : node.front();
        node.remove_prefix(is_encoded ? 3 : 1);
    }
    return text;
}

std::string total_path(std::string_view path) {
    return std::string(path).append("/").append(total_node);
}

std::string parent_of(std::string_view path) {
    const auto end = path.rfind('/');
    return end == 0 || end == std::string_view::npos ? "/" : std::string(path.substr(0, end));
}

std::string_view node_of(std::string_view path) noexcept {
    return path.substr(path.rfind('/') + 1);
}

bool is_contender(std::string_view node) noexcept { return ends_in_sequence(node); }

std::vector<contender> contenders_of(const std::vector<std::string>& children,
                                     std::string_view path) {
    std::vector<contender> all;
    for (const auto& each : children) {
        if (!ends_in_sequence(each)) continue;
        auto parsed = parse_contender(each);
        if (!parsed)
            throw error(errc::wrong_type,
                        "The node " + std::string(path) + " has the sequential node " + each +
                            ", which is no lock that Pawl knows; choose another name or root, or "
                            "use one library for this lock.");
        all.push_back(std::move(*parsed));
    }
    std::ranges::sort(all, {}, [](const auto& each) { return std::tie(each.sequence, each.node); });
    return all;
}

std::string node_prefix(std::string_view owner, lock_object object, const core::lock_share& share) {
    std::string text = "_c_";
    for (std::size_t i = 0; i < owner.size(); ++i) {
        if (i == 8 || i == 12 || i == 16 || i == 20) text += '-';
        text += owner[i];
    }
    text += '-';
    if (object == lock_object::mutex) return text + "lock-";
    if (object == lock_object::leader_latch) return text + "latch-";
    if (share.mode == lock_mode::shared) return text + "__READ__";
    // Curator takes holders of permits for writers, so its readers and writers wait for them.
    if (share.mode == lock_mode::permits) text += "__P" + std::to_string(share.permits) + "__-";
    return text + "__WRIT__";
}

std::string as_reader(std::string_view node) {
    std::string text(node);
    static constexpr std::string_view writer = "__WRIT__";
    const auto position = text.rfind(writer);
    if (position != std::string::npos) text.replace(position, writer.size(), "__READ__");
    return text;
}

std::string as_moved(std::string_view node) {
    static constexpr std::size_t prefix_size = 3 + owner_size + 5;  // "_c_", the UUID, '-'
    return std::string(node.substr(0, prefix_size)).append("h-").append(node.substr(prefix_size));
}

bool belongs_to(std::string_view node, std::string_view owner) {
    return owner_in(node) == owner && node.starts_with("_c_");
}

std::string owner_in(std::string_view node) {
    static constexpr std::string_view hex = "0123456789abcdef";
    if (node.starts_with("_c_")) node.remove_prefix(3);
    std::string text;
    for (const char each : node) {
        if (each == '-') continue;
        if (hex.find(each) == std::string_view::npos || text.size() == owner_size) break;
        text += each;
    }
    return text.size() == owner_size ? text : std::string();
}

std::string text_of(const contender_data& data) {
    return std::string(data_mark) + std::to_string(data.phase) + " " +
           std::to_string(data.created_by) + "\n" + std::to_string(data.pid) + "\n" + data.host +
           "\n" + data.command;
}

std::optional<contender_data> parse_data(std::string_view text) {
    if (!text.starts_with(data_mark)) return std::nullopt;
    text.remove_prefix(data_mark.size());
    const auto next_line = [&] {
        const auto end = std::min(text.find('\n'), text.size());
        const auto line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        return line;
    };
    contender_data data;
    const auto phase = next_line(), pid = next_line();
    const auto end = phase.data() + phase.size();
    const auto parsed_phase = std::from_chars(phase.data(), end, data.phase);
    if (parsed_phase.ptr < end) std::from_chars(parsed_phase.ptr + 1, end, data.created_by);
    std::from_chars(pid.data(), pid.data() + pid.size(), data.pid);
    data.host = next_line();
    data.command = text;
    return data;
}

}  // namespace pawl::zookeeper
