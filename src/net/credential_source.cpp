// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "credential_source.hpp"

#include "option_values.hpp"

#include <pawl/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>

#include <utility>

namespace asio = boost::asio;

namespace pawl::net {

namespace {

// A wait for the end of a call. The coroutine ends soon after the wait has closed the event.
struct end_wait {
    end_wait(const login_call& call, runtime& time, const asio::any_io_executor& strand)
        : event(call.make_end_event(strand)), ended(time, strand) {}
    asio::posix::stream_descriptor event;
    core::wakeup ended;
};

asio::awaitable<void> report_end(std::shared_ptr<end_wait> wait) {
    boost::system::error_code ignored;
    auto token = asio::redirect_error(asio::deferred, ignored);
    co_await wait->event.async_wait(asio::posix::descriptor_base::wait_read, token);
    wait->ended.notify();
}

}  // namespace

asio::awaitable<void> credential_source::wait_for_end(std::shared_ptr<login_call> call,
                                                      runtime& time, asio::any_io_executor strand,
                                                      time_point give_up_at,
                                                      std::function<bool()> is_over) {
    const auto wait = std::make_shared<end_wait>(*call, time, strand);
    struct guard {
        std::list<core::wakeup*>& waiters;
        end_wait& own;
        guard(std::list<core::wakeup*>& all, end_wait& added) : waiters(all), own(added) {
            waiters.push_back(&own.ended);
        }
        ~guard() {
            waiters.remove(&own.ended);
            boost::system::error_code ignored;
            own.event.close(ignored);
        }
        guard(const guard&) = delete;
        guard& operator=(const guard&) = delete;
    } const registered(waiters_, *wait);
    asio::co_spawn(strand, report_end(wait), asio::detached);
    while (!call->has_ended() && !is_over() && time.now() < give_up_at)
        co_await wait->ended.wait_until(give_up_at);
}

void credential_source::notify_waiters() {
    for (auto* each : waiters_)
        each->notify();
}

login credential_source::read(const login_call* call) {
    login result = settings_.fixed;
    if (call != nullptr) {
        if (!call->has_ended())
            throw error(errc::unavailable,
                        "The function for the credentials has not returned in time.");
        result = call->result();
        if (result.user.empty()) result.user = settings_.fixed.user;
    } else if (!settings_.password_file.empty()) {
        result.password =
            read_secret_file(settings_.password_file, "password", settings_.file_option);
    }
    return result;
}

// With an earlier login, a function that does not return delays only one connection, and by half of
// the time for the attempt.
asio::awaitable<login> credential_source::get(runtime& time, asio::any_io_executor strand,
                                              time_point give_up_at,
                                              std::function<bool()> is_over) {
    if (std::exchange(is_accepted_next_, false)) co_return *accepted_;
    std::shared_ptr<login_call> call;
    if (settings_.function) {
        const bool is_new = !call_;
        if (is_new) call_ = std::make_shared<login_call>(settings_.function);
        call = call_;
        const auto now = time.now();
        const auto until = last_ ? now + (give_up_at - now) / 2 : give_up_at;
        if (is_new || !last_)
            co_await wait_for_end(call, time, std::move(strand), until, std::move(is_over));
        if (call->has_ended() && call_ == call) call_.reset();
    }
    try {
        last_ = read(call.get());
        failure_.clear();
    } catch (const error& e) {
        if (!last_) throw;
        if (failure_ != e.what())
            notice_ = std::string(e.what()) + " The last credentials are used again.";
        failure_ = e.what();
    }
    co_return *last_;
}

bool credential_source::refuse(const login& refused) {
    is_accepted_next_ = accepted_.has_value() && *accepted_ != refused;
    return is_accepted_next_;
}

std::string credential_source::take_notice() { return std::exchange(notice_, {}); }

}  // namespace pawl::net
