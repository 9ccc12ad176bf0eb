// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "checker.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <sstream>
#include <unordered_map>
#include <vector>

namespace proofs {

namespace {

// A holder may be in the middle of its lease when its server is replaced.
constexpr instant longest_lease = 6'000'000'000;

class lock_checker {
public:
    lock_checker(const lock_records& lock, const std::vector<fault_record>& faults,
                 const std::function<std::uint64_t(std::uint64_t)>& epoch_of, verdict& result)
        : lock_(lock), faults_(faults), epoch_of_(epoch_of), result_(result) {
        for (const auto& each : lock.holds)
            if (each.token != 0) holds_.push_back(&each);
    }

    void check() {
        check_holds();
        check_distinct();
        check_order();
        check_overlaps();
        check_accesses();
    }

private:
    using hold_pointer = const hold_record*;

    [[nodiscard]] bool may(bool consequences::*effect, instant when, instant grace) const {
        return std::ranges::any_of(faults_, [&](const fault_record& each) {
            return each.can.*effect && each.begin <= when && when <= each.end + grace;
        });
    }

    // Also when it cannot know: its process has died, or its release got no answer.
    [[nodiscard]] static bool is_told(const hold_record& hold) {
        return hold.lost.has_value() || hold.result != "released";
    }

    void blame(std::size_t verdict::*count, const char* rule,
               std::initializer_list<hold_pointer> holds) {
        ++(result_.*count);
        constexpr std::size_t enough = 10;
        if (result_.details.size() >= enough) return;
        std::ostringstream text;
        text << rule << ":";
        for (const auto each : holds)
            text << " [hold " << each->hold << ", token " << each->token << " of epoch "
                 << epoch_of_(each->token) << ", requested " << each->invoked << ", granted "
                 << each->returned << ", believed until " << each->believed << ", "
                 << (each->result.empty() ? "not released" : each->result) << "]";
        result_.details.push_back(text.str());
    }

    void count_untold(instant when, std::initializer_list<hold_pointer> holds) {
        if (may(&consequences::two_servers_grant, when, longest_lease))
            ++result_.allowed_untold;
        else
            blame(&verdict::untold, "not told", holds);
    }

    void check_holds() {
        for (const auto each : holds_) {
            ++result_.holds;
            const bool is_released = each->result.empty() || each->result == "released";
            result_.told += each->lost || !is_released ? 1 : 0;
            if (each->believes_too_long)
                blame(&verdict::late_beliefs, "belief after the deadline", {each});
            result_.refused += each->was_refused ? 1 : 0;
            if (each->was_refused && !is_told(*each)) count_untold(each->believed, {each});
        }
    }

    void check_distinct() {
        std::unordered_map<std::uint64_t, hold_pointer> tokens;
        for (const auto each : holds_)
            if (const auto [earlier, is_new] = tokens.emplace(each->token, each); !is_new)
                blame(&verdict::equal_tokens, "equal tokens", {earlier->second, each});
    }

    // Each hold is compared with the largest tokens that were granted before it was requested: the
    // one of its own epoch, and those of later epochs.
    void check_order() {
        auto by_request = holds_, by_grant = holds_;
        std::ranges::sort(by_request, {}, [](hold_pointer each) { return each->invoked; });
        std::ranges::sort(by_grant, {}, [](hold_pointer each) { return each->returned; });
        std::map<std::uint64_t, hold_pointer> largest;  // by epoch
        auto granted = by_grant.begin();
        for (const auto each : by_request) {
            for (; granted != by_grant.end() && (*granted)->returned < each->invoked; ++granted) {
                auto& newest = largest[epoch_of_((*granted)->token)];
                if (newest == nullptr || newest->token < (*granted)->token) newest = *granted;
            }
            const auto epoch = epoch_of_(each->token);
            if (const auto same = largest.find(epoch);
                same != largest.end() && same->second->token > each->token)
                blame(&verdict::tokens_back, "a token goes back", {same->second, each});
            else if (!largest.empty() && largest.rbegin()->first > epoch)
                check_replaced(*largest.rbegin()->second, *each);
        }
    }

    // The later hold has a token of an earlier epoch.
    void check_replaced(const hold_record& earlier, const hold_record& later) {
        if (may(&consequences::two_servers_grant, later.returned, 0))
            ++result_.allowed_tokens_back;
        else
            blame(&verdict::tokens_back, "a token goes back", {&earlier, &later});
    }

    void check_overlaps() {
        auto by_grant = holds_;
        std::ranges::sort(by_grant, {}, [](hold_pointer each) { return each->returned; });
        std::vector<hold_pointer> open;
        for (const auto later : by_grant) {
            std::erase_if(open,
                          [&](hold_pointer each) { return each->believed <= later->returned; });
            if (later->believed <= later->returned) continue;  // it was never believed in
            for (const auto earlier : open)
                count_overlap(*earlier, *later);
            open.push_back(later);
        }
    }

    void count_overlap(const hold_record& earlier, const hold_record& later) {
        const auto first = epoch_of_(earlier.token), second = epoch_of_(later.token);
        const bool one_epoch = first == second && first != 0;
        const bool allowed =
            !one_epoch && may(&consequences::forgets_holds, later.returned, longest_lease);
        if (allowed)
            ++result_.allowed_overlaps;
        else
            blame(&verdict::overlaps, "overlap", {&earlier, &later});
        if (!is_told(earlier) && !is_told(later)) count_untold(later.returned, {&earlier, &later});
    }

    void check_accesses() {
        std::unordered_map<std::uint64_t, std::uint64_t> seen;  // the value, by hold
        access_record before;
        for (const auto& each : lock_.accesses) {
            const bool is_write = each.kind == access::write;
            result_.writes += is_write ? 1 : 0;
            if (is_write && seen[each.hold] != before.value) ++result_.lost_updates;
            if (each.token < before.largest_token) ++result_.writes_back;
            seen[each.hold] = each.value;
            before = each;
        }
    }

    const lock_records& lock_;
    const std::vector<fault_record>& faults_;
    const std::function<std::uint64_t(std::uint64_t)>& epoch_of_;
    verdict& result_;
    std::vector<hold_pointer> holds_;
};

}  // namespace

verdict check(const run_records& records,
              const std::function<std::uint64_t(std::uint64_t token)>& epoch_of) {
    verdict result;
    for (const auto& each : records.locks)
        lock_checker(each, records.faults, epoch_of, result).check();
    if (!result.details.empty())
        for (const auto& each : records.faults)
            result.details.push_back("fault " + each.name + " from " + std::to_string(each.begin) +
                                     " to " + std::to_string(each.end));
    return result;
}

}  // namespace proofs
