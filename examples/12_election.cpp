// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An election: one leader at a time, increasing terms, and an observer. Usage: 12_election [URL]
#include <pawl/blocking/election.hpp>

#include <iostream>
#include <thread>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
    const auto service = pawl::from_url(argc > 1 ? argv[1] : "memory:");
    pawl::fencing_token last;
    bool forward = true;
    const auto candidate = [&](const char* name) {
        pawl::blocking::client locks(service, {.command = name});
        pawl::blocking::election election(locks, "leader", {.ttl = 10s});
        for (int i = 0; i < 3; ++i) {
            auto term = election.campaign(1min);
            forward = forward && term.token() > last;  // only the leader runs this
            last = term.token();
            std::cout << name << " leads in term " << term.token() << std::endl;
            (void)term.release();  // resigns; a term also ends when term.lost() fires
        }
    };
    {
        pawl::blocking::client locks(service, {.command = "carl"});
        pawl::blocking::election election(locks, "leader", {.ttl = 10s});
        auto term = election.campaign();
        const std::jthread anna(candidate, "anna"), bert(candidate, "bert");
        pawl::blocking::client observer(service);
        const auto change = pawl::blocking::election(observer, "leader").wait_change();
        std::cout << "seen: " << change.held_by->command << '\n';
        last = term.token();
        (void)term.release();
    }
    return forward ? 0 : 1;
}
