#include <pawl/blocking_latch.hpp>

#include "latch.hpp"
#include "question.hpp"

namespace pawl::blocking {
namespace {

bool wait_for_turn(loop& home, const std::string& name, phase turn, duration wait,
                   const std::stop_token& cancel) {
    return ask(home, core::wait_latch(home.engine, name, turn, wait), cancel);
}

latch_info look(loop& home, const std::string& name) {
    return ask(home, core::inspect_latch(home.engine, name));
}

bool take_away(loop& home, const std::string& name) {
    return ask(home, core::reset_latch(home.engine, name));
}

}  // namespace

latch::latch(client& locks, std::string name, latch_options options)
    : loop_(locks.loop_), name_(std::move(name)), options_(options) {}

bool latch::try_set(std::uint32_t count) {
    return ask(*loop_, core::set_latch(loop_->engine, name_, count, options_));
}

std::uint64_t latch::count_down(std::uint32_t steps) {
    return ask(*loop_, core::count_down(loop_->engine, name_, steps));
}

bool latch::try_wait() { return ask(*loop_, core::latch_is_open(loop_->engine, name_)); }

void latch::wait(std::stop_token cancel) {
    (void)wait_for_turn(*loop_, name_, phase{}, forever, cancel);
}

bool latch::wait_up_to(duration wait, std::stop_token cancel) {
    return wait_for_turn(*loop_, name_, phase{}, std::max(wait, duration{}), cancel);
}

void latch::arrive_and_wait(std::stop_token cancel) {
    (void)ask(*loop_, core::step_and_wait(loop_->engine, name_, forever), cancel);
}

latch_info latch::inspect() { return look(*loop_, name_); }

bool latch::reset() { return take_away(*loop_, name_); }

barrier::barrier(client& locks, std::string name, std::uint32_t parties, latch_options options)
    : loop_(locks.loop_), name_(std::move(name)), parties_(parties), options_(options) {}

phase barrier::arrive() {
    return ask(*loop_, core::arrive(loop_->engine, name_, parties_, options_));
}

void barrier::wait(phase turn, std::stop_token cancel) {
    (void)wait_for_turn(*loop_, name_, turn, forever, cancel);
}

bool barrier::wait_up_to(phase turn, duration wait, std::stop_token cancel) {
    return wait_for_turn(*loop_, name_, turn, std::max(wait, duration{}), cancel);
}

latch_info barrier::inspect() { return look(*loop_, name_); }

bool barrier::reset() { return take_away(*loop_, name_); }

}  // namespace pawl::blocking
