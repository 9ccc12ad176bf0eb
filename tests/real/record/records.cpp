// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "records.hpp"

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <map>
#include <sstream>
#include <unordered_map>

namespace real {

namespace {

struct located_hold {
    std::size_t lock = 0;
    hold_record record;
};

// Of a hold: "got HOLD LOCK TOKEN INVOKED RETURNED DEADLINE MODE", then "at HOLD WHEN DEADLINE" as
// long as its holder believes in it, "refused HOLD WHEN" by the resource, "lost HOLD WHEN" for the
// report of the loss, "leave HOLD WHEN" before the release, "end HOLD WHEN RESULT" after it. Of an
// acquire: "error HOLD WHEN TEXT". The belief of a killed holder after its last line is unknown. No
// line is cut in two by a SIGKILL: each is one write.
void read_line(const std::string& line, std::unordered_map<std::uint64_t, located_hold>& holds,
               run_records& result) {
    std::istringstream fields(line);
    std::string verb;
    std::uint64_t hold = 0;
    fields >> verb >> hold;
    if (verb == "error") {
        std::string text;
        fields >> text;  // the time
        std::getline(fields >> std::ws, text);
        result.errors.push_back(text);
        return;
    }
    auto& [lock, record] = holds[hold];
    instant when = 0;
    if (verb == "got") {
        record.hold = hold;
        std::string mode;
        fields >> lock >> record.token >> record.invoked >> record.returned >> record.deadline >>
            mode;
        record.believed = record.returned;
        record.is_reader = mode == "reader";
        return;
    }
    fields >> when;
    if (verb == "at") {
        fields >> record.deadline;
        record.believed = when;
        record.believes_too_long = record.believes_too_long || when > record.deadline;
    }
    if (verb == "refused") record.refused = when;
    if (verb == "lost") record.lost = when;
    if (verb == "end") {
        record.ended = when;
        fields >> record.result;
    }
}

}  // namespace

std::string to_text(const run_records& records, instant when) {
    if (when == not_yet) return "the end";
    std::ostringstream text;
    text << std::fixed << std::setprecision(3) << static_cast<double>(when - records.begin) / 1e9
         << " s";
    return text.str();
}

std::vector<hold_record> newest_holds(const lock_records& lock, bool have_epochs) {
    std::map<std::uint64_t, hold_record> newest;  // by epoch
    for (const auto* holds : {&lock.earlier, &lock.holds})
        for (const auto& each : *holds) {
            auto& largest = newest[have_epochs ? epoch_of(each.token) : 0];
            if (each.token > largest.token) largest = each;
        }
    std::vector<hold_record> result;
    for (auto& [epoch, hold] : newest)
        if (hold.token != 0) result.push_back(std::move(hold));
    return result;
}

instant longest_gap(const lock_records& lock) {
    std::vector<instant> grants;
    for (const auto& each : lock.holds)
        grants.push_back(each.returned);
    std::ranges::sort(grants);
    instant longest = 0;
    for (std::size_t i = 1; i < grants.size(); ++i)
        longest = std::max(longest, grants[i] - grants[i - 1]);
    return longest;
}

std::string resource_path(const std::string& folder, std::size_t lock) {
    return folder + "/resource-" + std::to_string(lock);
}

std::string journal_path(const std::string& folder, std::size_t process) {
    return folder + "/" + std::to_string(process) + ".journal";
}

run_records read_records(const std::string& folder, std::size_t processes, std::size_t locks) {
    run_records result;
    result.locks.resize(locks);
    for (std::size_t i = 0; i < processes; ++i) {
        std::unordered_map<std::uint64_t, located_hold> holds;
        std::ifstream journal(journal_path(folder, i));
        for (std::string line; std::getline(journal, line);)
            read_line(line, holds, result);
        for (auto& [hold, located] : holds)
            result.locks.at(located.lock).holds.push_back(std::move(located.record));
    }
    for (std::size_t i = 0; i < locks; ++i)
        result.locks[i].accesses = resource::load(resource_path(folder, i));
    return result;
}

}  // namespace real
