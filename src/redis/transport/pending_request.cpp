// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "pending_request.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <charconv>

namespace asio = boost::asio;

namespace pawl::redis {
namespace {

constexpr std::size_t number_size = 24;  // a type mark, up to 20 digits, \r\n

// Out of line, so that the usual case is short.
[[gnu::noinline]] char* put_long_number(char* position, std::size_t number) {
    return std::to_chars(position, position + 20, number).ptr;
}

// Most lengths have one or two digits.
char* put_line(char* position, char mark, std::size_t number) {
    *position++ = mark;
    if (number >= 100) {
        position = put_long_number(position, number);
    } else {
        if (number >= 10) *position++ = static_cast<char>('0' + number / 10);
        *position++ = static_cast<char>('0' + number % 10);
    }
    *position++ = '\r';
    *position++ = '\n';
    return position;
}

}  // namespace

void append_command(std::string& target, std::span<const std::string_view> words) {
    const auto begin = target.size();
    auto max_size = begin + number_size;
    for (const auto& word : words)
        max_size += number_size + word.size() + 2;
    target.resize(max_size);
    auto* position = put_line(target.data() + begin, '*', words.size());
    for (const auto& word : words) {
        position = put_line(position, '$', word.size());
        position = std::copy(word.begin(), word.end(), position);
        *position++ = '\r';
        *position++ = '\n';
    }
    target.resize(static_cast<std::size_t>(position - target.data()));
}

void pending_request::wait(completion_handler handler) {
    // Fetch the slot after the conversion to `completion_handler`, which replaces the slot.
    handler_ = std::move(handler);
    auto slot = asio::get_associated_cancellation_slot(handler_);
    if (slot.is_connected()) {
        // The slot may be called after this object is destroyed. So it asks the queue by number.
        slot.assign(
            [waits_in = queue_->weak_from_this(), number = number_](asio::cancellation_type) {
                if (const auto alive = waits_in.lock()) alive->cancel(number);
            });
    }
}

void pending_request::receive(reply&& message, bool is_last) {
    if (!is_last) {
        earlier_replies.push_back(std::move(message));
        return;
    }
    queue_ = nullptr;
    last_reply = std::move(message);
    auto handler = std::move(handler_);
    std::move(handler)();  // may destroy this object
}

void pending_request::cancel() {
    is_cancelled_ = true;
    complete_soon();
}

void pending_request::fail(const std::string& reason) {
    failure_ = reason;
    complete_soon();
}

// Posts the handler, since it must not run inside the caller's cancellation, nor in a loop over the
// waiting requests.
void pending_request::complete_soon() {
    if (queue_ == nullptr) return;
    auto executor = queue_->executor();
    leave_queue();
    asio::post(executor, std::move(handler_));
}

void pending_request::throw_if_failed(const std::string& subject) const {
    if (is_cancelled_) throw boost::system::system_error(asio::error::operation_aborted);
    if (!failure_.empty()) throw connection_lost(subject + ": " + failure_);
}

void pending_request::leave_queue() noexcept {
    if (auto* waits_in = std::exchange(queue_, nullptr)) waits_in->forget(number_);
}

void pending_request::drop_handler() noexcept {
    queue_ = nullptr;
    const auto handler = std::move(handler_);
}

}  // namespace pawl::redis
