// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "node_failures.hpp"

#include "ballot.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace pawl::redlock {
namespace {

bool is_lasting(errc reason) {
    static constexpr std::array all{errc::refused, errc::bad_url, errc::bad_option,
                                    errc::unsupported, errc::other_set};
    return std::ranges::find(all, reason) != all.end();
}

}  // namespace

std::string without_name(std::string_view text, std::string_view name) {
    for (const std::string_view role : {"the node ", "the master ", ""}) {
        if (!text.starts_with(role) || !text.substr(role.size()).starts_with(name)) continue;
        const auto end = role.size() + name.size();
        text.remove_prefix(std::min(text.size(), text.find_first_not_of(": ", end)));
    }
    if (text.starts_with("it is ")) text.remove_prefix(3);
    if (text.ends_with('.')) text.remove_suffix(1);
    return std::string(text);
}

std::string grouped_text(const std::vector<std::string>& names,
                         const std::vector<std::string>& texts) {
    std::vector<std::pair<std::string, std::string>> groups;  // text and nodes
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (texts[i].empty()) continue;
        const auto group = std::ranges::find(groups, texts[i],
                                             [](const auto& each) -> auto& { return each.first; });
        if (group == groups.end())
            groups.emplace_back(texts[i], names[i]);
        else
            group->second += ", " + names[i];
    }
    std::string result;
    for (const auto& [text, nodes] : groups)
        result += (result.empty() ? "" : "; ") + nodes + ": " + text;
    return result;
}

std::size_t node_failures::count() const noexcept {
    return static_cast<std::size_t>(std::ranges::count_if(
        failures_, [](const std::optional<error>& each) { return each.has_value(); }));
}

std::optional<errc> node_failures::lasting_reason() const noexcept {
    std::size_t lasting = 0;
    std::optional<errc> first;
    for (const auto& each : failures_) {
        if (!each || !is_lasting(each->reason())) continue;
        ++lasting;
        if (!first) first = each->reason();
    }
    return lasting > failures_.size() - majority_of(failures_.size()) ? first : std::nullopt;
}

std::string node_failures::text(const std::vector<std::string>& names) const {
    std::vector<std::string> texts(failures_.size());
    for (std::size_t i = 0; i < failures_.size(); ++i)
        if (failures_[i]) texts[i] = without_name(failures_[i]->what(), names[i]);
    return grouped_text(names, texts);
}

}  // namespace pawl::redlock
