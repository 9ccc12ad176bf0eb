// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The clock of a MariaDB server is set while it runs.
#include "database_cases.hpp"
#include "mariadb_fixture.hpp"

namespace {

using namespace chaos;

struct with_mariadb_clock {
    support::moved_clock clock;
};

class MariaDbClock : public testing::TestWithParam<database_case<support::moved_clock>>,
                     with_mariadb_clock,
                     mariadb_fixture {
protected:
    MariaDbClock() : mariadb_fixture({.runs_on = {.environment = clock.environment()}}) {}
    void run() { GetParam().run(*this, clock); }
};

TEST_P(MariaDbClock, Case) { run(); }
INSTANTIATE_TEST_SUITE_P(In, MariaDbClock, testing::ValuesIn(clock_cases),
                         case_name<support::moved_clock>);

}  // namespace
