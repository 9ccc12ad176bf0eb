// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "checker.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <map>
#include <ranges>
#include <sstream>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace real {

namespace {

// The failover that allows what would break a promise otherwise; null: none does.
class evidence {
public:
    evidence(const run_records& records, std::size_t lock, verdict& result)
        : records_(records), key_(lock), result_(result) {}

    // 0 for all if the tokens have no epochs.
    [[nodiscard]] std::uint64_t epoch_of(const hold_record& hold) const {
        return records_.have_epochs ? real::epoch_of(hold.token) : 0;
    }

    // The new master need not know a hold that its predecessor granted, before or afterwards.
    [[nodiscard]] allowance* of_overlap(const hold_record& left, const hold_record& right) {
        const bool is_left_older = epoch_of(left) < epoch_of(right) ||
                                   (!records_.have_epochs && left.returned < right.returned);
        const auto& older = is_left_older ? left : right;
        const auto& newer = is_left_older ? right : left;
        return last_failover(epoch_of(older), epoch_of(newer), [&](const failover& each) {
            return each.promoted.earliest <= newer.returned && goes_on(each, older, older.invoked);
        });
    }

    // `later` was requested when `earlier` was granted already, and has the smaller epoch.
    [[nodiscard]] allowance* of_smaller_token(const hold_record& earlier,
                                              const hold_record& later) {
        return last_failover(epoch_of(later), epoch_of(earlier), [&](const failover& each) {
            return each.promoted.earliest <= earlier.returned &&
                   goes_on(each, later, later.invoked);
        });
    }

    // A replaced master that has not noticed confirms the release.
    [[nodiscard]] allowance* of_untold(const hold_record& hold) {
        return last_failover(epoch_of(hold), largest_epoch, [&](const failover& each) {
            return each.promoted.earliest <= end_of(hold) && goes_on(each, hold, hold.believed);
        });
    }

    // The new master confirms the release of the older hold. It need not know the newer one, which
    // its predecessor granted.
    [[nodiscard]] allowance* of_untold(const hold_record& older, const hold_record& newer) {
        return last_failover(epoch_of(newer), largest_epoch, [&](const failover& each) {
            return each.promoted.earliest <= end_of(older) && goes_on(each, newer, newer.invoked);
        });
    }

    // A server that forgot the older hold early helped to grant the newer one.
    [[nodiscard]] bool was_forgotten(const hold_record& older, const hold_record& newer) const {
        return std::ranges::any_of(records_.memory_losses, [&](const memory_loss& each) {
            return is_between(each, older, newer);
        });
    }

    // A reader that joins readers of older data has their token, which is below that of a writer
    // whom these data do not know.
    [[nodiscard]] bool may_have_old_token(const hold_record& reader,
                                          const hold_record& earlier) const {
        return reader.is_reader &&
               std::ranges::any_of(records_.memory_losses, [&](const memory_loss& each) {
                   return each.cause == loss_cause::older_data && is_between(each, earlier, reader);
               });
    }

private:
    static constexpr auto largest_epoch = std::numeric_limits<std::uint64_t>::max();

    static bool is_between(const memory_loss& loss, const hold_record& before,
                           const hold_record& after) {
        return before.invoked <= loss.at.latest && loss.at.earliest <= after.returned;
    }

    static instant end_of(const hold_record& hold) { return hold.ended.value_or(hold.believed); }

    // To an epoch in (after, up_to].
    template <class Condition>
    allowance* last_failover(std::uint64_t after, std::uint64_t up_to, const Condition& allows) {
        for (auto& each : result_.allowances | std::views::reverse) {
            const auto epoch = each.evidence.epoch;
            const bool is_between = !records_.have_epochs || (after < epoch && epoch <= up_to);
            if (is_between && each.evidence.keys.contains(key_) && allows(each.evidence))
                return &each;
        }
        return nullptr;
    }

    // Whether the server that granted the hold was a serving master at `when` or later.
    [[nodiscard]] bool goes_on(const failover& replacement, const hold_record& hold,
                               instant when) const {
        return records_.have_epochs ? is_served(records_.history, key_, epoch_of(hold), when)
                                    : replacement.retired.latest >= when;
    }

