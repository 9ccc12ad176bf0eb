// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "genesis_record.hpp"

#include "../common/waits.hpp"
#include "../transport/numbers.hpp"

#include <algorithm>
#include <utility>

namespace pawl::redlock {

std::string text_of(const genesis_record& record) {
    auto text = std::to_string(record.seed);
    for (const auto& each : record.nonces)
        text += " " + each;
    return text;
}

genesis_record parse_genesis(std::string_view text) {
    genesis_record result;
    bool is_first = true;
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        if (std::exchange(is_first, false))
            result.seed = redis::parse_number<std::int64_t>(text.substr(0, end));
        else
            result.nonces.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return result;
}

namespace {

// All nodes of a new set have their first incarnation.
std::string marks_of(const genesis_record& record) {
    std::vector<member_mark> marks;
    for (const auto& each : record.nonces)
        marks.push_back({1, each});
    return text_of(marks);
}

}  // namespace

install_call first_membership(const set_parameters& set, const genesis_record& record,
                              std::size_t node, duration quarantine) {
    return {.set = set,
            .nonce = record.nonces[node],
            .incarnation = "1",
            .vector = marks_of(record),
            .highest = std::to_string(record.seed),
            .quarantine_ms = redis::milliseconds_text(quarantine),
            .genesis = text_of(record)};
}

}  // namespace pawl::redlock
