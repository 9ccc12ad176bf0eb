// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "node_list.hpp"

#include "../topology/slot.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace pawl::redis {
namespace {

std::string_view next_part(std::string_view& text, char separator) {
    const auto end = std::min(text.find(separator), text.size());
    const auto part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

template <class Number>
std::optional<Number> to_number(std::string_view text) {
    Number value{};
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

bool has_flag(std::string_view flags, std::string_view wanted) {
    while (!flags.empty())
        if (next_part(flags, ',') == wanted) return true;
    return false;
}

// HOST:PORT@BUS_PORT[,NAME[,KEY=VALUE…]]; an IPv6 address has colons, too.
bool read_address(std::string_view text, listed_node& node) {
    auto names = text;
    auto address = next_part(names, ',');
    const auto name = next_part(names, ',');
    if (name.find('=') == std::string_view::npos) node.name = name;
    address = address.substr(0, address.find('@'));
    const auto colon = address.rfind(':');
    if (colon == std::string_view::npos) return false;
    const auto port = to_number<std::uint16_t>(address.substr(colon + 1));
    if (!port) return false;
    node.host = address.substr(0, colon);
    node.port = *port;
    return true;
}

// FIRST-LAST or a single slot. A slot that is moving stands in brackets; its keys are still of the
// node that has it without them.
bool read_slots(std::string_view text, listed_node& node) {
    if (text.starts_with('[')) return true;
    auto rest = text;
    const auto first = to_number<unsigned>(next_part(rest, '-'));
    const auto last = rest.empty() ? first : to_number<unsigned>(rest);
    if (!first || !last || *first > *last || *last >= slot_count) return false;
    node.slots.emplace_back(*first, *last);
    return true;
}

// ID ADDRESS FLAGS MASTER_ID PING_SENT PONG_RECEIVED EPOCH LINK_STATE SLOTS…
std::optional<listed_node> read_line(std::string_view line) {
    listed_node node;
    node.id = next_part(line, ' ');
    const auto address = next_part(line, ' ');
    const auto flags = next_part(line, ' ');
    node.master_id = next_part(line, ' ');
    next_part(line, ' ');
    next_part(line, ' ');
    const auto epoch = to_number<std::uint64_t>(next_part(line, ' '));
    next_part(line, ' ');
    if (node.id.empty() || !epoch || !read_address(address, node)) return std::nullopt;
    node.epoch = *epoch;
    node.is_myself = has_flag(flags, "myself");
    node.is_master = has_flag(flags, "master");
    node.is_failing = has_flag(flags, "fail") || has_flag(flags, "fail?");
    if (has_flag(flags, "noaddr") || has_flag(flags, "handshake")) node.port = 0;
    while (!line.empty())
        if (!read_slots(next_part(line, ' '), node)) return std::nullopt;
    return node;
}

}  // namespace

std::vector<listed_node> parse_node_list(std::string_view text) {
    std::vector<listed_node> nodes;
    unsigned slots = 0;
    while (!text.empty()) {
        auto line = next_part(text, '\n');
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty()) continue;
        auto node = read_line(line);
        if (!node || std::ranges::count(nodes, node->id, &listed_node::id) > 0) return {};
        for (const auto& [first, last] : node->slots)
            slots += last - first + 1;
        if (slots > slot_count) return {};
        if (node->port != 0) nodes.push_back(std::move(*node));
    }
    if (std::ranges::count(nodes, true, &listed_node::is_myself) != 1) return {};
    return nodes;
}

}  // namespace pawl::redis
