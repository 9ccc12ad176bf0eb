// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "java_user.hpp"

#include <pawl/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// Redisson sends whole milliseconds, so a lease at the server may end this much earlier.
constexpr auto rounding = 1ms;

}  // namespace

void java_user::start_request() {
    if (is_finishing_) return rest();
    const auto& names = program_.context().names;
    name_ = names[random_.below(names.size())];
    choose_wait();
    auto options = choose_common_options();
    const bool has_lease = name_ != plain_semaphore_name && !chooses_endless_permits();
    const bool is_renewed = has_lease && !random_.happens(behaviour().limits_hold);
    if (is_renewed) options.ttl = program_.watchdog_timeout();
    options.max_hold = forever;
    options.ttl = std::chrono::floor<std::chrono::milliseconds>(options.ttl);
    const auto lease = has_lease ? options.ttl : forever;
    auto object = choose_object(options, lease);
    begin_request();
    request_ = invariants().begin_request(program_.process, checker_name(name_), options);
    hold_ = std::make_shared<current_hold>(current_hold{std::move(object), 0, lease, is_renewed});
    log("requests " + name_);
    if (wait_kind_ != wait_kind::once)
        wait_id_ = invariants().begin_wait(program_.process, checker_name(name_), options.permits,
                                           hold_->object->owner());
    asio::co_spawn(program_.process.get_executor(), acquire(), asio::detached);
}

// Redisson's `acquire()`: the permits have no lease.
bool java_user::chooses_endless_permits() {
    return name_ == semaphore_name && program_.context().scenario_plan.has_endless_permits &&
           random_.happens(0.4);
}

std::unique_ptr<java_synchronizer> java_user::choose_object(lock_options& options, duration lease) {
    if (name_ == semaphore_name) return choose_permits(options, lease);
    if (name_ == plain_semaphore_name) return choose_semaphore(options);
    const auto kind = choose_kind_of_lock(options);
    return std::make_unique<java_lock>(program_.java(), kind, name_, thread_, options.ttl,
                                       random_.happens(0.8));
}

// A thread that waits for a semaphore without a number of permits sleeps until somebody sets the
// number. If no lent permit has a lease, a thread that misses a message sleeps until the next
// release. So both wait for a limited time.
std::unique_ptr<java_synchronizer> java_user::choose_permits(lock_options& options,
                                                             duration lease) {
    const auto& scenario_plan = program_.context().scenario_plan;
    options.mode = lock_mode::permits;
    options.permits = static_cast<std::uint32_t>(random_.between(1, semaphore_permits));
    const bool sets_total = !scenario_plan.has_calm_network || random_.happens(0.7);
    if (!sets_total || scenario_plan.may_lose_data || scenario_plan.has_endless_permits)
        limit_wait();
    return std::make_unique<java_permits>(
        program_.java(), name_, thread_, java_permits::request{options.permits, lease, sets_total});
}

// A thread that misses a message sleeps until the next release, because there is no lease whose end
// wakes it. So it waits for a limited time.
std::unique_ptr<java_synchronizer> java_user::choose_semaphore(lock_options& options) {
    options.mode = lock_mode::permits;
    options.permits = static_cast<std::uint32_t>(random_.between(1, semaphore_permits));
    limit_wait();
    return std::make_unique<java_semaphore>(program_.java(), name_, thread_, options.permits);
}

void java_user::limit_wait() {
    if (wait_kind_ != wait_kind::endless) return;
    wait_kind_ = wait_kind::limited;
    wait_ = duration(random_.between(0, 1'500'000'000));
}

instant java_user::believed_until(const current_hold& held, instant sent_at) const {
    return held.lease == forever ? instant::max() : sent_at + held.lease - rounding;
}

java_object java_user::choose_kind_of_lock(lock_options& options) {
    if (name_ == fair_name) return java_object::fair_lock;
    if (name_ != read_write_name)
        return options.fenced ? java_object::fenced_lock : java_object::lock;
    if (!random_.happens(behaviour().reads)) return java_object::write_lock;
    options.mode = lock_mode::shared;
    return java_object::read_lock;
}

// A thread that gets an exception holds nothing, although the server may have granted the lock.
asio::awaitable<void> java_user::acquire() {
    const auto give_up_at = wait_kind_ == wait_kind::endless ? time_point::max()
                            : wait_kind_ == wait_kind::once  ? time_point()
                                                             : requested_at_ + wait_;
    java_synchronizer::hold granted;
    std::string failure;
    try {
        granted = co_await hold_->object->acquire(give_up_at);
    } catch (const error& e) {
        failure = e.what();
    }
    invariants().end_wait(wait_id_);
    if (is_abandoned_) co_return;
    is_waiting_ = false;
    log(!failure.empty()     ? "gets an exception: " + failure
        : granted.is_granted ? "has a hold"
                             : "gets no hold");
    if (granted.is_granted)
        note_grant(granted);
    else
        rest();
}

void java_user::note_grant(const java_synchronizer::hold& granted) {
    hold_->id =
        invariants().note_java_grant(program_.process, checker_name(name_),
                                     {hold_->object->owner(), granted.token,
                                      believed_until(*hold_, granted.sent_at), granted.permit_ids},
                                     request_);
    if (hold_->is_renewed)
        asio::co_spawn(program_.process.get_executor(), watch(hold_), asio::detached);
    choose_hold_end(request_.ttl);
    work();
}

// A watchdog renews at a third of its timeout, until the hold is released or lost.
asio::awaitable<void> java_user::watch(std::shared_ptr<current_hold> held) {
    auto& client = program_.java();
    while (!held->is_over && !client.is_closed()) {
        co_await client.pause(held->lease / 3);
        if (held->is_over || client.is_closed()) co_return;
        const auto sent_at = client.scenario_now();
        try {
            const bool is_held = co_await held->object->renew();
            if (!is_held) co_return;
        } catch (const error&) {
            continue;
        }
        if (!held->is_over)
            invariants().note_java_renewal(held->id, believed_until(*held, sent_at));
    }
}

void java_user::work() {
    invariants().check_write(hold_->id);
    if (!is_finishing_ && scenario_now() < hold_until_)
        return schedule(next_work_delay(), this, &java_user::work);
    end_hold();
    asio::co_spawn(program_.process.get_executor(), release(), asio::detached);
}

void java_user::end_hold() {
    if (hold_ == nullptr || hold_->is_over) return;
    hold_->is_over = true;
    invariants().end_hold(hold_->id);
}

asio::awaitable<void> java_user::release() {
    log("releases");
    try {
        co_await hold_->object->release();
    } catch (const error& e) {
        if (!is_abandoned_) log("gets an exception: " + std::string(e.what()));
    }
    if (!is_abandoned_) rest();
}

void java_user::forget_holds() { end_hold(); }

}  // namespace pawl::simulation
