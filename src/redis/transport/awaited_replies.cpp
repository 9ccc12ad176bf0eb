// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "awaited_replies.hpp"

#include <algorithm>
#include <utility>

namespace pawl::redis {

void awaited_replies::add(pending_request::queue& waits_in, pending_request* request,
                          unsigned replies, bool until_pong) {
    const auto number = first_number_ + awaited_.size();
    awaited_.push_back({request, replies, until_pong});
    if (request != nullptr) request->enter(waits_in, number);
}

void awaited_replies::deliver(reply&& message) {
    // A reply without a request, such as an error before the server closes the connection.
    if (awaited_.empty()) {
        if (message.type == reply::kind::error) unrequested_error_ = std::move(message.text);
        return;
    }
    auto& first_awaited = awaited_.front();
    auto* request = first_awaited.request;
    if (std::exchange(first_awaited.until_pong, false) && message.type == reply::kind::error)
        first_awaited.replies = 2;  // this error, and the reply to PING
    const bool is_last = --first_awaited.replies == 0;
    if (is_last) {
        awaited_.pop_front();
        ++first_number_;
    }
    if (request != nullptr) request->receive(std::move(message), is_last);
}

bool awaited_replies::has_unanswered_requests() const noexcept {
    return std::any_of(awaited_.begin(), awaited_.end(),
                       [](const entry& each) { return !each.until_pong; });
}

std::vector<pending_request*> awaited_replies::requests() const {
    std::vector<pending_request*> result;
    for (const auto& each : awaited_) {
        if (each.request != nullptr) result.push_back(each.request);
    }
    return result;
}

std::string awaited_replies::last_words() const {
    if (!unrequested_error_.empty() || awaited_.empty()) return unrequested_error_;
    const auto* first = awaited_.front().request;
    if (first == nullptr || awaited_.front().until_pong) return {};
    const auto refusal =
        std::ranges::find(first->earlier_replies, reply::kind::error, &reply::type);
    return refusal == first->earlier_replies.end() ? std::string() : refusal->text;
}

void awaited_replies::cancel(std::uint64_t number) {
    if (number < first_number_) return;
    if (auto* request = at(number).request) request->cancel();
}

void awaited_replies::drop_all() noexcept {
    while (!awaited_.empty()) {
        auto* request = awaited_.front().request;
        awaited_.pop_front();
        ++first_number_;
        if (request != nullptr) request->drop_handler();
    }
}

}  // namespace pawl::redis
