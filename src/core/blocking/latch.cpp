// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/blocking/latch.hpp>

#include "../engine/latch.hpp"
#include "access.hpp"
#include "blocking_wait.hpp"

namespace pawl::blocking {
namespace {

bool wait_for_phase(loop& loop, const std::string& name, phase arrival, duration wait,
                    const std::stop_token& cancel) {
    return run_blocking(loop, core::wait_latch(loop.engine, name, arrival, wait), cancel);
}

latch_info inspect_latch(loop& loop, const std::string& name) {
    return run_blocking(loop, core::inspect_latch(loop.engine, name));
}

bool reset_latch(loop& loop, const std::string& name) {
    return run_blocking(loop, core::reset_latch(loop.engine, name));
}

}  // namespace

latch::latch(client& locks, std::string name, latch_options options)
    : loop_(access::loop_of(locks)), name_(std::move(name)), options_(options) {}

bool latch::try_set(std::uint32_t count) {
    return run_blocking(*loop_, core::set_latch(loop_->engine, name_, count, options_));
}

std::uint64_t latch::count_down(std::uint32_t steps) {
    return run_blocking(*loop_, core::count_down(loop_->engine, name_, steps));
}

bool latch::try_wait() { return run_blocking(*loop_, core::latch_is_open(loop_->engine, name_)); }

void latch::wait(std::stop_token cancel) {
    (void)wait_for_phase(*loop_, name_, phase{}, forever, cancel);
}

bool latch::wait_with_limit(duration wait, std::stop_token cancel) {
    return wait_for_phase(*loop_, name_, phase{}, std::max(wait, duration{}), cancel);
}

void latch::arrive_and_wait(std::stop_token cancel) {
    (void)run_blocking(*loop_, core::count_down_and_wait(loop_->engine, name_, forever), cancel);
}

latch_info latch::inspect() { return inspect_latch(*loop_, name_); }

bool latch::reset() { return reset_latch(*loop_, name_); }

barrier::barrier(client& locks, std::string name, std::uint32_t parties, latch_options options)
    : loop_(access::loop_of(locks)), name_(std::move(name)), parties_(parties), options_(options) {}

phase barrier::arrive() {
    return run_blocking(*loop_, core::arrive(loop_->engine, name_, parties_, options_));
}

void barrier::wait(phase arrival, std::stop_token cancel) {
    (void)wait_for_phase(*loop_, name_, arrival, forever, cancel);
}

bool barrier::wait_with_limit(phase arrival, duration wait, std::stop_token cancel) {
    return wait_for_phase(*loop_, name_, arrival, std::max(wait, duration{}), cancel);
}

latch_info barrier::inspect() { return inspect_latch(*loop_, name_); }

bool barrier::reset() { return reset_latch(*loop_, name_); }

}  // namespace pawl::blocking
