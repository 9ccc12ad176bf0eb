// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "storm.hpp"

#include "peer.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace interop {
namespace {

struct hold {
    std::string owner;
    std::string name;
    std::string mode;
    int count = 0;
    std::int64_t first = 0;  // the belief, of which both ends were within the lease
    std::int64_t last = 0;
    bool leaving = false;
    bool ended = false;
};

// The belief of one process is only as long as its clock readings: what it did between the last one
// and its death is unknown.
// Between the last proof of a hold and the first proof of a violation.
void add_violation(storm_verdict& verdict, const excused_time& excused, std::int64_t from,
                   std::int64_t to, std::string message) {
    if (to >= excused.from && from <= excused.to)
        ++verdict.excused_violations;
    else
        verdict.violations.push_back(std::move(message));
}

void read_journal(const std::filesystem::path& path, std::vector<hold>& all,
                  const excused_time& excused, storm_verdict& verdict) {
    std::map<std::string, hold> holds;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream arguments(line);
        std::string verb, key;
        arguments >> verb >> key;
        hold& each = holds[key];
        if (verb == "take") {
            each.owner = path.stem().string() + "/" + key;
            arguments >> each.name >> each.mode >> each.count;
        } else if (verb == "at") {
            arguments >> each.last;
            if (each.first == 0) each.first = each.last;
        } else if (verb == "leave") {
            each.leaving = true;
        } else if (verb == "left" || verb == "gone") {
            each.ended = true;
        } else if (verb == "robbed") {
            std::int64_t until = 0;
            arguments >> until;
            add_violation(verdict, excused, each.last, until,
                          path.stem().string() + " lost a hold that nobody may end: " + line);
        }
    }
    for (auto& [key, each] : holds)
        all.push_back(std::move(each));
}

struct step {
    std::int64_t at;
    int change;
    const hold* hold_of;
};

struct active_holds {
    int exclusive = 0;
    int readers = 0;
    int permits = 0;

    void apply(const hold& each, int sign) {
        (each.mode == "shared"    ? readers
         : each.mode == "permits" ? permits
                                  : exclusive) += sign * each.count;
    }
    [[nodiscard]] bool is_allowed(const std::string& name) const {
        const int limit = name == "semaphore" ? semaphore_permits : interop::permits;
        return exclusive <= 1 && (exclusive == 0 || readers == 0) && permits <= limit;
    }
};

void check_object(const std::string& name, const std::vector<const hold*>& holds,
                  const excused_time& excused, storm_verdict& verdict) {
    std::vector<step> steps;
    for (const hold* each : holds) {
        steps.push_back({each->first, 1, each});
        steps.push_back({each->last, -1, each});
    }
    std::sort(steps.begin(), steps.end(), [](const step& a, const step& b) {
        return a.at != b.at ? a.at < b.at : a.change > b.change;
    });
    active_holds active;
    std::vector<const hold*> inside;
    std::int64_t left_at = steps.empty() ? 0 : steps.front().at;
    auto& object = verdict.objects[name];
    for (const step& each : steps) {
        if (each.change > 0 && inside.empty())
            object.longest_gap = std::max(object.longest_gap, each.at - left_at);
        active.apply(*each.hold_of, each.change);
        if (each.change > 0)
            inside.push_back(each.hold_of);
        else
            std::erase(inside, each.hold_of);
        left_at = each.at;
        if (each.change < 0 || active.is_allowed(name)) continue;
        std::string all;
        for (const hold* other : inside)
            all += " " + other->owner + " (" + other->mode + ")";
        add_violation(verdict, excused, each.at, each.at,
                      name + " was held by too many at " + std::to_string(each.at) + ":" + all);
    }
}

}  // namespace

storm_verdict check_storm(const std::string& folder, const excused_time& excused,
                          std::int64_t since) {
    storm_verdict verdict;
    std::vector<hold> all;
    for (const auto& each : std::filesystem::directory_iterator(folder))
        if (each.path().extension() == ".journal") read_journal(each.path(), all, excused, verdict);
    std::map<std::string, std::vector<const hold*>> by_name;
    for (const hold& each : all) {
        const bool unleased = each.name == "semaphore" && !each.ended;
        if (unleased) verdict.perhaps_lost += each.count;
        if (unleased && each.first != 0 && !each.leaving) verdict.surely_lost += each.count;
        if (each.first == 0) continue;
        by_name[each.name].push_back(&each);
        if (each.first <= since) continue;
        auto& object = verdict.objects[each.name];
        ++(each.owner.find("java") != std::string::npos ? object.by_java : object.by_pawl);
    }
    for (const auto& [name, holds] : by_name)
        check_object(name, holds, excused, verdict);
    return verdict;
}

}  // namespace interop
