// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/blocking/election.hpp>

#include "acquire.hpp"

namespace pawl::blocking {

election::election(client& locks, std::string name, lease_options options)
    : loop_(access::loop_of(locks)), name_(std::move(name)), options_(options) {}

held_lock election::campaign(duration wait, std::stop_token cancel) {
    const core::request campaign(detail::to_lock_options(options_, wait));
    return run_acquire(loop_, loop_->engine->acquire(name_, campaign), cancel);
}

lock_info election::leader() { return run_blocking(*loop_, loop_->engine->inspect(name_)); }

lock_info election::wait_change(fencing_token seen, duration interval, std::stop_token cancel) {
    return run_blocking(*loop_, core::wait_change(loop_->engine, name_, seen, interval), cancel);
}

}  // namespace pawl::blocking
