// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "stories.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace shop {
namespace {

std::string order_name(int number) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%05d", number);
    return text.data();
}

// Eight orders have each fault of the story once, and the others none.
fault planned_for(story told, int number, int orders) {
    if (told == story::sale) {  // thousands of buyers, of whom nine are struck
        const int between = std::max(orders / 9, 1);
        if (number % between != 0) return fault::none;
        constexpr std::array faults{fault::stop_before_transaction, fault::die_before_commit,
                                    fault::die_after_commit};
        return faults.at(static_cast<std::size_t>(number / between % 3));
    }
    if (told == story::payment) {
        if (number % 8 == 1) return fault::die_after_call;
        return number % 8 == 4 ? fault::stop_before_call : fault::none;
    }
    switch (number % 8) {
    case 1: return fault::die_after_commit;
    case 3: return fault::stop_before_transaction;
    case 5: return fault::die_after_call;
    case 7: return fault::stop_before_call;
    default: return fault::none;
    }
}

visit visit_of(story told, int number, int orders) {
    visit each{.order = order_name(number), .planned = planned_for(told, number, orders)};
    if (told == story::payment) {
        each.at_once = 3;  // delay queue, result page, notice
    } else if (told == story::sale || each.planned == fault::none) {
        each.at_once = 2;  // the customer presses twice
    } else if (each.planned == fault::stop_before_transaction ||
               each.planned == fault::stop_before_call) {
        each.after_stop = 1;  // the customer waits, and presses again
    }
    return each;  // after a death: the customer goes away
}

}  // namespace

std::string_view name_of(story each) noexcept {
    constexpr std::array<std::string_view, 3> names{"payment", "sale", "orders"};
    return names.at(static_cast<std::size_t>(each));
}

std::vector<visit> visits_of(story told, int orders) {
    std::vector<visit> visits;
    for (int number = 0; number < orders; ++number)
        visits.push_back(visit_of(told, number, orders));
    return visits;
}

std::int64_t items_of(story told, int orders) {
    if (told == story::sale) return std::max<std::int64_t>(orders * 9 / 10 / stripes, 1);
    return 10'000;
}

bool has_layer(story told, layer each) noexcept {
    switch (each) {
    case layer::lock: return true;
    case layer::unique: return told != story::payment;
    case layer::record:
    case layer::look:
    case layer::key:
    case layer::fence: return told != story::sale;
    case layer::token:
    case layer::reconciliation: return told == story::orders;
    }
    return false;
}

bool does_damage(story told, const layer_set& layers) noexcept {
    const auto lacks = [&](layer each) { return !layers.has(each); };
    if (told == story::sale) return lacks(layer::unique);
    if (lacks(layer::key)) return true;
    if (told == story::payment) return false;
    return lacks(layer::reconciliation) ||
           (lacks(layer::unique) && (lacks(layer::token) || lacks(layer::record)));
}

}  // namespace shop
