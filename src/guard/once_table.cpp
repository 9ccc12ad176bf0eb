// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "tables.hpp"

namespace pawl::guard {

// state: 1 pending, 2 done, 3 failed. Times are µs since 1970, by the database's clock. The key is
// bytes: a text would make keys equal that differ in capitals, blanks or accents.
const table once_table{
    .name = "pawl_once",
    .version = 1,
    .statements = {R"(CREATE TABLE IF NOT EXISTS pawl_once (
    scope       bytea    NOT NULL,
    once_key    bytea    NOT NULL,
    state       smallint NOT NULL,
    token       bigint   NOT NULL,
    claim       bytea    NOT NULL,
    attempts    integer  NOT NULL,
    lease_until bigint   NOT NULL,
    keep_until  bigint   NOT NULL,
    fingerprint bytea    NOT NULL,
    result      bytea,
    PRIMARY KEY (scope, once_key)
);
CREATE INDEX IF NOT EXISTS pawl_once_state ON pawl_once (state, keep_until);
)",
                   R"(CREATE TABLE IF NOT EXISTS pawl_once (
    scope       VARBINARY(64)  NOT NULL,
    once_key    VARBINARY(255) NOT NULL,
    state       SMALLINT       NOT NULL,
    token       BIGINT         NOT NULL,
    claim       BINARY(16)     NOT NULL,
    attempts    INTEGER        NOT NULL,
    lease_until BIGINT         NOT NULL,
    keep_until  BIGINT         NOT NULL,
    fingerprint BINARY(32)     NOT NULL,
    result      LONGBLOB,
    PRIMARY KEY (scope, once_key),
    KEY pawl_once_state (state, keep_until)
) ENGINE = InnoDB;
)",
                   R"(CREATE TABLE IF NOT EXISTS pawl_once (
    scope       BLOB    NOT NULL,
    once_key    BLOB    NOT NULL,
    state       INTEGER NOT NULL,
    token       INTEGER NOT NULL,
    claim       BLOB    NOT NULL,
    attempts    INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    keep_until  INTEGER NOT NULL,
    fingerprint BLOB    NOT NULL,
    result      BLOB,
    PRIMARY KEY (scope, once_key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS pawl_once_state ON pawl_once (state, keep_until);
)"},
    .columns = {"attempts integer, claim bytea, fingerprint bytea, keep_until bigint, "
                "lease_until bigint, once_key bytea, result bytea, scope bytea, state smallint, "
                "token bigint",
                "attempts int, claim binary(16), fingerprint binary(32), keep_until bigint, "
                "lease_until bigint, once_key varbinary(255) key, result longblob, "
                "scope varbinary(64) key, state smallint, token bigint",
                "attempts INTEGER, claim BLOB, fingerprint BLOB, keep_until INTEGER, "
                "lease_until INTEGER, once_key BLOB key, result BLOB, scope BLOB key, "
                "state INTEGER, token INTEGER"},
};

}  // namespace pawl::guard
