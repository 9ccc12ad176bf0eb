// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Which node has which slot, as far as the client knows.
#pragma once

#include "../topology/slot.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace pawl::redis {

// Nodes are numbers. The views of the nodes differ while a slot moves; the claim with the higher
// config epoch is the newer one, as for the nodes themselves.
class slot_map {
public:
    static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

    slot_map() { owners_.fill(nobody); }

    [[nodiscard]] std::uint32_t owner_of(unsigned slot) const noexcept { return owners_[slot]; }
    // A view says that the node has the slot. True: this is new, and believed.
    bool claim(unsigned slot, std::uint32_t node, std::uint64_t epoch) noexcept {
        if (epoch < epochs_[slot]) return false;
        epochs_[slot] = epoch;
        if (owners_[slot] == node) return false;
        owners_[slot] = node;
        return true;
    }
    // The owner itself says that it has no longer the slot: from now on every claim is believed.
    void give_up(unsigned slot) noexcept { epochs_[slot] = 0; }

private:
    std::array<std::uint32_t, slot_count> owners_{};
    std::array<std::uint64_t, slot_count> epochs_{};
};

}  // namespace pawl::redis
