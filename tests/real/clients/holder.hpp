// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One hold of a lock, as its holder records it, and the holder's work with the resource.
#pragma once

#include <real/record/journal.hpp>
#include <real/record/resource.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

namespace real {

// `Lock` is the handle of a lock or of several. All that is passed must outlive the holder.
template <class Lock>
class holder {
public:
    holder(const journal& records, std::uint64_t hold, const Lock& held, std::uint64_t token,
           const std::string& resource_path, bool checks_tokens = true)
        : records_(records),
          hold_(hold),
          held_(held),
          token_(token),
          resource_(resource_path, checks_tokens) {}

    // Records the belief at this moment; false without one.
    bool believes() {
        const auto at = now();
        const bool owns = held_.owns_lock();
        const auto deadline = to_instant(held_.safe_until());
        if (owns) records_.note("at", hold_, at, deadline);
        return owns;
    }

    // Reads the value. False without belief, or if the resource refuses.
    bool begin() {
        if (!believes()) return false;
        value_ = resource_.read(hold_, token_);
        return value_ || note_refusal();
    }

    // Works for so long, and writes without another check, as a program that is paused there. False
    // without belief, or if the resource refuses.
    bool step(std::chrono::milliseconds work) {
        if (!value_ || !believes()) return false;
        std::this_thread::sleep_for(work);  // the work
        if (!resource_.write(hold_, token_, *value_ + 1)) return note_refusal();
        ++*value_;
        return true;
    }

    // Looks at the value. False without belief, or if the resource refuses.
    bool look() { return believes() && (resource_.look(hold_, token_) || note_refusal()); }

private:
    // The resource has refused, so the holder must have lost the lock: another belief would overlap
    // with that of a later holder. Always false.
    bool note_refusal() {
        records_.note("refused", hold_, now());
        (void)believes();
        return false;
    }

    const journal& records_;
    const std::uint64_t hold_;
    const Lock& held_;
    const std::uint64_t token_;
    resource resource_;
    std::optional<std::uint64_t> value_;
};

}  // namespace real
