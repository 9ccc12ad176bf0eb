// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "proxy_connection.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>

#include <sys/socket.h>
#include <unistd.h>

namespace support {

namespace {

std::string upper(std::string word) {
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char each) { return static_cast<char>(std::toupper(each)); });
    return word;
}

command_words words_of(std::string_view bytes) {
    command_words result;
    for (resp_value& each : parse_resp(bytes).items)
        result.push_back(std::move(each.text));
    return result;
}

// RESP3 marks pushes; in RESP2 only their first element tells.
bool is_push(const resp_value& value) {
    if (value.kind == '>') return true;
    if (value.kind != '*' || value.items.empty()) return false;
    const std::string& first = value.items.front().text;
    return first == "message" || first == "pmessage" || first == "smessage" ||
           first == "invalidate";
}

// Appends the received bytes. False: the stream has ended.
bool receive(int socket, std::string& received) {
    char buffer[65536];
    const auto count = ::recv(socket, buffer, sizeof buffer, MSG_DONTWAIT);
    if (count > 0) received.append(buffer, static_cast<std::size_t>(count));
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace

const fault* proxy_state::match_fault(const command_words& words) {
    for (injected_fault& each : faults) {
        if (!each.definition.matches(words)) continue;
        ++each.matched;
        if (each.matched < each.definition.first_match ||
            each.matched >= each.definition.first_match + each.definition.times)
            continue;
        ++strike_count;
        return &each.definition;
    }
    return nullptr;
}

proxy_connection::~proxy_connection() {
    ::close(client_);
    ::close(server_);
}

pawl::time_point proxy_connection::wakes_at() const noexcept {
    return swallowing_ ? pawl::time_point::max()
                       : std::min(to_client_.ready_at(), to_server_.ready_at());
}

void proxy_connection::read_client(proxy_state& state) {
    over_ = !receive(client_, from_client_);
    while (!over_ && !swallowing_) {
        const std::size_t length = resp_length(from_client_);
        if (length == 0) return;
        std::string bytes = from_client_.substr(0, length);
        from_client_.erase(0, length);
        const command_words words = words_of(bytes);
        handle_command(words, std::move(bytes), state);
    }
}

void proxy_connection::handle_command(const command_words& words, std::string bytes,
                                      proxy_state& state) {
    const auto now = pawl::boot_clock::now();
    state.commands.push_back({words, now, number_});
    if (upper(words.front()) == "HELLO" && words.size() > 1) resp3_ = words[1] == "3";
    const auto not_before = now + state.request_delay;
    if (const fault* applied = state.match_fault(words))
        return apply_fault(*applied, std::move(bytes), not_before);
    expect_replies(words);
    to_server_.add(std::move(bytes), not_before);
}

// In RESP3 the reply to a subscription is a push; in RESP2 there is one reply for each channel.
void proxy_connection::expect_replies(const command_words& words) {
    const std::string name = upper(words.front());
    const bool subscribing = name.ends_with("SUBSCRIBE");
    if (subscribing && resp3_) return;
    const std::size_t count = subscribing ? std::max<std::size_t>(words.size() - 1, 1) : 1;
    for (std::size_t i = 0; i < count; ++i)
        expected_.emplace_back();
}

void proxy_connection::apply_fault(const fault& applied, std::string bytes,
                                   pawl::time_point not_before) {
    switch (applied.kind) {
    case fault_kind::lose_request: over_ = true; return;
    case fault_kind::swallow: swallowing_ = true; return;
    case fault_kind::reply:
        expected_.push_back({.own_reply = applied.reply});
        return send_own_replies();
    case fault_kind::delay_request:
        expected_.emplace_back();
        to_server_.add(std::move(bytes), not_before + applied.delay);
        return;
    case fault_kind::repeat_request:
        expected_.push_back({.kind = fault_kind::reply, .swallow_next = true});
        to_server_.add(bytes + bytes, not_before);
        return;
    case fault_kind::lose_reply:
    case fault_kind::cut_reply:
    case fault_kind::delay_reply:
        expected_.push_back({.kind = applied.kind, .delay = applied.delay});
        to_server_.add(std::move(bytes), not_before);
        return;
    }
}

void proxy_connection::read_server(proxy_state& state) {
    const bool is_open = receive(server_, from_server_);
    while (!over_ && !ends_when_sent_) {
        const std::size_t length = resp_length(from_server_);
        if (length == 0) break;
        std::string bytes = from_server_.substr(0, length);
        from_server_.erase(0, length);
        const bool push = is_push(parse_resp(bytes));
        handle_reply(std::move(bytes), push, state);
        send_own_replies();
    }
    ends_when_sent_ = ends_when_sent_ || !is_open;
}

// Sends own replies that waited only for the server's earlier replies.
void proxy_connection::send_own_replies() {
    for (; !expected_.empty() && !expected_.front().own_reply.empty(); expected_.pop_front())
        to_client_.add(std::move(expected_.front().own_reply), pawl::boot_clock::now());
}

void proxy_connection::handle_reply(std::string bytes, bool push, const proxy_state& state) {
    const auto not_before = pawl::boot_clock::now() + state.reply_delay;
    if (push || expected_.empty()) {
        if (!push || !state.drop_pushes) to_client_.add(std::move(bytes), not_before);
        return;
    }
    const expected_reply handling = expected_.front();
    expected_.pop_front();
    switch (handling.kind) {
    case fault_kind::lose_reply: over_ = true; return;
    case fault_kind::cut_reply:
        bytes.resize(bytes.size() / 2);
        to_client_.add(std::move(bytes), not_before);
        ends_when_sent_ = true;
        return;
    case fault_kind::delay_reply:
        to_client_.add(std::move(bytes), not_before + handling.delay);
        break;
    case fault_kind::swallow: return;
    default: to_client_.add(std::move(bytes), not_before);
    }
    if (handling.swallow_next) expected_.push_front({.kind = fault_kind::swallow});
}

void proxy_connection::flush(pawl::time_point now) {
    if (swallowing_) return;
    if (!to_server_.flush(server_, now) || !to_client_.flush(client_, now)) over_ = true;
    if (ends_when_sent_ && to_client_.is_empty()) over_ = true;
}

}  // namespace support
