// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One call with one request and one answer.
#pragma once

#include "connection.hpp"

#include "../../core/util/wakeup.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace pawl::etcd {

struct call_result {
    call_status status{};
    std::string answer{};
    bool is_silent = false;  // nothing at all has come from the server before the limit
};

// Used on one strand. Its end before the answer cancels the call at the server, which may still
// carry it out.
class unary_call final : private http2_session::call_handler {
public:
    unary_call(std::shared_ptr<connection> used, runtime& time,
               const boost::asio::any_io_executor& strand)
        : connection_(std::move(used)), ended_(time, strand) {}
    ~unary_call() {
        if (is_ended_ || number_ == 0) return;
        connection_->session().cancel(number_);
        connection_->flush();
    }
    unary_call(const unary_call&) = delete;
    unary_call& operator=(const unary_call&) = delete;

    // Throws only on cancellation.
    boost::asio::awaitable<call_result> run(std::string_view path, http2_session::metadata fields,
                                            std::string_view request, time_point give_up_at) {
        const auto arrivals = connection_->arrivals();
        number_ = connection_->session().begin(path, fields, *this);
        if (number_ == 0) {
            is_ended_ = true;
            result_.status.message = "the connection is being closed";
            co_return result_;
        }
        connection_->session().send(number_, request, true);
        connection_->flush();
        if (!is_ended_) co_await ended_.wait_until(give_up_at);
        if (!is_ended_) {
            result_.status = {call_status::deadline_exceeded, "it did not answer in time"};
            result_.is_silent = connection_->arrivals() == arrivals;
        }
        co_return result_;
    }

private:
    void on_message(std::string_view message) override { result_.answer = message; }
    void on_end(const call_status& status) override {
        is_ended_ = true;
        result_.status = status;
        ended_.notify();
    }

    const std::shared_ptr<connection> connection_;
    core::wakeup ended_;
    std::int32_t number_ = 0;
    bool is_ended_ = false;
    call_result result_;
};

}  // namespace pawl::etcd
