// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "membership.hpp"

#include "../transport/numbers.hpp"

#include "../../core/util/clock_token.hpp"

#include <algorithm>
#include <utility>

namespace pawl::redlock {
namespace {

// More than the nodes of any set, and so of any vector.
constexpr std::size_t max_vector = 64;
// Far above what restarts can reach.
constexpr std::int64_t max_incarnation = 1'000'000'000;
constexpr std::string_view nonce_of_two = "-";
constexpr std::chrono::microseconds century(3'155'760'000'000'000);
constexpr std::int64_t tokens_per_second = 65536;

bool is_incarnation(std::int64_t number) noexcept {
    return number > 0 && number <= max_incarnation;
}

}  // namespace

bool has_heard_of_later(const membership_state& other, std::size_t node,
                        const membership_state& own) noexcept {
    if (node >= other.vector.size()) return false;
    const auto& mark = other.vector[node];
    return mark.nonce != own.nonce && mark.incarnation >= own.incarnation;
}

bool is_of_another_node(const membership_state& own, std::size_t node) noexcept {
    return node < own.vector.size() && own.vector[node].nonce != own.nonce;
}

void merge_marks(std::vector<member_mark>& into, const std::vector<member_mark>& other) {
    for (std::size_t i = 0; i < std::min(into.size(), other.size()); ++i) {
        if (other[i].incarnation > into[i].incarnation)
            into[i] = other[i];
        else if (other[i].incarnation == into[i].incarnation && other[i].nonce != into[i].nonce)
            into[i].nonce = nonce_of_two;
    }
}

std::int64_t next_incarnation(const membership_state& other, std::size_t node,
                              std::string_view nonce) noexcept {
    if (node >= other.vector.size()) return 1;
    const auto& mark = other.vector[node];
    return mark.nonce == nonce ? mark.incarnation : mark.incarnation + 1;
}

std::string make_nonce(std::string random, std::uint64_t epoch) {
    return epoch == 0 ? random : std::move(random) + "." + std::to_string(epoch);
}

std::uint64_t epoch_of(std::string_view nonce) noexcept {
    const auto dot = nonce.find('.');
    return dot == std::string_view::npos ? 0 : redis::parse_number(nonce.substr(dot + 1));
}

bool is_sound_clock(std::int64_t us_since_1970) noexcept {
    return us_since_1970 >= 0 && us_since_1970 < century.count();
}

clock_difference furthest_clock(const std::vector<std::chrono::microseconds>& clocks) {
    auto sorted = clocks;
    const auto median = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::ranges::nth_element(sorted, median);
    clock_difference result;
    for (std::size_t i = 0; i < clocks.size(); ++i)
        if (const auto ahead = clocks[i] - *median;
            std::chrono::abs(ahead) > std::chrono::abs(result.ahead))
            result = {i, ahead};
    return result;
}

std::chrono::seconds time_between(std::int64_t first, std::int64_t second) noexcept {
    return std::chrono::seconds((second - first) / tokens_per_second);
}

std::int64_t token_of_clock(std::int64_t us_since_1970) noexcept {
    const std::chrono::microseconds since_1970(
        std::clamp<std::int64_t>(us_since_1970, 0, century.count()));
    return core::clock_token(std::chrono::system_clock::time_point(since_1970));
}

std::string text_of(const std::vector<member_mark>& vector) {
    std::string result;
    for (const auto& each : vector)
        result += (result.empty() ? "" : " ") + std::to_string(each.incarnation) + ":" + each.nonce;
    return result;
}

std::vector<member_mark> parse_marks(std::string_view text) {
    std::vector<member_mark> result;
    while (!text.empty() && result.size() < max_vector) {
        const auto end = std::min(text.find(' '), text.size());
        const auto colon = std::min(text.find(':'), end);
        auto& mark = result.emplace_back();
        if (colon + 1 < end) {
            mark.incarnation = redis::parse_number<std::int64_t>(text.substr(0, colon));
            mark.nonce = text.substr(colon + 1, end - colon - 1);
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return result;
}

bool is_sound(const membership_state& state, std::int64_t highest, std::size_t nodes) noexcept {
    return is_incarnation(state.incarnation) && !state.nonce.empty() && highest >= 0 &&
           highest < absurd_token && state.vector.size() == nodes &&
           std::ranges::all_of(state.vector, [](const member_mark& each) {
               return is_incarnation(each.incarnation) && !each.nonce.empty();
           });
}

standing_reply standing_of(const redis::reply_reader& from) {
    if (!from.is_array() || from.size() == 0 || !from.at(0).is_text()) return {};
    const auto& why = from.at(0).text();
    if (why == "amnesia") return {objection::amnesia};
    if (why == "set") return {objection::other_set};
    if (why != "quarantine") from.fail();
    from.expect_size(2);
    return {objection::quarantine, from.at(1).integer(-1)};
}

membership_state member_of(const redis::reply_reader& from, std::size_t first) {
    membership_state result;
    result.incarnation = redis::parse_number<std::int64_t>(from.at(first).text());
    result.vector = parse_marks(from.at(first + 1).text());
    return result;
}

}  // namespace pawl::redlock
