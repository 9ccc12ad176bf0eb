// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "tables.hpp"

namespace pawl::guard {

// The runs of each reconciliation. `run` is the token of the leader that began it, `token` that of
// the last one. Times are µs since 1970, by the database's clock.
const table reconcile_table{
    .name = "pawl_reconcile",
    .version = 1,
    .statements = {R"(CREATE TABLE IF NOT EXISTS pawl_reconcile (
    name      bytea  NOT NULL,
    run       bigint NOT NULL,
    token     bigint NOT NULL,
    after_key bytea  NOT NULL,
    found     bigint NOT NULL,
    repaired  bigint NOT NULL,
    agreed    bigint NOT NULL,
    failed    bigint NOT NULL,
    began     bigint NOT NULL,
    ended     bigint,
    error     bytea  NOT NULL,
    PRIMARY KEY (name, run)
);
)",
                   R"(CREATE TABLE IF NOT EXISTS pawl_reconcile (
    name      VARBINARY(245) NOT NULL,
    run       BIGINT         NOT NULL,
    token     BIGINT         NOT NULL,
    after_key VARBINARY(255) NOT NULL,
    found     BIGINT         NOT NULL,
    repaired  BIGINT         NOT NULL,
    agreed    BIGINT         NOT NULL,
    failed    BIGINT         NOT NULL,
    began     BIGINT         NOT NULL,
    ended     BIGINT,
    error     VARBINARY(500) NOT NULL,
    PRIMARY KEY (name, run)
) ENGINE = InnoDB;
)",
                   R"(CREATE TABLE IF NOT EXISTS pawl_reconcile (
    name      BLOB    NOT NULL,
    run       INTEGER NOT NULL,
    token     INTEGER NOT NULL,
    after_key BLOB    NOT NULL,
    found     INTEGER NOT NULL,
    repaired  INTEGER NOT NULL,
    agreed    INTEGER NOT NULL,
    failed    INTEGER NOT NULL,
    began     INTEGER NOT NULL,
    ended     INTEGER,
    error     BLOB    NOT NULL,
    PRIMARY KEY (name, run)
) WITHOUT ROWID;
)"},
    .columns =
        {"after_key bytea, agreed bigint, began bigint, ended bigint, error bytea, "
         "failed bigint, found bigint, name bytea, repaired bigint, run bigint, token bigint",
         "after_key varbinary(255), agreed bigint, began bigint, ended bigint, "
         "error varbinary(500), failed bigint, found bigint, name varbinary(245) key, "
         "repaired bigint, run bigint key, token bigint",
         "after_key BLOB, agreed INTEGER, began INTEGER, ended INTEGER, error BLOB, "
         "failed INTEGER, found INTEGER, name BLOB key, repaired INTEGER, run INTEGER key, "
         "token INTEGER"},
};

}  // namespace pawl::guard
