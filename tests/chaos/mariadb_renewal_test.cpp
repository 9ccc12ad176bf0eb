// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// All holds of a client are renewed, whatever their names are.
#include "mariadb_fixture.hpp"

namespace {

using namespace chaos;

class MariaDbRenewal : public testing::Test, protected mariadb_fixture {};

// A byte that is no UTF-8 is stored as three characters, and sent as six.
TEST_F(MariaDbRenewal, ALongNameIsRenewed) {
    client locks = client_with();
    auto lock = locks.acquire(std::string(512, '\xff'), {.ttl = 3s, .wait = patience});
    const auto first = lock.safe_until();
    ASSERT_TRUE(eventually([&] { return lock.safe_until() > first + 3s; }));
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_EQ(lock.release(), release_result::released);
}

}  // namespace
