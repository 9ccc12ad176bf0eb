// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The records of ticks at the service of the locks. Used by one thread.
#pragma once

#include "../config/service_location.hpp"

#include <pawl/guard/open_database.hpp>
#include <pawl/guard/tick_records.hpp>

#include <functional>
#include <memory>
#include <optional>

namespace pawl::cli {

// Whether the service can keep records of ticks.
[[nodiscard]] bool keeps_records(const service_location& location);

// Connects when it is used.
class record_store {
public:
    // Throws if the service keeps no records.
    explicit record_store(const service_location& location,
                          guard::if_missing file = guard::if_missing::create);

    // Throws pawl::error and guard::database_error.
    [[nodiscard]] guard::tick_records& records();
    // Makes the table if it is missing.
    void make_schema();
    [[nodiscard]] guard::dialect dialect();
    // Must be called before a fork: a child must not use the connection, and a file that was open
    // at a fork cannot be opened in the child.
    void close() noexcept;

private:
    void open();

    const service_location& location_;
    const guard::if_missing file_;
    std::unique_ptr<guard::connection> database_;
    std::optional<guard::sql_tick_records> records_;
};

// Repeats the call for a while if the database cannot be reached or another transaction wins.
// Throws the last error. The call must be one that can be repeated.
void persistently(record_store& store, duration limit,
                  const std::function<void(guard::tick_records&)>& call);

}  // namespace pawl::cli
