// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The owners under which the nodes know holds, where these are not the owners of the claims: the
// nodes tell the rounds of an attempt apart by their owners, so each round has one of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <utility>

namespace pawl::redlock {

// Used on one strand.
class round_owners {
public:
    struct entry {
        std::string written;  // at the nodes
        std::string claimed;  // the owner of the claim
    };
    // One entry; none if the owners are equal. Made before the round is sent, so that `add` needs
    // no memory.
    using prepared_entry = std::list<entry>;
    [[nodiscard]] static prepared_entry prepare(std::string written, std::string claimed) {
        prepared_entry made;
        if (written != claimed) made.push_back({std::move(written), std::move(claimed)});
        return made;
    }

    // With more than `most` entries, the oldest is forgotten. The next renewal finds that such a
    // hold was released by force.
    explicit round_owners(std::size_t most = 1024) noexcept : most_(most) {}

    // The round was granted.
    void add(prepared_entry granted) noexcept {
        entries_.splice(entries_.end(), granted);
        if (entries_.size() > most_) entries_.pop_front();
    }
    // The hold has ended.
    void forget(std::string_view claimed) noexcept {
        std::erase_if(entries_, [claimed](const entry& each) { return each.claimed == claimed; });
    }
    // The owner of the claim, which is usually the written one.
    [[nodiscard]] std::string_view claimed_as(std::string_view written) const noexcept {
        const auto found = std::ranges::find(entries_, written, &entry::written);
        return found == entries_.end() ? written : std::string_view(found->claimed);
    }

private:
    const std::size_t most_;
    std::list<entry> entries_;
};

}  // namespace pawl::redlock