    const run_records& records_;
    const std::size_t key_;
    verdict& result_;
};

class lock_checker {
public:
    lock_checker(const run_records& records, std::size_t lock, verdict& result)
        : records_(records),
          number_(lock),
          lock_(records.locks[lock]),
          evidence_(records, lock, result),
          result_(result) {
        for (const auto& each : lock_.holds)
            holds_.push_back(&each);
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

    // Also when it cannot know: its process has died, or its release got no answer.
    [[nodiscard]] static bool is_told(const hold_record& hold) {
        return hold.lost.has_value() || hold.result != "released";
    }

    [[nodiscard]] static bool exclude_each_other(const hold_record& left,
                                                 const hold_record& right) {
        return !left.is_reader || !right.is_reader;
    }

    void blame(std::size_t verdict::*count, const std::string& rule,
               std::initializer_list<hold_pointer> holds) {
        ++(result_.*count);
        constexpr std::size_t enough = 10;
        if (result_.details.size() >= enough) return;
        std::ostringstream text;
        text << "lock " << number_ << ", " << rule << ":";
        for (const auto each : holds)
            text << " [" << (each->is_reader ? "reader " : "hold ") << each->hold << ", token "
                 << each->token << " of epoch " << epoch_of(each->token) << ", requested at "
                 << to_text(records_, each->invoked) << ", granted at "
                 << to_text(records_, each->returned) << ", believed until "
                 << to_text(records_, each->believed) << ", "
                 << (each->result.empty() ? "not released" : each->result)
                 << (each->ended ? " at " + to_text(records_, *each->ended) : "") << "]";
        result_.details.push_back(text.str());
    }

    // `newer`: the hold that has outdated this one; null if there is none.
    void count_untold(const hold_record& hold, hold_pointer newer) {
        auto* allowed = evidence_.of_untold(hold);
        if (allowed == nullptr && newer != nullptr) allowed = evidence_.of_untold(hold, *newer);
        if (allowed != nullptr)
            ++allowed->untold;
        else if (newer != nullptr && (evidence_.was_forgotten(hold, *newer) ||
                                      evidence_.may_have_old_token(hold, *newer)))
            ++result_.untold_by_loss;
        else if (newer != nullptr)
            blame(&verdict::untold, "not told", {newer, &hold});
        else
            blame(&verdict::untold, "not told", {&hold});
    }

    void check_holds() {
        for (const auto each : holds_) {
            ++result_.holds;
            const bool is_released = each->result.empty() || each->result == "released";
            result_.told += each->lost || !is_released ? 1 : 0;
            check_times(*each);
            result_.refused += each->refused ? 1 : 0;
            if (each->refused && !is_told(*each)) count_untold(*each, newest_before(*each));
        }
    }

    void check_times(const hold_record& hold) {
        const bool has_deadline = hold.deadline != 0;
        if (hold.believes_too_long ||
            (has_deadline && hold.believed > std::max(hold.deadline, hold.returned)))
            blame(&verdict::late_beliefs, "belief after the deadline", {&hold});
        if (has_deadline && !records_.are_stopped && hold.lost && *hold.lost > hold.deadline)
            blame(&verdict::late_losses, "loss told after the deadline", {&hold});
        if (hold.token == 0) blame(&verdict::contradictions, "no token", {&hold});
        if (hold.returned < hold.invoked || hold.believed < hold.invoked)
            blame(&verdict::contradictions, "an answer before its question", {&hold});
    }

    // The hold for which the resource refuses this one; null if its process left no record.
    [[nodiscard]] hold_pointer newest_before(const hold_record& refused) const {
        hold_pointer newest = nullptr;
        for (const auto each : holds_)
            if (each->returned <= *refused.refused && each->token > refused.token &&
                exclude_each_other(*each, refused) &&
                (newest == nullptr || newest->token < each->token))
                newest = each;
        return newest;
    }

    void check_distinct() {
        std::unordered_map<std::uint64_t, hold_pointer> tokens;
        for (const auto& each : lock_.earlier)
            tokens.emplace(each.token, &each);
        for (const auto each : holds_)
            if (const auto [earlier, is_new] = tokens.emplace(each->token, each);
                !is_new && exclude_each_other(*earlier->second, *each))
                blame(&verdict::equal_tokens, "equal tokens", {earlier->second, each});
    }

    // Each hold is compared with the largest tokens that were granted before it was requested: the
    // one of its own epoch, and those of later epochs.
    void check_order() {
        auto by_request = holds_, by_grant = holds_;
        std::ranges::sort(by_request, {}, [](hold_pointer each) { return each->invoked; });
        std::ranges::sort(by_grant, {}, [](hold_pointer each) { return each->returned; });
        std::map<std::uint64_t, hold_pointer> largest;  // by epoch
        for (const auto& each : lock_.earlier)
            largest[evidence_.epoch_of(each)] = &each;
        auto granted = by_grant.begin();
        for (const auto each : by_request) {
            for (; granted != by_grant.end() && (*granted)->returned < each->invoked; ++granted) {
                auto& newest = largest[evidence_.epoch_of(**granted)];
                if (newest == nullptr || newest->token < (*granted)->token) newest = *granted;
            }
            const auto epoch = evidence_.epoch_of(*each);
            if (const auto same = largest.find(epoch);
                same != largest.end() && same->second->token > each->token)
                count_back(*same->second, *each);
            else if (!largest.empty() && largest.rbegin()->first > epoch)
                check_replaced(*largest.rbegin()->second, *each);
        }
    }

    void count_back(const hold_record& earlier, const hold_record& later) {
        if (evidence_.may_have_old_token(later, earlier))
            ++result_.readers_back_by_loss;
        else
            blame(&verdict::tokens_back, "a token goes back", {&earlier, &later});
    }

    // The later hold has a token of an earlier epoch.
    void check_replaced(const hold_record& earlier, const hold_record& later) {
        if (auto* allowed = evidence_.of_smaller_token(earlier, later))
            ++allowed->smaller_tokens;
        else
            count_back(earlier, later);
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
                if (exclude_each_other(*earlier, *later)) count_overlap(*earlier, *later);
            open.push_back(later);
        }
    }

