// Processes of a peer and of Pawl want one lock, thousands of times.
#include "libraries.hpp"
#include "scene.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

namespace {

using namespace plain;
using support::eventually;

constexpr int enough = 2000;
constexpr int few = 50;

// What the crowd wrote: one line when a hold begins and one before it ends, in the file system's
// order.
struct testimony {
    std::map<std::string, int> holds;  // by who
    int all = 0;
    int overlaps = 0;
};

testimony read(const std::string& journal) {
    testimony told;
    std::string inside;
    std::ifstream lines(journal);
    for (std::string verb, who; lines >> verb >> who;) {
        if (verb == "in") {
            told.overlaps += inside.empty() ? 0 : 1;
            inside = who;
            ++told.all;
            ++told.holds[who];
        } else {
            told.overlaps += inside == who ? 0 : 1;
            inside.clear();
        }
    }
    return told;
}

int peers_of(testimony& told) { return told.holds["theirs0"] + told.holds["theirs1"]; }

class Crowd : public scene {
protected:
    Crowd() : journal(folder.file("journal")), stop(folder.file("stop")) { std::ofstream{journal}; }

    void begin(peer who, const std::string& called) {
        who.tell("crowd it 30000 " + journal + " " + stop + " " + called);
        crowd.push_back(std::move(who));
    }

    void end() {
        std::ofstream{stop};
        for (peer& each : crowd)
            EXPECT_EQ(each.answer(), "late 0");
    }

    support::temp_folder folder;
    std::string journal;
    std::string stop;
    std::vector<peer> crowd;
};

INSTANTIATE_TEST_SUITE_P(Plain, Crowd, testing::ValuesIn(those_that_poll()),
                         [](const auto& what) { return what.param.name; });

// No two inside at once, and neither side is left with nothing.
TEST_P(Crowd, NoTwoHoldAtOnce) {
    for (int i = 0; i < 2; ++i) {
        begin(theirs(), "theirs" + std::to_string(i));
        begin(our_process(), "ours" + std::to_string(i));
    }
    // Who polls gets what the machine's load leaves to it: that it gets something counts.
    const auto all_served = [&] {
        auto told = read(journal);
        const int peers = peers_of(told);
        return told.all >= enough && peers >= few && told.all - peers >= few;
    };
    EXPECT_TRUE(eventually(all_served, 90s));
    end();
    auto told = read(journal);
    EXPECT_EQ(told.overlaps, 0);
    std::cout << told.all << " holds, " << peers_of(told) << " by " << GetParam().name << "\n";
}

}  // namespace
