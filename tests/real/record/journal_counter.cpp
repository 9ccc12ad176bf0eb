// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "journal_counter.hpp"

#include "records.hpp"

#include <fstream>

namespace real {

const journal_counts& journal_counter::update(std::size_t processes) {
    positions_.resize(processes);
    for (std::size_t i = 0; i < processes; ++i)
        read(i);
    return counts_;
}

void journal_counter::read(std::size_t process) {
    std::ifstream journal(journal_path(folder_, process));
    if (!journal) return;
    journal.seekg(static_cast<std::streamoff>(positions_[process]));
    // A line without its end is counted the next time.
    for (std::string line; std::getline(journal, line) && !journal.eof();) {
        positions_[process] += line.size() + 1;
        count(line);
    }
}

void journal_counter::count(const std::string& line) {
    const auto verb = line.substr(0, line.find(' '));
    if (verb == "got") ++counts_.holds;
    if (verb == "lost") ++counts_.losses;
    if (verb == "refused") ++counts_.refused;
    if (verb == "error") ++counts_.errors;
}

}  // namespace real
