// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Processes that want one lock all the time, and the record of their holds.
#pragma once

#include "peer.hpp"

#include <support/temp_folder.hpp>

#include <map>
#include <string>
#include <vector>

namespace plain {

class crowd {
public:
    crowd();

    // The lock is "it", with this ttl.
    void start_ours(peer process, int ttl_ms = 30000) { start(std::move(process), "ours", ttl_ms); }
    void start_theirs(peer process, int ttl_ms = 30000) {
        start(std::move(process), "theirs", ttl_ms);
    }
    // Waits until each side has had the lock at least `each` times, and both together `total`
    // times. False: that takes too long.
    [[nodiscard]] bool has_held(int total, int each) const;
    // Ends the processes. Expects that no two held the lock at once, and that each held it until it
    // released it.
    void end();
    // Such as "2012 holds, 97 by redsync".
    [[nodiscard]] std::string summary(const std::string& library_name) const;

private:
    // One line when a hold begins and one before it ends, in the file system's order.
    struct record {
        std::map<std::string, int> holds;  // by side
        int overlaps = 0;
    };
    void start(peer process, const std::string& side, int ttl_ms);
    [[nodiscard]] record read_journal() const;

    support::temp_folder folder_;
    const std::string journal_ = folder_.file("journal"), stop_ = folder_.file("stop");
    std::vector<peer> processes_;
};

}  // namespace plain
