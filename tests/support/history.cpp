#include "history.hpp"

#include <algorithm>
#include <limits>
#include <unordered_set>

namespace support {

namespace {

using holds_in_order = std::vector<const hold_record*>;

std::string shown(const hold_record& of) {
    return "token " + std::to_string(of.token) + " of " + (of.who.empty() ? "somebody" : of.who) +
           " [" + std::to_string(of.invoked) + ", " + std::to_string(of.returned) + ", " +
           std::to_string(of.ended) + "]";
}

template <class Key>
holds_in_order sorted_by(const history& of, Key key) {
    holds_in_order result;
    for (const hold_record& each : of.holds)
        result.push_back(&each);
    std::stable_sort(result.begin(), result.end(),
                     [&](const hold_record* a, const hold_record* b) { return key(*a) < key(*b); });
    return result;
}

void check_each(const history& of, std::vector<violation>& found) {
    for (const hold_record& each : of.holds) {
        if (each.token == 0) found.push_back({"C6", "no token: " + shown(each)});
        if (each.returned < each.invoked || each.ended < each.invoked)
            found.push_back({"C6", "ends before it begins: " + shown(each)});
        if (each.lost && *each.lost > each.deadline)
            found.push_back({"C5", "loss told " + std::to_string(*each.lost - each.deadline) +
                                       " ns after the deadline: " + shown(each)});
        if (each.ended > std::max(each.deadline, each.returned))
            found.push_back({"C5", "belief beyond the deadline: " + shown(each)});
    }
}

void check_tokens(const history& of, std::vector<violation>& found) {
    const auto by_token = sorted_by(of, [](const hold_record& each) { return each.token; });
    for (std::size_t i = 1; i < by_token.size(); ++i)
        if (by_token[i]->token == by_token[i - 1]->token)
            found.push_back({"C1", shown(*by_token[i - 1]) + " and " + shown(*by_token[i])});
    // From the largest token down: the earliest return among the larger ones.
    instant earliest = std::numeric_limits<instant>::max();
    const hold_record* earliest_of = nullptr;
    for (std::size_t i = by_token.size(); i-- > 0;) {
        const hold_record& here = *by_token[i];
        if (earliest < here.invoked)
            found.push_back({"C2", shown(*earliest_of) + " was over before " + shown(here) +
                                       " began, and has the larger token"});
        if (here.returned < earliest) {
            earliest = here.returned;
            earliest_of = &here;
        }
    }
}

void check_belief(const history& of, std::vector<violation>& found) {
    const auto by_start = sorted_by(of, [](const hold_record& each) { return each.returned; });
    const hold_record* longest = nullptr;
    for (const hold_record* each : by_start) {
        // Lost before it was handed out: nobody believed.
        if (each->ended <= each->returned) continue;
        if (longest != nullptr && each->returned < longest->ended)
            found.push_back({"C3", shown(*longest) + " and " + shown(*each)});
        if (longest == nullptr || each->ended > longest->ended) longest = each;
    }
}

void check_writes(const history& of, std::vector<violation>& found) {
    std::unordered_set<std::uint64_t> given;
    for (const hold_record& each : of.holds)
        given.insert(each.token);
    std::uint64_t newest = 0;
    for (const write_record& each : of.writes) {
        if (each.token < newest)
            found.push_back({"C4", "a write with token " + std::to_string(each.token) +
                                       " after one with " + std::to_string(newest)});
        if (!given.contains(each.token))
            found.push_back(
                {"C4", "a write with token " + std::to_string(each.token) + ", which nobody got"});
        newest = std::max(newest, each.token);
    }
}

}  // namespace

std::vector<violation> check(const history& of) {
    std::vector<violation> found;
    check_each(of, found);
    check_tokens(of, found);
    check_belief(of, found);
    check_writes(of, found);
    return found;
}

instant longest_gap(const history& of) {
    const auto by_start = sorted_by(of, [](const hold_record& each) { return each.returned; });
    instant longest = 0;
    for (std::size_t i = 1; i < by_start.size(); ++i)
        longest = std::max(longest, by_start[i]->returned - by_start[i - 1]->returned);
    return longest;
}

}  // namespace support
