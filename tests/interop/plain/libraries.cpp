// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "libraries.hpp"

#include <algorithm>
#include <iterator>

namespace plain {

const std::vector<library>& libraries() {
    static const std::vector<library> all{
        // name, language, argument, key, waits_for_signals, has_values, has_redlock
        {"redsync", "go", "redsync", "{name}", false, true, true},
        {"node_redlock", "js", "redlock", "{name}", false, false, true},
        {"redis_semaphore", "js", "redis-semaphore", "mutex:{name}", false, true},
        {"redis_py", "py", "redis-py", "{name}", false, true},
        {"pottery", "py", "pottery", "redlock:{name}", false, false, true},
        {"python_redis_lock", "py", "python-redis-lock", "lock:{name}", true},
    };
    return all;
}

namespace {

template <class Predicate>
std::vector<library> libraries_if(const Predicate& is_wanted) {
    std::vector<library> some;
    std::ranges::copy_if(libraries(), std::back_inserter(some), is_wanted);
    return some;
}

}  // namespace

std::vector<library> polling_libraries() {
    return libraries_if([](const library& each) { return !each.waits_for_signals; });
}

std::vector<library> libraries_with_values() {
    return libraries_if([](const library& each) { return each.has_values; });
}

std::vector<library> libraries_with_redlock() {
    return libraries_if([](const library& each) { return each.has_redlock; });
}

}  // namespace plain
