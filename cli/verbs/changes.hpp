// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The changes between two queries, for `watch` without a terminal.
#pragma once

#include <pawl/types.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pawl::cli {

struct change {
    // held: in the first query. acquired, printed as "taken": by the only holder, or by the
    // first of several. joined, left: while other holders stay. downgraded: from exclusive to
    // shared.
    enum class kind { held, acquired, joined, left, downgraded, freed, waiters, resized };
    kind event = kind::held;
    lock_info lock;
    std::optional<holder> changed_holder;  // the holder that changed
    std::uint64_t old_count = 0;           // the old number of waiters or of permits
};
[[nodiscard]] const char* to_string(change::kind event) noexcept;

class change_log {
public:
    // The first call reports each holder as `held`. In the order of the names.
    [[nodiscard]] std::vector<change> update(const std::vector<lock_info>& locks);

private:
    std::map<std::string, lock_info> previous_;
    bool has_previous_ = false;
};

}  // namespace pawl::cli
