// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The clock of a PostgreSQL server is set while it runs.
#include "database_cases.hpp"
#include "postgres_fixture.hpp"

namespace {

using namespace chaos;

struct with_postgres_clock {
    support::moved_clock clock;
};

class PostgresClock : public testing::TestWithParam<database_case<support::moved_clock>>,
                      with_postgres_clock,
                      postgres_fixture {
protected:
    PostgresClock()
        : postgres_fixture(
              {.config = {}, .access = {}, .runs_on = {.environment = clock.environment()}}) {}
    void run() { GetParam().run(*this, clock); }
};

TEST_P(PostgresClock, Case) { run(); }
INSTANTIATE_TEST_SUITE_P(In, PostgresClock, testing::ValuesIn(clock_cases),
                         case_name<support::moved_clock>);

}  // namespace
