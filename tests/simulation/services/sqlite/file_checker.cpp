// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "file_checker.hpp"

#include "core/util/clock_token.hpp"

#include <algorithm>

namespace pawl::simulation {

void file_checker::fail(const std::string& rule) {
    if (violation_.empty()) violation_ = rule;
}

std::list<file_checker::believed_hold>::iterator file_checker::find(const std::string& owner) {
    return std::find_if(believed_holds_.begin(), believed_holds_.end(),
                        [&](const believed_hold& each) { return each.requested.owner == owner; });
}

void file_checker::note_grant(std::size_t program, const claim& requested, std::uint64_t token,
                              time_point deadline, std::uint64_t newest_when_asked) {
    ++grants;
    believed_holds_.push_back({program, requested, token, deadline, false});
    check_token(believed_holds_.back(), newest_when_asked);
    check_exclusivity(believed_holds_.back());
}

// Tokens are unique, except that readers share one, and higher than all that were granted before.
void file_checker::check_token(const believed_hold& held, std::uint64_t newest_when_asked) {
    const bool reads = held.requested.mode == lock_mode::shared;
    const auto [known, is_new] = issued_tokens_.try_emplace(
        held.token, issued_token{held.requested.name, reads, file_version_});
    const bool joins =
        !is_new && reads && known->second.to_readers && known->second.name == held.requested.name;
    if (!is_new && !joins && !tokens_excused_)
        fail("token " + std::to_string(held.token) + " was issued twice");
    // An older file restores rows of living readers. A reader that joins them gets their token.
    const bool joins_the_past = joins && known->second.file_version != file_version_;
    if (held.token < newest_when_asked + (joins ? 0 : 1) && !tokens_excused_ && !joins_the_past)
        fail("token " + std::to_string(held.token) + " of " + held.requested.name +
             " was issued after token " + std::to_string(newest_when_asked));
    if (held.token > highest_token_) counter_is_old_ = false;
    highest_token_ = std::max(highest_token_, held.token);
    auto& newest = newest_tokens_[held.requested.name];
    newest = std::max(newest, held.token);
}

void file_checker::check_exclusivity(const believed_hold& held) {
    if (!is_believed(held)) return;
    std::uint32_t permits = 0;
    for (const auto& each : believed_holds_) {
        if (each.requested.name != held.requested.name || !is_believed(each)) continue;
        const bool same_mode = each.requested.mode == held.requested.mode;
        if (same_mode && held.requested.mode == lock_mode::permits)
            permits += each.requested.permits;
        if (&each == &held) continue;
        if (!same_mode || held.requested.mode == lock_mode::exclusive)
            fail("two holders of " + held.requested.name + ": " + each.requested.owner + " and " +
                 held.requested.owner);
    }
    if (permits > total_permits) fail("more permits are held than the total");
}

void file_checker::check_renewal(const std::string& owner, renewal::outcome result,
                                 time_point deadline) {
    const auto it = find(owner);
    if (it == believed_holds_.end()) return;
    if (result == renewal::outcome::extended) {
        if (it->excused) fail("a hold in a replaced file was extended");
        it->deadline = deadline;
        check_exclusivity(*it);
    } else if (result == renewal::outcome::refused) {
        if (is_believed(*it)) fail("a live hold of " + it->requested.name + " was refused");
        believed_holds_.erase(it);
    }
}

void file_checker::check_release(const std::string& owner, release_result result) {
    const auto it = find(owner);
    if (it == believed_holds_.end()) return;
    if (is_believed(*it) && result != release_result::released)
        fail("a live hold of " + it->requested.name + " was gone when it was released");
    believed_holds_.erase(it);
}

void file_checker::check_downgrade(const std::string& owner, bool still_ours, time_point deadline) {
    const auto it = find(owner);
    if (it == believed_holds_.end()) return;
    if (!still_ours) {
        if (is_believed(*it))
            fail("a live hold of " + it->requested.name + " could not be downgraded");
        believed_holds_.erase(it);
        return;
    }
    it->requested.mode = lock_mode::shared;
    it->deadline = deadline;
    issued_tokens_[it->token].to_readers = true;
    check_exclusivity(*it);
}

void file_checker::check_notified(std::size_t program) {
    // At its deadline, a holder knows of the loss by itself.
    believed_holds_.remove_if(
        [&](const believed_hold& each) { return each.deadline <= clock_.now(); });
    for (const auto& each : believed_holds_)
        if (each.program == program && each.excused)
            fail("the holder of " + each.requested.name + " was not notified of the loss");
}

void file_checker::note_reported_loss(const std::string& owner) {
    const auto it = find(owner);
    if (it == believed_holds_.end()) return;
    ++losses_reported;
    if (is_believed(*it)) fail("a live hold of " + it->requested.name + " was reported as lost");
    believed_holds_.erase(it);
}

void file_checker::note_crash(std::size_t program) {
    believed_holds_.remove_if([&](const believed_hold& each) { return each.program == program; });
}

void file_checker::note_forced(const std::string& name) {
    for (auto& each : believed_holds_)
        if (each.requested.name == name) each.excused = true;
}

void file_checker::note_file_replaced(bool under_living_programs) {
    if (under_living_programs) ++file_version_;
    for (auto& each : believed_holds_)
        each.excused = true;
    expected_latch_.reset();
}

void file_checker::note_old_counter() {
    counter_is_old_ = true;
    expected_latch_.reset();
    if (static_cast<std::uint64_t>(core::clock_token(clock_.true_wall())) <= highest_token_)
        tokens_excused_ = true;
}

void file_checker::note_wall_set_back() {
    if (counter_is_old_) tokens_excused_ = true;
}

void file_checker::check_latch(std::uint64_t count) {
    if (expected_latch_ && *expected_latch_ != count)
        fail("the latch is at " + std::to_string(count) + " and not at " +
             std::to_string(*expected_latch_));
    expected_latch_ = count;
}

}  // namespace pawl::simulation
