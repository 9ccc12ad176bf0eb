// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "crowd.hpp"

#include <support/eventually.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <utility>

namespace plain {

using namespace std::chrono_literals;

crowd::crowd() { std::ofstream{journal_}; }

// A holder's name ends with its number.
void crowd::start(peer process, const std::string& side, int ttl_ms) {
    process.send("crowd it " + std::to_string(ttl_ms) + " " + journal_ + " " + stop_ + " " + side +
                 std::to_string(processes_.size()));
    processes_.push_back(std::move(process));
}

crowd::record crowd::read_journal() const {
    record result;
    std::string inside;
    std::ifstream lines(journal_);
    for (std::string verb, holder; lines >> verb >> holder;) {
        if (verb == "in") {
            result.overlaps += inside.empty() ? 0 : 1;
            inside = holder;
            ++result.holds[holder.substr(0, holder.find_first_of("0123456789"))];
        } else {
            result.overlaps += inside == holder ? 0 : 1;
            inside.clear();
        }
    }
    return result;
}

bool crowd::has_held(int total, int each) const {
    const auto all_served = [&] {
        auto held = read_journal().holds;
        return held["ours"] + held["theirs"] >= total && held["ours"] >= each &&
               held["theirs"] >= each;
    };
    return support::eventually(all_served, 90s);
}

void crowd::end() {
    std::ofstream{stop_};
    for (peer& each : processes_)
        EXPECT_EQ(each.read_reply(), "late 0");
    EXPECT_EQ(read_journal().overlaps, 0);
}

std::string crowd::summary(const std::string& library_name) const {
    auto held = read_journal().holds;
    return std::to_string(held["ours"] + held["theirs"]) + " holds, " +
           std::to_string(held["theirs"]) + " by " + library_name;
}

}  // namespace plain
