#include "storm.hpp"

#include "peer.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace interop {
namespace {

struct hold {
    std::string who;
    std::string name;
    std::string mode;
    int count = 0;
    std::int64_t first = 0;  // the belief, of which both ends were within the lease
    std::int64_t last = 0;
    bool leaving = false;
    bool ended = false;
};

// The belief of one process is only as long as its clock readings: what it did after the last,
// before it was killed, nobody knows.
void read_journal(const std::filesystem::path& path, std::vector<hold>& all,
                  std::vector<std::string>& wrongs) {
    std::map<std::string, hold> holds;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string verb, key;
        words >> verb >> key;
        hold& each = holds[key];
        if (verb == "take") {
            each.who = path.stem().string() + "/" + key;
            words >> each.name >> each.mode >> each.count;
        } else if (verb == "at") {
            words >> each.last;
            if (each.first == 0) each.first = each.last;
        } else if (verb == "leave") {
            each.leaving = true;
        } else if (verb == "left" || verb == "gone") {
            each.ended = true;
        } else if (verb == "robbed") {
            wrongs.push_back(path.stem().string() + " lost a hold that nobody may end: " + line);
        }
    }
    for (auto& [key, each] : holds)
        all.push_back(std::move(each));
}

struct step {
    std::int64_t when;
    int change;
    const hold* of;
};

struct crowd {
    int exclusive = 0;
    int readers = 0;
    int permits = 0;

    void add(const hold& each, int sign) {
        (each.mode == "shared"    ? readers
         : each.mode == "permits" ? permits
                                  : exclusive) += sign * each.count;
    }
    [[nodiscard]] bool is_right(const std::string& name) const {
        const int limit = name == "semaphore" ? semaphore_permits : interop::permits;
        return exclusive <= 1 && (exclusive == 0 || readers == 0) && permits <= limit;
    }
};

void sweep(const std::string& name, const std::vector<const hold*>& holds, storm_verdict& verdict) {
    std::vector<step> steps;
    for (const hold* each : holds) {
        steps.push_back({each->first, 1, each});
        steps.push_back({each->last, -1, each});
    }
    std::sort(steps.begin(), steps.end(), [](const step& a, const step& b) {
        return a.when != b.when ? a.when < b.when : a.change > b.change;
    });
    crowd now;
    std::vector<const hold*> inside;
    std::int64_t left_at = steps.empty() ? 0 : steps.front().when;
    auto& object = verdict.objects[name];
    for (const step& each : steps) {
        if (each.change > 0 && inside.empty())
            object.longest_gap = std::max(object.longest_gap, each.when - left_at);
        now.add(*each.of, each.change);
        if (each.change > 0)
            inside.push_back(each.of);
        else
            std::erase(inside, each.of);
        left_at = each.when;
        if (each.change < 0 || now.is_right(name)) continue;
        std::string all;
        for (const hold* other : inside)
            all += " " + other->who + " (" + other->mode + ")";
        verdict.wrongs.push_back(name + " was held by too many at " + std::to_string(each.when) +
                                 ":" + all);
    }
}

}  // namespace

storm_verdict judge_storm(const std::string& folder) {
    storm_verdict verdict;
    std::vector<hold> all;
    for (const auto& each : std::filesystem::directory_iterator(folder))
        if (each.path().extension() == ".journal") read_journal(each.path(), all, verdict.wrongs);
    std::map<std::string, std::vector<const hold*>> by_name;
    for (const hold& each : all) {
        const bool unleased = each.name == "semaphore" && !each.ended;
        if (unleased) verdict.perhaps_lost += each.count;
        if (unleased && each.first != 0 && !each.leaving) verdict.surely_lost += each.count;
        if (each.first == 0) continue;
        by_name[each.name].push_back(&each);
        auto& object = verdict.objects[each.name];
        ++(each.who.find("java") != std::string::npos ? object.by_java : object.by_pawl);
    }
    for (const auto& [name, holds] : by_name)
        sweep(name, holds, verdict);
    return verdict;
}

}  // namespace interop
