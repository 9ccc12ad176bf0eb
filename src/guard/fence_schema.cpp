// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "fence_schema.hpp"

namespace pawl::guard {

// Names are bytes: a text column would merge names that its collation takes for equal.
std::string_view fence_table(dialect spoken) noexcept {
    switch (spoken) {
    case dialect::postgres:
        return "CREATE TABLE IF NOT EXISTS pawl_fence (\n"
               "    resource bytea PRIMARY KEY,\n"
               "    token bigint NOT NULL\n"
               ")";
    case dialect::mysql:
        return "CREATE TABLE IF NOT EXISTS pawl_fence (\n"
               "    resource VARBINARY(255) NOT NULL PRIMARY KEY,\n"
               "    token BIGINT NOT NULL\n"
               ") ENGINE = InnoDB";
    case dialect::sqlite: break;
    }
    return "CREATE TABLE IF NOT EXISTS pawl_fence (\n"
           "    resource BLOB PRIMARY KEY NOT NULL,\n"
           "    token INTEGER NOT NULL\n"
           ") STRICT, WITHOUT ROWID";
}

// Times are microseconds since 1970. `run` is the token of the leader that began the run.
std::string_view reconcile_table(dialect spoken) noexcept {
    switch (spoken) {
    case dialect::postgres:
        return "CREATE TABLE IF NOT EXISTS pawl_reconcile (\n"
               "    name bytea NOT NULL,\n"
               "    run bigint NOT NULL,\n"
               "    token bigint NOT NULL,\n"
               "    after_key bytea NOT NULL,\n"
               "    found bigint NOT NULL,\n"
               "    repaired bigint NOT NULL,\n"
               "    agreed bigint NOT NULL,\n"
               "    failed bigint NOT NULL,\n"
               "    began bigint NOT NULL,\n"
               "    ended bigint,\n"
               "    error bytea NOT NULL,\n"
               "    PRIMARY KEY (name, run)\n"
               ")";
    case dialect::mysql:
        return "CREATE TABLE IF NOT EXISTS pawl_reconcile (\n"
               "    name VARBINARY(245) NOT NULL,\n"
               "    run BIGINT NOT NULL,\n"
               "    token BIGINT NOT NULL,\n"
               "    after_key VARBINARY(255) NOT NULL,\n"
               "    found BIGINT NOT NULL,\n"
               "    repaired BIGINT NOT NULL,\n"
               "    agreed BIGINT NOT NULL,\n"
               "    failed BIGINT NOT NULL,\n"
               "    began BIGINT NOT NULL,\n"
               "    ended BIGINT,\n"
               "    error VARBINARY(500) NOT NULL,\n"
               "    PRIMARY KEY (name, run)\n"
               ") ENGINE = InnoDB";
    case dialect::sqlite: break;
    }
    return "CREATE TABLE IF NOT EXISTS pawl_reconcile (\n"
           "    name BLOB NOT NULL,\n"
           "    run INTEGER NOT NULL,\n"
           "    token INTEGER NOT NULL,\n"
           "    after_key BLOB NOT NULL,\n"
           "    found INTEGER NOT NULL,\n"
           "    repaired INTEGER NOT NULL,\n"
           "    agreed INTEGER NOT NULL,\n"
           "    failed INTEGER NOT NULL,\n"
           "    began INTEGER NOT NULL,\n"
           "    ended INTEGER,\n"
           "    error BLOB NOT NULL,\n"
           "    PRIMARY KEY (name, run)\n"
           ") STRICT, WITHOUT ROWID";
}

}  // namespace pawl::guard
