// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The command with scripts=no, on a server whose user may run no script.
#include "command.hpp"

#include <support/redis_server.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace cli_test;
using testing::HasSubstr;

class ScriptlessCommand : public testing::Test {
protected:
    // Throws "NOT RUN: …" without a server that has SET with IFEQ: ctest knows these words.
    support::redis_server server{
        {.config = {"user default on nopass ~* &* +@all -eval -evalsha -evalsha_ro -eval_ro"},
         .program = support::conditional_set_program()}};
    const test_sandbox scriptless{server.url("?scripts=no")};
    const test_sandbox ordinary{server.url()};
};

TEST_F(ScriptlessCommand, RunsAndShowsALock) {
    const auto first = scriptless.start({"run", "it", "--", "sleep", "600"});
    ASSERT_TRUE(support::eventually([&] { return server.keys().size() == 2U; })) << first->err();
    EXPECT_EQ(scriptless.run({"run", "--wait", "0", "it", "--", "true"}).code, 75);
    EXPECT_THAT(scriptless.run({"ls"}).out, HasSubstr("it"));
    EXPECT_THAT(scriptless.run({"status", "it"}).out, HasSubstr("'it' is held"));
    EXPECT_EQ(scriptless.run({"release", "--force", "--yes", "it"}).code, 0);
    EXPECT_EQ(scriptless.run({"run", "it", "--", "true"}).code, 0);
    const auto reading = scriptless.run({"run", "--shared", "it", "--", "true"});
    EXPECT_THAT(reading.err, HasSubstr("leave scripts=no out of the URL"));
}

TEST_F(ScriptlessCommand, IsNamedWhereScriptsAreRefused) {
    const auto refused = ordinary.run({"run", "it", "--", "true"});
    EXPECT_NE(refused.code, 0);
    EXPECT_THAT(refused.err, HasSubstr("add scripts=no to the URL"));
    const auto doctor = ordinary.run({"doctor"});
    EXPECT_NE(doctor.code, 0);
    EXPECT_THAT(doctor.out, HasSubstr("scripts=no"));
    const auto examined = scriptless.run({"doctor"});
    EXPECT_THAT(examined.out, HasSubstr("SET with IFEQ"));
}

}  // namespace
