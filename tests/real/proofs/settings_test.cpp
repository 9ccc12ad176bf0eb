// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The command line is read or refused with a sentence, and the report has what a reader needs.
#include "settings.hpp"
#include "report.hpp"

#include <real/servers/environments.hpp>

#include <gtest/gtest.h>

namespace real::proofs {
namespace {

std::string refusal_of(const std::vector<std::string>& arguments) {
    try {
        (void)parse_settings(arguments);
    } catch (const bad_usage& problem) {
        return problem.what();
    }
    return "";
}

TEST(ProofSettings, AreReadOrRefusedWithASentence) {
    const auto options = parse_settings({"--for", "5min", "--on", "cluster", "--fencing", "naive",
                                         "--faults", "crash,slot", "--clients", "8"});
    EXPECT_EQ(options.length, std::chrono::minutes(5));
    EXPECT_EQ(options.environments, std::vector<std::string>{"cluster"});
    EXPECT_EQ(options.modes, std::vector<fencing>{fencing::naive});
    EXPECT_EQ(options.faults, (std::vector<std::string>{"crash", "slot"}));
    EXPECT_EQ(options.clients, 8U);
    EXPECT_EQ(parse_settings({}).modes.size(), 3U);
    EXPECT_EQ(refusal_of({"--clients", "0"}), "'0' is no number of --clients; use 1 to 64.");
    EXPECT_EQ(refusal_of({"--clients", "many"}), "'many' is no number of --clients; use 1 to 64.");
    EXPECT_EQ(refusal_of({"--for", "soon"}), "'soon' is no time for --for; use 90s, 5min or 1h.");
    EXPECT_EQ(refusal_of({"--on", "moon"}),
              "There is no --on 'moon'; there are: " + listed(names_of(environments())) + ".");
    EXPECT_EQ(refusal_of({"--fencing", "some"}),
              "There is no --fencing 'some'; use on, off or naive.");
    EXPECT_EQ(refusal_of({"--seed"}), "The option --seed needs a value; --help has the values.");
    EXPECT_EQ(refusal_of({"--sed", "1"}), "There is no option '--sed'; --help lists the options.");
}

// A build may lack databases, whose faults are the last ones in the list.
TEST(ProofSettings, AnUnknownFaultIsRefusedWithTheList) {
    const auto refusal = refusal_of({"--faults", "pause,crush"});
    EXPECT_EQ(refusal.find("There is no fault 'crush'; there are: crash, pause"), 0U) << refusal;
    for (const auto& each : environments())
        EXPECT_NE(refusal.find("; on " + each.name + " also "), std::string::npos) << refusal;
    EXPECT_NE(refusal.find("flush, old-data, roll-back, clock, two-servers, "
                           "mixed, forget-majority, forget-all; on redlock-sentinel also"),
              std::string::npos)
        << refusal;
    EXPECT_EQ(refusal_of({"--faults", "crash,"}), "");
    EXPECT_EQ(refusal_of({"--faults", "slot"}), "");
    EXPECT_EQ(refusal_of({"--faults", "slot", "--on", "sentinel"}),
              "The fault 'slot' needs --on cluster.");
}

run_result result_of_run() {
    return {.environment = "sentinel",
            .faults = {{"crash", 2}, {"skew", 0}},
            .obstacles = {{"partition", "network namespaces need <root> & more"}},
            .evidence = {"3.000 s: failover of a to b"}};
}

TEST(ProofReport, SaysWhichFailoversThereWereAndWhichFaultsWereNot) {
    EXPECT_EQ(remarks(result_of_run()),
              (std::vector<std::string>{
                  "fencing on, 3.000 s: failover of a to b.",
                  "fencing on: the fault 'partition' was not run: network namespaces need <root> & "
                  "more.",
                  "fencing on: the fault 'skew' was not reached in the time of --for; use a longer "
                  "one."}));
}

TEST(ProofReport, ThePageHasTheTableTheRemarksAndTheComplaints) {
    auto result = result_of_run();
    result.outcome.lost_updates = 3;
    const auto page = html_page(html_section({result}));
    for (const auto* part :
         {"<!DOCTYPE html>", "<th scope=\"row\">sentinel</th><th>fencing</th>",
          "<th scope=\"row\">lost updates</th><td>3</td>",
          "<li>fencing on, 3.000 s: failover of a to b.</li>", "&lt;root> &amp; more",
          "A promise is broken: 3 lost updates (sentinel, fencing on).</p>"})
        EXPECT_NE(page.find(part), std::string::npos) << part << " is missing in\n" << page;
}

}  // namespace
}  // namespace real::proofs
