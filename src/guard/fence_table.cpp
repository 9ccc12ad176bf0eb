// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "tables.hpp"

namespace pawl::guard {

// The largest token of each resource.
const table fence_table{
    .name = "pawl_fence",
    .version = 1,
    .statements = {R"(CREATE TABLE IF NOT EXISTS pawl_fence (
    resource bytea  PRIMARY KEY,
    token    bigint NOT NULL
);
)",
                   R"(CREATE TABLE IF NOT EXISTS pawl_fence (
    resource VARBINARY(255) PRIMARY KEY,
    token    BIGINT         NOT NULL
) ENGINE = InnoDB;
)",
                   R"(CREATE TABLE IF NOT EXISTS pawl_fence (
    resource BLOB    PRIMARY KEY NOT NULL,
    token    INTEGER NOT NULL
) WITHOUT ROWID;
)"},
    .columns = {"resource bytea, token bigint", "resource varbinary(255) key, token bigint",
                "resource BLOB key, token INTEGER"},
};

}  // namespace pawl::guard
