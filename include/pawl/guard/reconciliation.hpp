// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Finds what a crash has left half done, and repairs it: docs/guide/reconciliation.md. Standard
// headers only.
#pragma once

#include <pawl/blocking/client.hpp>
#include <pawl/guard/connection.hpp>
#include <pawl/guard/reconcile_report.hpp>

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace pawl::guard {

// Up to `limit` keys behind `after`, in an order that does not change; nothing: there are no more.
// The first call has an empty `after`. A key has 1 to 255 bytes. `find` may return a key again in
// the next run.
using find_keys =
    std::function<std::vector<std::string>(const std::string& after, std::uint32_t limit)>;
// Repairs one key, by the function and the key that have failed: `once` or `at_least_once` knows
// whether it was done after all. After a crash it may be called again for the same key. An
// exception counts as failed, and the run goes on. The token is the leader's.
using repair_key = std::function<repair_result(const std::string& key, fencing_token token)>;

// A pass over all keys that may be wrong, by one process at a time. The leader is the holder of the
// lock `name`. After each batch it stores in the table pawl_reconcile how far it is, in a
// transaction with the fence "reconcile/NAME": so a former leader cannot move the cursor back, and
// after a crash the next run continues. `run` must not be called by two threads at the same time.
class reconciliation {
public:
    // Both must outlive this object. `name` has 1 to 245 bytes. The connection is for the cursor;
    // `find` and `repair` may use it, too, outside a transaction. Throws errc::bad_option.
    reconciliation(blocking::client& locks, connection& db, std::string name,
                   reconcile_options options = {});

    // One pass. Blocks, and ends early when `stop` is requested or the lock is lost, both between
    // two keys. Throws what `find` throws, what `db` throws, and the errors of the client; the next
    // run continues then. errc::unsupported: `db` has an open transaction. errc::refused: the fence
    // has seen a larger token than the lock's, so the locks come from another service than before.
    reconcile_report run(const find_keys& find, const repair_key& repair,
                         std::stop_token stop = {});

private:
    blocking::client& locks_;
    connection& db_;
    std::string name_;
    reconcile_options options_;
};

}  // namespace pawl::guard
