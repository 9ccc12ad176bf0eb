// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_user.hpp"

#include <pawl/error.hpp>

#include <utility>

using namespace std::chrono_literals;

namespace pawl::simulation {

void lock_user::forget_holds() {
    if (lock_) invariants().end_hold(hold_id_);
    loss_callback_.reset();
    lock_ = {};
    lost_handles_.clear();
}

void lock_user::on_loss() {
    const uncounted_allocations uncounted;
    if (!random_.happens(behaviour().blocks_callback)) return;
    log("blocks the callback of its loss");
    program_.time.block_callback(random_.between(0ns, behaviour().longest_block));
}

// Without the injected bug, a shortage does not affect a grant: all of its resources are allocated
// before.
bool lock_user::loses_handle(held_lock& lock) {
    if (behaviour().runs_short == 0 || !random_.happens(behaviour().runs_short)) return false;
    if (program_.context().scenario_plan.bug != injected_bug::granted_without_handle) return false;
    log("drops the handle of its grant");
    lost_handles_.push_back(std::move(lock));
    return true;
}

lock_options lock_user::choose_options() {
    auto options = choose_common_options();
    if (name_ == read_write_name && random_.happens(behaviour().reads))
        options.mode = lock_mode::shared;
    if (is_semaphore_name(name_) && random_.happens(behaviour().takes_permits)) {
        options.mode = lock_mode::permits;
        options.permits = static_cast<std::uint32_t>(random_.between(1, semaphore_permits));
        options.total_permits = semaphore_permits;
    }
    options.fair = random_.happens(behaviour().fair);
    if (program_.context().scenario_plan.layout == redis::key_layout::redisson)
        options.fair = name_ == fair_name;
    return options;
}

void lock_user::start_request() {
    if (is_finishing_) return rest();
    const auto& names = program_.context().names;
    name_ = names[random_.below(names.size())];
    choose_wait();
    const auto options = choose_options();
    begin_request();
    request_ = invariants().begin_request(program_.process, checker_name(name_), options);
    log("requests " + name_);
    auto handler = cancellable([this](const boost::system::error_code& ec, held_lock lock) {
        on_completion(ec, std::move(lock));
    });
    if (wait_kind_ == wait_kind::once) {
        program_.locks_for(name_).async_try_acquire(name_, to_try_options(options),
                                                    std::move(handler));
    } else {
        wait_id_ = invariants().begin_wait(program_.process, checker_name(name_), options.permits);
        program_.locks_for(name_).async_acquire(name_, options, std::move(handler));
    }
    plan_cancellation();
}

void lock_user::on_completion(const boost::system::error_code& ec, held_lock lock) {
    invariants().end_wait(wait_id_);
    if (is_abandoned_) return;
    complete_request(ec     ? ec.message()
                     : lock ? to_string(lock.token())
                            : "busy",
                     ec, is_expected_error(ec));
    if (!ec && !lock && wait_kind_ != wait_kind::once)
        invariants().fail("I6", label_ + " got neither a lock nor an error");
    if (!lock || loses_handle(lock)) return rest();
    lock_ = std::move(lock);
    if (behaviour().blocks_callback > 0)
        loss_callback_.emplace(lock_.lost(), [this] { on_loss(); });
    token_ = lock_.token().value();
    hold_id_ = invariants().note_grant(program_.process, checker_name(name_), lock_, request_);
    choose_hold_end(request_.ttl);
    work();
}

void lock_user::work() {
    if (lock_.state() == lock_state::lost) {
        log("has lost its lock");
        program_.note_loss(program_.locks_for(name_));
        invariants().check_noticed_loss(hold_id_);
        invariants().end_hold(hold_id_);
        return release_handle();
    }
    invariants().check_write(hold_id_);
    if (is_finishing_ || scenario_now() >= hold_until_) return release();
    if (name_ == read_write_name && request_.mode == lock_mode::exclusive &&
        random_.happens(behaviour().downgrades))
        return downgrade();
    schedule(next_work_delay(), this, &lock_user::work);
}

void lock_user::downgrade() {
    log("downgrades");
    request_.mode = lock_mode::shared;
    invariants().note_downgrade(hold_id_);
    lock_.async_downgrade(
        in_program([this](const boost::system::error_code& ec) { on_downgraded(ec); }));
}

void lock_user::on_downgraded(const boost::system::error_code& ec) {
    if (is_abandoned_) return;
    log("downgraded: " + ec.message());
    if (ec && ec != make_error_code(errc::lost) && !is_expected_error(ec))
        invariants().fail("I6", label_ + " could not downgrade: " + ec.message());
    work();
}

void lock_user::release() {
    const bool has_time_left = lock_.safe_until() - program_.time.now() > 100ms;
    expects_release_ = has_time_left && !invariants().is_hold_excused(hold_id_) && is_undisturbed();
    invariants().end_hold(hold_id_);
    hold_until_ = scenario_now();
    if (random_.happens(behaviour().drops_handle)) return release_handle();
    log("releases");
    lock_.async_release(in_program([this](release_result result) { on_released(result); }));
}

void lock_user::on_released(release_result result) {
    if (is_abandoned_) return;
    log(std::string("released: ") + to_string(result));
    invariants().check_release({{checker_name(name_)},
                                {{token_, request_.mode}},
                                expects_release_,
                                hold_until_,
                                result,
                                is_loss_told(lock_, program_.locks_for(name_))});
    if (result == release_result::expired || result == release_result::taken_over)
        program_.note_loss(program_.locks_for(name_));
    release_handle();
}

void lock_user::release_handle() {
    loss_callback_.reset();
    lock_ = {};
    rest();
}

}  // namespace pawl::simulation
