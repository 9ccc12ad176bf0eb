// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "libraries.hpp"

#include <algorithm>
#include <iterator>

namespace plain {

const std::vector<library>& libraries() {
    static const std::vector<library> all{
        // name, language, argument, key, waits_for_signals, has_values
        {"redsync", "go", "redsync", "{name}", false, true},
        {"node_redlock", "js", "redlock", "{name}"},
        {"redis_semaphore", "js", "redis-semaphore", "mutex:{name}", false, true},
        {"redis_py", "py", "redis-py", "{name}", false, true},
        {"pottery", "py", "pottery", "redlock:{name}"},
        {"python_redis_lock", "py", "python-redis-lock", "lock:{name}", true},
    };
    return all;
}

std::vector<library> polling_libraries() {
    std::vector<library> some;
    std::ranges::copy_if(libraries(), std::back_inserter(some),
                         [](const library& each) { return !each.waits_for_signals; });
    return some;
}

std::vector<library> libraries_with_values() {
    std::vector<library> some;
    std::ranges::copy_if(libraries(), std::back_inserter(some),
                         [](const library& each) { return each.has_values; });
    return some;
}

}  // namespace plain
