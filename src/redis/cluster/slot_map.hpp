// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Which node has which slot, as far as the client knows.
#pragma once

#include "../topology/slot.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace pawl::redis {

// Nodes are numbers. The views of the nodes differ while a slot moves; the view with the higher
// config epoch is the newer one, as for the nodes themselves.
class slot_map {
public:
    static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

    slot_map() { masters_.fill(nobody); }

    [[nodiscard]] std::uint32_t master_of(unsigned slot) const noexcept { return masters_[slot]; }
    // A view says that the node has the slot. True: this is new, and believed.
    bool assign(unsigned slot, std::uint32_t node, std::uint64_t epoch) noexcept {
        if (epoch < epochs_[slot]) return false;
        epochs_[slot] = epoch;
        if (masters_[slot] == node) return false;
        masters_[slot] = node;
        return true;
    }
    // The same node has another number from now on.
    void renumber(std::uint32_t node, std::uint32_t present) noexcept {
        std::ranges::replace(masters_, node, present);
    }
    // The master itself says that it has the slot no longer: from now on every view is believed.
    void give_up(unsigned slot) noexcept { epochs_[slot] = 0; }

private:
    std::array<std::uint32_t, slot_count> masters_{};
    std::array<std::uint64_t, slot_count> epochs_{};
};

}  // namespace pawl::redis
