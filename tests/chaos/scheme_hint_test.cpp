// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A port with TLS, or without it, where the URL says the opposite: the hint names the words of that
// URL.
#include "redis_fixture.hpp"

#include <support/redlock_group.hpp>

#include <gmock/gmock.h>

namespace {

using namespace chaos;
using testing::HasSubstr;

TEST(SchemeHint, OfRedlockNamesItsSchemes) {
    support::redlock_group group(3);
    client locks(pawl::from_url("redlocks" + group.url("?connect_timeout=1200").substr(7)));
    try {
        (void)locks.acquire("it", {.ttl = 2s, .wait = 4s});
        ADD_FAILURE() << "granted";
    } catch (const pawl::error& e) {
        EXPECT_THAT(e.what(), HasSubstr("redlock in place of redlocks"));
    }
}

}  // namespace
