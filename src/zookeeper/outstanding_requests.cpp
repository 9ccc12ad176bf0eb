// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "outstanding_requests.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace pawl::zookeeper {
namespace {

[[noreturn]] void fail_unexpected(std::int32_t xid) {
    throw error(errc::protocol,
                "ZooKeeper sent a reply with the number " + std::to_string(xid) +
                    ", which no request waits for; see whether a proxy is between.");
}

}  // namespace

void outstanding_requests::add(const pending_ptr& sent) {
    sent->xid = next_xid_;
    pending_.push_back(sent);
    next_xid_ = next_xid_ == std::numeric_limits<std::int32_t>::max() ? 1 : next_xid_ + 1;
}

std::optional<node_event> outstanding_requests::take(std::string_view frame) {
    jute_reader in(frame);
    reply_header header;
    header.xid = in.number<std::int32_t>();
    header.change = in.number<std::int64_t>();
    header.code = static_cast<reply_code>(in.number<std::int32_t>());
    last_change_ = std::max(last_change_, header.change);
    switch (header.xid) {
    case notification_xid: return read_event(in.rest());
    case set_watches_xid: break;
    case auth_xid: is_login_refused_ = header.code != reply_code::ok; break;
    case ping_xid:
        if (pings_.empty()) fail_unexpected(header.xid);
        evidence.on_contact(pings_.front());
        pings_.pop_front();
        break;
    default: take_reply(header, in.rest());
    }
    return std::nullopt;
}

void outstanding_requests::take_reply(const reply_header& header, std::string_view body) {
    if (pending_.empty() || pending_.front()->xid != header.xid) fail_unexpected(header.xid);
    const auto answered = std::move(pending_.front());
    pending_.pop_front();
    evidence.on_contact(answered->sent_at);
    if (answered->type == operation::sync && header.code == reply_code::ok)
        evidence.on_sync(answered->sent_at);
    answered->answer = {header.code, std::string(body)};
    answered->is_answered = true;
    answered->answered.notify();
}

void outstanding_requests::fail_all() {
    pings_.clear();
    for (const auto& each : std::exchange(pending_, {}))
        each->fail();
}

time_point outstanding_requests::oldest() const noexcept {
    auto oldest = time_point::max();
    if (!pending_.empty()) oldest = pending_.front()->sent_at;
    if (!pings_.empty()) oldest = std::min(oldest, pings_.front());
    return oldest;
}

}  // namespace pawl::zookeeper
