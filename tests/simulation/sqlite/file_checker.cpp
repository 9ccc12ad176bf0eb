#include "file_checker.hpp"

#include "core/clock_token.hpp"

#include <algorithm>

namespace pawl::simulation {

void file_checker::fail(const std::string& rule) {
    if (violation_.empty()) violation_ = rule;
}

std::list<file_checker::belief>::iterator file_checker::find(const std::string& owner) {
    return std::find_if(beliefs_.begin(), beliefs_.end(),
                        [&](const belief& each) { return each.what.owner == owner; });
}

void file_checker::granted(std::size_t program, const claim& what, std::uint64_t token,
                           time_point deadline, std::uint64_t newest_when_asked) {
    ++grants;
    beliefs_.push_back({program, what, token, deadline, false});
    check_token(beliefs_.back(), newest_when_asked);
    check_alone(beliefs_.back());
}

// Unique, but that readers share one; and later than all that were given before it was asked for.
void file_checker::check_token(const belief& one, std::uint64_t newest_when_asked) {
    const bool reads = one.what.mode == lock_mode::shared;
    const auto [known, is_new] =
        tokens_.try_emplace(one.token, issued{one.what.name, reads, life_});
    const bool joins =
        !is_new && reads && known->second.to_readers && known->second.name == one.what.name;
    if (!is_new && !joins && !tokens_excused_)
        fail("token " + std::to_string(one.token) + " was issued twice");
    // Rows of living readers came back with an older file: those who join them get their token.
    const bool joins_the_past = joins && known->second.life != life_;
    if (one.token < newest_when_asked + (joins ? 0 : 1) && !tokens_excused_ && !joins_the_past)
        fail("token " + std::to_string(one.token) + " of " + one.what.name + " came after " +
             std::to_string(newest_when_asked));
    if (one.token > highest_) counter_is_old_ = false;
    highest_ = std::max(highest_, one.token);
    auto& newest = newest_[one.what.name];
    newest = std::max(newest, one.token);
}

void file_checker::check_alone(const belief& one) {
    if (!believes(one)) return;
    std::uint32_t permits = 0;
    for (const auto& each : beliefs_) {
        if (each.what.name != one.what.name || !believes(each)) continue;
        const bool same_mode = each.what.mode == one.what.mode;
        if (same_mode && one.what.mode == lock_mode::permits) permits += each.what.permits;
        if (&each == &one) continue;
        if (!same_mode || one.what.mode == lock_mode::exclusive)
            fail("two believe to hold " + one.what.name + ": " + each.what.owner + " and " +
                 one.what.owner);
    }
    if (permits > permits_in_all) fail("more permits are out than there are");
}

void file_checker::renewed(const std::string& owner, renewal::outcome result, time_point deadline) {
    const auto at = find(owner);
    if (at == beliefs_.end()) return;
    if (result == renewal::outcome::extended) {
        if (at->excused) fail("a hold in a file that was replaced goes on");
        at->deadline = deadline;
        check_alone(*at);
    } else if (result == renewal::outcome::refused) {
        if (believes(*at)) fail("a live hold of " + at->what.name + " was refused");
        beliefs_.erase(at);
    }
}

void file_checker::released(const std::string& owner, release_result result) {
    const auto at = find(owner);
    if (at == beliefs_.end()) return;
    if (believes(*at) && result != release_result::released)
        fail("a live hold of " + at->what.name + " was gone when it was released");
    beliefs_.erase(at);
}

void file_checker::downgraded(const std::string& owner, bool still_ours, time_point deadline) {
    const auto at = find(owner);
    if (at == beliefs_.end()) return;
    if (!still_ours) {
        if (believes(*at)) fail("a live hold of " + at->what.name + " could not be downgraded");
        beliefs_.erase(at);
        return;
    }
    at->what.mode = lock_mode::shared;
    at->deadline = deadline;
    tokens_[at->token].to_readers = true;
    check_alone(*at);
}

void file_checker::went_through(std::size_t program) {
    // Those whose deadline has come know by themselves.
    beliefs_.remove_if([&](const belief& each) { return each.deadline <= clock_.now(); });
    for (const auto& each : beliefs_)
        if (each.program == program && each.excused)
            fail("nobody told the holder of " + each.what.name + " that it is lost");
}

void file_checker::told_of_loss(const std::string& owner) {
    const auto at = find(owner);
    if (at == beliefs_.end()) return;
    ++losses_told;
    if (believes(*at)) fail("a live hold of " + at->what.name + " was said to be lost");
    beliefs_.erase(at);
}

void file_checker::crashed(std::size_t program) {
    beliefs_.remove_if([&](const belief& each) { return each.program == program; });
}

void file_checker::forced(const std::string& name) {
    for (auto& each : beliefs_)
        if (each.what.name == name) each.excused = true;
}

void file_checker::file_replaced(bool under_living_programs) {
    if (under_living_programs) ++life_;
    for (auto& each : beliefs_)
        each.excused = true;
    latch_.reset();
}

void file_checker::counter_may_be_old() {
    counter_is_old_ = true;
    latch_.reset();
    if (static_cast<std::uint64_t>(core::clock_token(clock_.true_wall())) <= highest_)
        tokens_excused_ = true;
}

void file_checker::wall_set_back() {
    if (counter_is_old_) tokens_excused_ = true;
}

void file_checker::latch_seen(std::uint64_t count) {
    if (latch_ && *latch_ != count)
        fail("the latch is at " + std::to_string(count) + " and not at " + std::to_string(*latch_));
    latch_ = count;
}

}  // namespace pawl::simulation
