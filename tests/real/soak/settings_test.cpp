// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The command line is read or refused with a sentence.
#include "settings.hpp"

#include <real/servers/environments.hpp>

#include <gtest/gtest.h>

namespace real::soak {
namespace {

std::string refusal_of(const std::vector<std::string>& arguments) {
    try {
        (void)parse_settings(arguments);
    } catch (const bad_usage& problem) {
        return problem.what();
    }
    return "";
}

TEST(SoakSettings, AreReadOrRefusedWithASentence) {
    const auto options =
        parse_settings({"--for", "8h", "--on", "sqlite,memory", "--round", "5min", "--every", "30s",
                        "--fencing", "off", "--seed", "7", "--first-failure"});
    EXPECT_EQ(options.length, std::chrono::hours(8));
    EXPECT_EQ(options.environments, (std::vector<std::string>{"sqlite", "memory"}));
    EXPECT_EQ(options.round, std::chrono::minutes(5));
    EXPECT_EQ(options.line_interval, std::chrono::seconds(30));
    EXPECT_FALSE(options.checks_tokens);
    EXPECT_EQ(options.seed, 7U);
    EXPECT_TRUE(options.ends_at_failure);
    EXPECT_EQ(refusal_of({"--for", "soon"}), "'soon' is no time for --for; use 90s, 5min or 1h.");
    EXPECT_EQ(refusal_of({"--round", "0s"}), "'0s' is no time for --round; use 90s, 5min or 1h.");
    EXPECT_EQ(refusal_of({"--on", "redis,moon"}),
              "There is no --on 'moon'; there are: " + listed(names_of(soak_environments())) + ".");
    EXPECT_EQ(refusal_of({"--fencing", "naive"}), "There is no --fencing 'naive'; use on or off.");
    EXPECT_EQ(refusal_of({"--seed"}), "The option --seed needs a value; --help has the values.");
    EXPECT_EQ(refusal_of({"--faults", "crash"}),
              "There is no option '--faults'; --help lists the options.");
}

TEST(SoakSettings, TheChosenEnvironmentsAreRunInTheOrderOfTheList) {
    std::vector<std::string> notes;
    EXPECT_EQ(names_of(chosen_environments({"memory", "redis"}, notes)),
              (std::vector<std::string>{"redis", "memory"}));
    EXPECT_TRUE(notes.empty());
    EXPECT_EQ(chosen_environments({}, notes).size() + notes.size(), soak_environments().size());
}

}  // namespace
}  // namespace real::soak