    void count_overlap(const hold_record& earlier, const hold_record& later) {
        if (auto* allowed = evidence_.of_overlap(earlier, later))
            ++allowed->overlaps;
        else if (later.token < earlier.token ? evidence_.was_forgotten(later, earlier)
                                             : evidence_.was_forgotten(earlier, later))
            ++result_.overlaps_by_loss;
        else
            blame(&verdict::overlaps, "overlap", {&earlier, &later});
        if (is_told(earlier) || is_told(later)) return;
        if (later.token < earlier.token)
            count_untold(later, &earlier);
        else
            count_untold(earlier, &later);
    }

    void check_accesses() {
        std::unordered_map<std::uint64_t, std::uint64_t> seen;  // the value, by hold
        access_record before;
        std::unordered_set<std::uint64_t> granted;
        for (const auto each : holds_)
            granted.insert(each->token);
        for (const auto& each : lock_.accesses) {
            if (each.hold != continued_hold && !granted.contains(each.token))
                blame(
                    &verdict::contradictions,
                    "an access with the token " + std::to_string(each.token) + ", which nobody got",
                    {});
            const auto [known, is_first] = seen.emplace(each.hold, each.value);
            if (each.kind == access::look) {
                if (!is_first && known->second != each.value) ++result_.changed_reads;
            } else {
                const bool is_write = each.kind == access::write;
                result_.writes += is_write ? 1 : 0;
                if (is_write && (is_first || known->second != before.value)) ++result_.lost_updates;
                if (each.token < least_token(each.kind, before)) ++result_.writes_back;
            }
            known->second = each.value;
            before = each;
        }
    }

    const run_records& records_;
    const std::size_t number_;
    const lock_records& lock_;
    evidence evidence_;
    verdict& result_;
    std::vector<hold_pointer> holds_;
};

// Which failovers there were, and in which faults.
std::vector<allowance> allowances_of(const run_records& records) {
    std::vector<allowance> result;
    for (auto& each : failovers_in(records.history)) {
        allowance next{.evidence = std::move(each), .fault = {}, .is_further = true};
        for (const auto& fault : records.faults) {
            if (fault.begin > next.evidence.promoted.latest ||
                next.evidence.promoted.earliest > fault.end)
                continue;
            next.fault = fault.name;
            next.is_further = std::ranges::any_of(result, [&](const allowance& earlier) {
                return earlier.evidence.promoted.latest >= fault.begin;
            });
        }
        result.push_back(std::move(next));
    }
    return result;
}

// To explain a broken promise.
std::string to_text(const run_records& records, const server_period& period) {
    const auto& state = period.state;
    std::ostringstream text;
    text << period.server << " from " << to_text(records, period.from.latest) << " to "
         << to_text(records, period.until.latest) << ": run " << state.run_id.substr(0, 8)
         << ", replication id " << state.replication_id.substr(0, 8) << ", "
         << (!state.is_master   ? "replica"
             : state.is_serving ? "master"
                                : "master that refuses writes");
    if (state.is_master) text << " with epoch " << state.epoch << ", of the locks";
    for (const auto key : state.keys)
        text << " " << key;
    return text.str();
}

}  // namespace

verdict check(const run_records& records) {
    verdict result;
    result.allowances = allowances_of(records);
    for (std::size_t i = 0; i < records.locks.size(); ++i)
        lock_checker(records, i, result).check();
    if (result.details.empty()) return result;
    for (const auto& each : records.faults)
        result.details.push_back("fault " + each.name + " from " + to_text(records, each.begin) +
                                 " to " + to_text(records, each.end));
    for (const auto& each : records.memory_losses)
        result.details.push_back(each.server +
                                 (each.cause == loss_cause::older_data
                                      ? " had got older data at "
                                      : "'s clock had jumped at ") +
                                 to_text(records, each.at.latest));
    for (const auto& each : records.history)
        result.details.push_back(to_text(records, each));
    return result;
}

}  // namespace real
