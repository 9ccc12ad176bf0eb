// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "faulty_acquire_all.hpp"

#include "core/async/access.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::simulation {

faulty_acquire_all::faulty_acquire_all(client& client, runtime& time, injected_bug bug,
                                       completion_handler handler)
    : client_(client), time_(time), bug_(bug), handler_(std::move(handler)) {}

void faulty_acquire_all::start(std::vector<std::string> names, const lock_options& options,
                               asio::cancellation_slot slot,
                               const asio::any_io_executor& executor) {
    names_ = std::move(names);
    options_ = options;
    give_up_at_ = options.wait == forever ? time_point::max() : time_.now() + options.wait;
    slot_ = slot;
    executor_ = executor;
    acquire_next();
}

void faulty_acquire_all::acquire_next() {
    if (acquired_.size() == names_.size()) return complete();
    if (give_up_at_ != time_point::max())
        options_.wait = std::max(duration{}, give_up_at_ - time_.now());
    client_.async_acquire(
        names_[acquired_.size()], options_,
        asio::bind_cancellation_slot(
            slot_, asio::bind_executor(
                       executor_, [weak = weak_from_this()](const boost::system::error_code& ec,
                                                            held_lock lock) {
                           if (const auto self = weak.lock())
                               self->on_completion(ec, std::move(lock));
                       })));
}

void faulty_acquire_all::on_completion(const boost::system::error_code& ec, held_lock lock) {
    if (!ec) {
        acquired_.push_back(std::move(lock));
        return acquire_next();
    }
    if (bug_ == injected_bug::set_keeps_first && !acquired_.empty())
        forgotten_locks_.push_back(std::move(acquired_.front()));
    acquired_.clear();
    handler_(ec, {});
}

void faulty_acquire_all::complete() {
    std::ranges::sort(acquired_, {}, &held_lock::name);
    const auto is_lost = [](const held_lock& lock) { return lock.state() == lock_state::lost; };
    if (bug_ != injected_bug::set_with_lost_lock && std::ranges::any_of(acquired_, is_lost)) {
        acquired_.clear();
        return handler_(make_error_code(errc::lost), {});
    }
    handler_({}, core::access::make(std::move(acquired_)));
}

}  // namespace pawl::simulation
