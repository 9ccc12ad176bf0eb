// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "record_store.hpp"

#include "../ui/failure.hpp"

#include <poll.h>
#include <algorithm>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

[[noreturn]] void throw_no_records(const service_location& location) {
    throw failure(exit_code::usage,
                  location.lock_service.describe() +
                      " keeps no records of ticks, so it has no history and needs no table; name a "
                      "SQL database or a lock file with --on.");
}

}  // namespace

bool keeps_records(const service_location& location) {
    return guard::keeps_records(location.secret_url.substr(0, location.secret_url.find(':')));
}

record_store::record_store(const service_location& location, guard::if_missing file)
    : location_(location), file_(file) {
    if (!keeps_records(location)) throw_no_records(location);
}

void record_store::open() {
    if (database_) return;
    database_ = guard::open_database(location_.secret_url, file_);
    if (!database_) throw_no_records(location_);
    records_.emplace(*database_);
}

guard::tick_records& record_store::records() {
    open();
    return *records_;
}

void record_store::make_schema() {
    open();
    records_->make_schema();
}

guard::dialect record_store::dialect() {
    open();
    return database_->dialect();
}

void record_store::close() noexcept {
    records_.reset();
    database_.reset();
}

void persistently(record_store& store, duration limit,
                  const std::function<void(guard::tick_records&)>& call) {
    const auto until = boot_clock::now() + limit;
    for (duration pause = 20ms;; pause = std::min<duration>(pause * 2, 2s)) {
        try {
            return call(store.records());
        } catch (const guard::database_error&) {
            if (boot_clock::now() + pause > until) throw;
        }
        store.close();
        ::poll(nullptr, 0,
               static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(pause).count()));
    }
}

}  // namespace pawl::cli
