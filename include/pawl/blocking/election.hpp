// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Leader election by a lock, for threads. Standard headers only.
#pragma once

#include <pawl/blocking/client.hpp>

#include <memory>
#include <stop_token>
#include <string>
#include <utility>

namespace pawl::blocking {

// Candidates campaign for the lock of one name; its holder leads. The handle is the term: `token`
// is its number, which only grows and which the resource checks; `lost` reports its end; `release`
// resigns. Leave `options.fenced` true: without tokens, changes cannot be seen. Thread-safe; the
// client must outlive the election. Errors and cancellation as for client.
class election {
public:
    // Sends no request. `options.max_hold` limits a term.
    election(client& locks, std::string name, lease_options options = {});

    // As client::acquire: the strict order of candidates needs `options.fair`. Without it, on
    // Redis, candidates of the leader's client may lead first for some terms. Waits for up to
    // `wait`.
    held_lock campaign(duration wait, std::stop_token cancel = {});
    held_lock campaign(std::stop_token cancel = {}) { return campaign(forever, std::move(cancel)); }
    // The present leader, for display only.
    [[nodiscard]] lock_info leader();
    // Returns when the present term is not `seen`. The empty token means no leader, so the default
    // waits for any leader. Inspects the lock every `interval`, 1 ms or more: it can miss a short
    // term, but not the newest. An error of the service ends the wait.
    [[nodiscard]] lock_info wait_change(fencing_token seen = {},
                                        duration interval = std::chrono::seconds(1),
                                        std::stop_token cancel = {});

private:
    std::shared_ptr<loop> loop_;
    std::string name_;
    lease_options options_;
};

}  // namespace pawl::blocking
