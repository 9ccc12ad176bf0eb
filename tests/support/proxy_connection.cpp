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

// RESP3 marks them; in RESP2 only their first element tells.
bool is_push(const resp_value& value) {
    if (value.kind == '>') return true;
    if (value.kind != '*' || value.items.empty()) return false;
    const std::string& first = value.items.front().text;
    return first == "message" || first == "pmessage" || first == "smessage" ||
           first == "invalidate";
}

// Appends what has come. False: the stream has ended.
bool receive(int socket, std::string& to) {
    char some[65536];
    const auto count = ::recv(socket, some, sizeof some, MSG_DONTWAIT);
    if (count > 0) to.append(some, static_cast<std::size_t>(count));
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace

const fault* proxy_orders::fate_of(const command_words& words) {
    for (order& each : faults) {
        if (!each.what.which(words)) continue;
        ++each.matched;
        if (each.matched < each.what.nth || each.matched >= each.what.nth + each.what.times)
            continue;
        ++struck;
        return &each.what;
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

void proxy_connection::read_client(proxy_orders& orders) {
    over_ = !receive(client_, from_client_);
    while (!over_ && !swallowing_) {
        const std::size_t length = resp_length(from_client_);
        if (length == 0) return;
        std::string bytes = from_client_.substr(0, length);
        from_client_.erase(0, length);
        const command_words words = words_of(bytes);
        take_command(words, std::move(bytes), orders);
    }
}

void proxy_connection::take_command(const command_words& words, std::string bytes,
                                    proxy_orders& orders) {
    const auto now = pawl::boot_clock::now();
    orders.seen.push_back({words, now, number_});
    if (upper(words.front()) == "HELLO" && words.size() > 1) resp3_ = words[1] == "3";
    const auto not_before = now + orders.request_delay;
    if (const fault* with = orders.fate_of(words))
        return strike(*with, std::move(bytes), not_before);
    expect_answers(words, {});
    to_server_.add(std::move(bytes), not_before);
}

// In RESP3 the answer to a subscription is a push; in RESP2 it is one answer for each channel.
void proxy_connection::expect_answers(const command_words& words, expected how) {
    const std::string name = upper(words.front());
    const bool subscribing = name.ends_with("SUBSCRIBE");
    if (subscribing && resp3_) return;
    const std::size_t count = subscribing ? std::max<std::size_t>(words.size() - 1, 1) : 1;
    for (std::size_t i = 0; i < count; ++i)
        expected_.push_back(how);
}

void proxy_connection::strike(const fault& with, std::string bytes, pawl::time_point not_before) {
    switch (with.what) {
    case fate::lose_request: over_ = true; return;
    case fate::swallow: swallowing_ = true; return;
    case fate::answer: expected_.push_back({.own = with.text}); return give_own_answers();
    case fate::delay_request:
        expected_.emplace_back();
        to_server_.add(std::move(bytes), not_before + with.by);
        return;
    case fate::repeat_request:
        expected_.push_back({.what = fate::answer, .swallow_next = true});
        to_server_.add(bytes + bytes, not_before);
        return;
    case fate::lose_reply:
    case fate::cut_reply:
    case fate::delay_reply:
        expected_.push_back({.what = with.what, .by = with.by});
        to_server_.add(std::move(bytes), not_before);
        return;
    }
}

void proxy_connection::read_server(proxy_orders& orders) {
    const bool goes_on = receive(server_, from_server_);
    while (!over_ && !ends_when_sent_) {
        const std::size_t length = resp_length(from_server_);
        if (length == 0) break;
        std::string bytes = from_server_.substr(0, length);
        from_server_.erase(0, length);
        const bool push = is_push(parse_resp(bytes));
        take_reply(std::move(bytes), push, orders);
        give_own_answers();
    }
    ends_when_sent_ = ends_when_sent_ || !goes_on;
}

// Those that were only waiting for what the server owed before them.
void proxy_connection::give_own_answers() {
    for (; !expected_.empty() && !expected_.front().own.empty(); expected_.pop_front())
        to_client_.add(std::move(expected_.front().own), pawl::boot_clock::now());
}

void proxy_connection::take_reply(std::string bytes, bool push, const proxy_orders& orders) {
    const auto not_before = pawl::boot_clock::now() + orders.reply_delay;
    if (push || expected_.empty()) {
        if (!push || !orders.drop_pushes) to_client_.add(std::move(bytes), not_before);
        return;
    }
    const expected how = expected_.front();
    expected_.pop_front();
    switch (how.what) {
    case fate::lose_reply: over_ = true; return;
    case fate::cut_reply:
        bytes.resize(bytes.size() / 2);
        to_client_.add(std::move(bytes), not_before);
        ends_when_sent_ = true;
        return;
    case fate::delay_reply: to_client_.add(std::move(bytes), not_before + how.by); break;
    case fate::swallow: return;
    default: to_client_.add(std::move(bytes), not_before);
    }
    if (how.swallow_next) expected_.push_front({.what = fate::swallow});
}

void proxy_connection::flush(pawl::time_point now) {
    if (swallowing_) return;
    if (!to_server_.flush(server_, now) || !to_client_.flush(client_, now)) over_ = true;
    if (ends_when_sent_ && to_client_.empty()) over_ = true;
}

}  // namespace support
