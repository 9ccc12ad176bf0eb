// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "contest.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace pawl::redlock {
namespace {

bool is_owner(std::string_view holder) {
    return holder.size() >= rank_size &&
           holder.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string rank_of(std::string_view owner) { return std::string(owner.substr(0, rank_size)); }

std::size_t contest::most_of_one() const {
    std::map<std::pair<std::size_t, std::string_view>, std::size_t> counts;
    std::size_t most = 0;
    for (const auto& holders : refusals_)
        for (std::size_t name = 0; name < holders.size(); ++name)
            if (!holders[name].empty()) most = std::max(most, ++counts[{name, holders[name]}]);
    return most;
}

// Writers come before readers, which keep each other out of nothing. A holder of another library
// gives back what it has by itself, so it never comes before a writer.
std::optional<std::string> contest::first_rank(const precedence& known) const {
    std::optional<std::string> result;
    for (const auto& holders : refusals_)
        for (const auto& each : holders) {
            const auto rank = is_owner(each) ? rank_of(each) : each;
            const bool is_first =
                is_owner(each) ? is_reader_ || rank < rank_ : is_reader_ && each != readers_word;
            if (!each.empty() && is_first && known.respects(rank))
                result = std::min(result.value_or(rank), rank);
        }
    return result;
}

std::size_t contest::count_holders() const {
    std::set<std::string_view> result;
    for (const auto& holders : refusals_)
        for (const auto& each : holders)
            if (!each.empty()) result.insert(each);
    return result.size();
}

}  // namespace pawl::redlock
