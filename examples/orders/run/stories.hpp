// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The three stories, as the driver and the workers know them.
#pragma once

#include "faults.hpp"

#include <orders/layers.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shop {

enum class story : std::uint8_t { payment, sale, orders };
[[nodiscard]] std::string_view name_of(story each) noexcept;

inline constexpr std::int64_t stripes = 4;  // of the sale

// What happens to one order: some callers at the same time, and more while one of them is stopped.
struct visit {
    std::string order;
    fault planned = fault::none;
    int at_once = 1;
    int after_stop = 0;
};
[[nodiscard]] std::vector<visit> visits_of(story told, int orders);
// Items in each row of the stock.
[[nodiscard]] std::int64_t items_of(story told, int orders);

// The layers that the story has.
[[nodiscard]] bool has_layer(story told, layer each) noexcept;
// True: without these layers, orders go wrong. False: it only costs more, or another layer covers.
[[nodiscard]] bool does_damage(story told, const layer_set& layers) noexcept;

}  // namespace shop
