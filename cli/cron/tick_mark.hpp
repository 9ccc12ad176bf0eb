// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The mark of a tick that has begun, for services that keep no records: a lock that is not
// released, but ends with its lease.
#pragma once

#include "../config/service_location.hpp"

#include <signal.h>

#include <functional>

namespace pawl::cli {

// Calls it in a process of its own, since a client has threads, and this process forks. Returns its
// result, or the exit status of what it threw, which has then been printed.
[[nodiscard]] int call_in_child(const sigset_t& signals, const std::function<int()>& call);

class tick_mark {
public:
    // absent, present: of this mark. made: by this call. unknown: the service could not be asked,
    // which has been printed.
    enum class state { absent, present, made, unknown };

    // Both must outlive it.
    tick_mark(const service_location& location, const sigset_t& signals, std::string name,
              duration keep);

    [[nodiscard]] state look() const;
    [[nodiscard]] state make() const;
    // For the process that has made it.
    void remove() const;

private:
    [[nodiscard]] state ask(const std::function<state()>& question) const;

    const service_location& location_;
    const sigset_t& signals_;
    std::string name_;
    duration keep_;
};

}  // namespace pawl::cli
