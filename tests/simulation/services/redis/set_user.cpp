// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "set_user.hpp"

#include "../../invariants/sets.hpp"
#include "core/util/spi.hpp"

#include <core/lease/lease.hpp>

#include <pawl/error.hpp>

#include <algorithm>
#include <utility>

using namespace std::chrono_literals;

namespace pawl::simulation {

set_user::set_user(program& program, std::string label, prng random)
    : simulated_user(program, std::move(label), random),
      has_owner_(random_.happens(behaviour().uses_owner)) {
    if (has_owner_) owner_.emplace(*program_.locks);
}

void set_user::end_holds() {
    for (const auto id : hold_ids_)
        if (id != 0) invariants().end_hold(id);
    hold_ids_.clear();
}

void set_user::forget_holds() {
    end_holds();
    if (first_hold_id_ != 0) invariants().end_hold(first_hold_id_);
    set_ = {};
    first_ = {};
    faulty_attempts_.clear();
    owner_.reset();
}

// In any order, and sometimes one name twice.
void set_user::choose_names() {
    names_ = program_.context().names;
    for (auto left = names_.size(); left > 1; --left)
        std::swap(names_[left - 1], names_[random_.below(left)]);
    const auto most = std::min<std::size_t>(names_.size(), 4);
    names_.resize(static_cast<std::size_t>(random_.between(2, static_cast<std::int64_t>(most))));
    sorted_names_ = names_;
    std::ranges::sort(sorted_names_);
    if (random_.happens(0.1)) names_.push_back(names_.front());
}

lock_options set_user::choose_options() {
    auto options = choose_common_options();
    if (random_.happens(behaviour().reads_sets)) options.mode = lock_mode::shared;
    options.fair = random_.happens(behaviour().fair);
    return options;
}

void set_user::start_request() {
    if (is_finishing_) return rest();
    choose_names();
    choose_wait();
    options_ = choose_options();
    scenario_began_at_ = scenario_now();
    program_began_at_ = program_.time.now();
    if (owner_ && random_.happens(0.5)) return request_first();
    request_all();
}

void set_user::request_first() {
    const auto& name = sorted_names_[random_.below(sorted_names_.size())];
    requested_at_ = program_.time.now();
    requests_.assign(1, invariants().begin_request(program_.process, checker_name(name), options_));
    log("requests " + name);
    owner_->async_try_acquire(
        name, to_try_options(options_),
        in_program([this](const boost::system::error_code& ec, held_lock lock) {
            on_first_completion(ec, std::move(lock));
        }));
}

void set_user::on_first_completion(const boost::system::error_code& ec, held_lock lock) {
    if (is_abandoned_) return;
    log("completes with " + (ec ? ec.message() : lock ? to_string(lock.token()) : "busy"));
    if (ec && !is_expected_error(ec))
        invariants().fail("I6", label_ + " got an unexpected error: " + ec.message());
    if (lock) {
        first_ = std::move(lock);
        const auto name = std::string(first_.name());
        first_hold_id_ = invariants().note_grant(program_.process, checker_name(name), first_,
                                                 requests_.front());
        // With a held lock, an endless wait could be a deadlock.
        if (wait_kind_ == wait_kind::endless) wait_kind_ = wait_kind::limited;
        options_.wait = wait_;
    }
    request_all();
}

void set_user::request_all() {
    begin_request();
    requests_.clear();
    std::string text;
    for (const auto& name : sorted_names_)
        requests_.push_back(
            invariants().begin_request(program_.process, checker_name(name), options_));
    for (const auto& name : names_)
        text += " " + name;
    invariants().sets().begin_request(program_.process, checker_names());
    log("requests all of" + text);
    send_request(options_);
    plan_cancellation();
}

void set_user::send_request(const lock_options& options) {
    const auto complete = [this](const boost::system::error_code& ec, held_locks all) {
        on_completion(ec, std::move(all));
    };
    const auto bug = program_.context().scenario_plan.bug;
    if (is_acquire_all_bug(bug) && wait_kind_ != wait_kind::once) {
        faulty_attempts_.push_back(std::make_shared<faulty_acquire_all>(
            *program_.locks, program_.time, bug, in_program(complete)));
        auto& names = bug == injected_bug::set_in_callers_order ? names_ : sorted_names_;
        names.resize(sorted_names_.size());
        return faulty_attempts_.back()->start(names, options, cancellation_->slot(),
                                              program_.process.get_executor());
    }
    auto handler = cancellable(complete);
    if (wait_kind_ == wait_kind::once && owner_) {
        owner_->async_try_acquire_all(names_, to_try_options(options), std::move(handler));
    } else if (wait_kind_ == wait_kind::once) {
        program_.locks->async_try_acquire_all(names_, to_try_options(options), std::move(handler));
    } else if (owner_) {
        owner_->async_acquire_all(names_, options, std::move(handler));
    } else {
        program_.locks->async_acquire_all(names_, options, std::move(handler));
    }
}

// The first lock may be lost before the last is granted.
bool set_user::is_expected_set_error(const boost::system::error_code& ec) const {
    if (ec != make_error_code(errc::lost)) return is_expected_error(ec);
    const auto most =
        options_.max_hold - drift(options_.max_hold) - core::loss_lead_time(options_.ttl);
    const bool too_long = program_.time.now() - program_began_at_ >= most;
    return too_long || !has_calm_servers() || !is_undisturbed() ||
           invariants().facts().had_fault_since(checker_names(), scenario_began_at_);
}

void set_user::on_completion(const boost::system::error_code& ec, held_locks all) {
    if (is_abandoned_) return;
    complete_request(ec ? ec.message() : all ? "all locks" : "busy", ec, is_expected_set_error(ec));
    if (!ec && !all && wait_kind_ != wait_kind::once)
        invariants().fail("I6", label_ + " got neither a lock nor an error");
    // At the end of its time a request only tries, and a try may take this long.
    const auto silence = program_.context().space.options.reply_timeout;
    const bool in_time = program_.time.now() - requested_at_ <= wait_ + silence + 1s;
    if (wait_kind_ == wait_kind::limited && is_undisturbed() && !in_time)
        invariants().fail("I6", label_ + " waited for a set beyond its limit");
    if (ec && all) invariants().fail("I8", label_ + " got locks and an error");
    if (all) accept_set(std::move(all));
    invariants().sets().end_request(program_.process, checker_names());
    if (!set_) return release_handles();
    choose_hold_end(requests_.front().ttl);
    work();
}

void set_user::accept_set(held_locks all) {
    set_ = std::move(all);
    released_holds_.clear();
    invariants().sets().check_granted(program_.process, set_, sorted_names_);
    auto name = sorted_names_.begin();
    auto request = requests_.begin();
    for (const held_lock& lock : set_) {
        if (name == sorted_names_.end()) break;
        released_holds_.push_back({lock.token().value(), options_.mode});
        if (first_ && lock.name() == first_.name())
            hold_ids_.push_back(reenter(lock));
        else
            hold_ids_.push_back(
                invariants().note_grant(program_.process, checker_name(*name), lock, *request));
        ++name;
        ++request;
    }
}

// Another handle of a hold that the checker knows already.
hold_id set_user::reenter(const held_lock& lock) {
    if (lock.token() != first_.token() || lock.safe_until() != first_.safe_until())
        invariants().fail("I8", label_ + " re-entered a lock and got another hold");
    return 0;
}

// The loss of one lock is reported. The others stay held, so that work can be finished.
void set_user::work() {
    invariants().sets().check(set_);
    auto id = hold_ids_.begin();
    for (const held_lock& lock : set_)
        work_with(lock, *id++);
    if (first_) work_with(first_, first_hold_id_);
    if (is_finishing_ || scenario_now() >= hold_until_) return release();
    schedule(next_work_delay(), this, &set_user::work);
}

void set_user::work_with(const held_lock& lock, hold_id& id) {
    if (id == 0) return;
    if (lock.state() != lock_state::lost) return invariants().check_write(id);
    log("has lost " + std::string(lock.name()));
    invariants().check_noticed_loss(id);
    invariants().end_hold(std::exchange(id, 0));
    if (random_.happens(0.5)) hold_until_ = {};
}

void set_user::release() {
    const bool has_time_left = set_.safe_until() - program_.time.now() > 100ms;
    const auto undisturbed = [this](auto id) {
        return id != 0 && !invariants().is_hold_excused(id);
    };
    expects_release_ =
        has_time_left && std::ranges::all_of(hold_ids_, undisturbed) && is_undisturbed();
    const bool lost = set_.state() == lock_state::lost;
    end_holds();
    hold_until_ = scenario_now();
    if (random_.happens(behaviour().drops_handle)) return release_handles();
    log("releases all");
    set_.async_release(in_program([this, lost](release_result result) {
        if (is_abandoned_) return;
        if (lost && result == release_result::released)
            invariants().fail("I8", label_ + " released all after the loss of one");
        if (first_ && result == release_result::released)
            invariants().fail("I8", label_ + " released all although a handle of one remains");
        on_released(result);
    }));
}

void set_user::on_released(release_result result) {
    log(std::string("released all: ") + to_string(result));
    invariants().check_release({checker_names(), released_holds_, expects_release_, hold_until_,
                                result, is_loss_told(set_, *program_.locks)});
    release_handles();
}

void set_user::release_handles() {
    set_ = {};
    if (first_) return release_first();
    rest();
}

void set_user::release_first() {
    const bool has_time_left = first_.safe_until() - program_.time.now() > 100ms;
    const auto id = std::exchange(first_hold_id_, 0);
    const bool sure =
        has_time_left && id != 0 && !invariants().is_hold_excused(id) && is_undisturbed();
    if (id != 0) invariants().end_hold(id);
    log("releases " + std::string(first_.name()));
    first_.async_release(in_program([this, sure, called = scenario_now()](release_result result) {
        if (is_abandoned_) return;
        log(std::string("released: ") + to_string(result));
        const std::string name(first_.name());
        const released_hold released{first_.token().value(), options_.mode};
        const bool was_told = is_loss_told(first_, *program_.locks);
        invariants().check_release(
            {{checker_name(name)}, {released}, sure, called, result, was_told});
        first_ = {};
        rest();
    }));
}

}  // namespace pawl::simulation
