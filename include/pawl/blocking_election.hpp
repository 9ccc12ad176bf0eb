// One leader among many, by a lock: for threads. Standard headers only.
#pragma once

#include <pawl/blocking.hpp>

#include <memory>
#include <stop_token>
#include <string>

namespace pawl::blocking {

// Candidates campaign under one name; who has its lock leads. The handle is the term: `token` is
// its number, which only grows and which the resource should check; `lost` ends it; `release`
// resigns. The client must outlive it. Thread-safe.
class election {
public:
    // `options.wait` bounds a campaign, `options.max_hold` a term.
    election(client& locks, std::string name, lock_options options = {});

    // As client::acquire. Candidates lead in their order, but for Redis, where those of the
    // leader's client may come first for some turns.
    held_lock campaign(std::stop_token cancel = {});
    // Who leads, for people and tools.
    [[nodiscard]] lock_info leader();
    // When another term than `seen` runs, or none although `seen` is one; the default waits for any
    // leader. Looks every `interval` (1 ms or more), so it may miss a short term, never the newest.
    [[nodiscard]] lock_info wait_change(fencing_token seen = {},
                                        duration interval = std::chrono::seconds(1),
                                        std::stop_token cancel = {});

private:
    std::shared_ptr<loop> loop_;
    std::string name_;
    lock_options options_;
};

}  // namespace pawl::blocking
