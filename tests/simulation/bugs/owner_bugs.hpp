// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Injected bugs of owners: the owners of a program's requests differ in a small number that soon
// repeats, such as the last digit of an attempt's number. Without such a bug, nothing is changed.
#pragma once

#include "injected_bug.hpp"

#include <map>
#include <string>
#include <vector>

namespace pawl::simulation {

class owner_bugs {
public:
    // `channel`: the client's own.
    owner_bugs(injected_bug bug, const std::string& channel) : bug_(bug), channel_(channel) {}

    // In a command that the client sends.
    void replace_owners(std::vector<std::string>& command);
    // In a message that the client receives.
    void restore_owners(std::string& message) const;

private:
    const injected_bug bug_;
    const std::string channel_;
    std::map<std::string, std::string> replacements_;  // by owner
    std::map<std::string, std::string> owners_;        // by replacement
    int next_ = 0;
};

}  // namespace pawl::simulation
