// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Processes of a peer and of Pawl contend for one lock, thousands of times.
#include "libraries.hpp"
#include "library_fixture.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

namespace {

using namespace plain;
using support::eventually;

constexpr int enough = 2000;
constexpr int few = 50;

// The record of all processes: one line when a hold begins and one before it ends, in the file
// system's order.
struct crowd_record {
    std::map<std::string, int> holds;  // by holder
    int total_holds = 0;
    int overlaps = 0;
};

crowd_record read_journal(const std::string& journal) {
    crowd_record record;
    std::string inside;
    std::ifstream lines(journal);
    for (std::string verb, holder; lines >> verb >> holder;) {
        if (verb == "in") {
            record.overlaps += inside.empty() ? 0 : 1;
            inside = holder;
            ++record.total_holds;
            ++record.holds[holder];
        } else {
            record.overlaps += inside == holder ? 0 : 1;
            inside.clear();
        }
    }
    return record;
}

int peer_holds(crowd_record& record) { return record.holds["theirs0"] + record.holds["theirs1"]; }

class Crowd : public library_fixture {
protected:
    Crowd() : journal(folder.file("journal")), stop(folder.file("stop")) { std::ofstream{journal}; }

    void start_peer(peer process, const std::string& called) {
        process.send("crowd it 30000 " + journal + " " + stop + " " + called);
        processes.push_back(std::move(process));
    }

    void stop_peers() {
        std::ofstream{stop};
        for (peer& each : processes)
            EXPECT_EQ(each.read_reply(), "late 0");
    }

    support::temp_folder folder;
    std::string journal;
    std::string stop;
    std::vector<peer> processes;
};

INSTANTIATE_TEST_SUITE_P(Plain, Crowd, testing::ValuesIn(polling_libraries()),
                         [](const auto& parameter) { return parameter.param.name; });

// Holds never overlap, and neither side is left with nothing.
TEST_P(Crowd, NoTwoHoldAtOnce) {
    for (int i = 0; i < 2; ++i) {
        start_peer(other_library(), "theirs" + std::to_string(i));
        start_peer(own_process(), "ours" + std::to_string(i));
    }
    // A polling peer gets what the machine's load leaves to it: it must get at least one hold.
    const auto all_served = [&] {
        auto record = read_journal(journal);
        const int peers = peer_holds(record);
        return record.total_holds >= enough && peers >= few && record.total_holds - peers >= few;
    };
    EXPECT_TRUE(eventually(all_served, 90s));
    stop_peers();
    auto record = read_journal(journal);
    EXPECT_EQ(record.overlaps, 0);
    std::cout << record.total_holds << " holds, " << peer_holds(record) << " by " << GetParam().name
              << "\n";
}

}  // namespace
