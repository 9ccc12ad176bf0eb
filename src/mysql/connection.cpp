// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "connection.hpp"

#include "../core/util/back_off.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <span>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::mysql {
namespace {

// The server ends a connection that is idle for a minute, so it notices a dead client.
constexpr duration ping_interval = 15s;
// A listener's call without a message waits for `listener_wait_seconds`. One that ends earlier has
// not found the session's user lock: it may have reached another server.
constexpr duration least_listener_wait = 1s;
constexpr int listener_wait_seconds = 40;
constexpr duration listener_retry_pause = 500ms;
constexpr int most_conflicts = 6;
constexpr core::pause_lengths conflict_pauses{.first = 5ms, .longest = 80ms};

std::string hexadecimal(std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string result;
    result.reserve(2 * text.size());
    for (const char each : text) {
        const auto byte = static_cast<unsigned char>(each);
        result += digits[byte >> 4];
        result += digits[byte & 15];
    }
    return result;
}

using text_list = std::vector<std::string>;

// A server joins several lists slowly, so the lists are the columns of one.
std::string rows_literal(std::span<const text_list* const> columns) {
    std::string text = "'[";
    for (std::size_t i = 0; i < columns.front()->size(); ++i) {
        text += i == 0 ? "[" : ",[";
        for (const auto* column : columns) {
            if (column != columns.front()) text += ',';
            text += '"' + hexadecimal(column->at(i)) + '"';
        }
        text += ']';
    }
    return text + "]'";
}

std::string literal(const sql::parameter& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    if (const auto* text = std::get_if<std::string>(&value)) return bytes_literal(*text);
    return "null";
}

// A conflict has undone the whole transaction. Repeated, its last statement would hide that.
bool may_repeat(const pending_statement& sent, const libmariadb_connection::result& answer) {
    const auto* failure = std::get_if<server_error>(&answer);
    return failure != nullptr && is_conflict(*failure) && sent.is_transaction && !sent.is_abandoned;
}

}  // namespace

std::string bytes_literal(std::string_view text) { return "x'" + hexadecimal(text) + "'"; }

std::string text_literal(std::string_view text) { return "_utf8mb4 " + bytes_literal(text); }

std::string call_text(const std::string& schema, std::string_view function,
                      const std::vector<sql::parameter>& parameters) {
    auto text = "CALL `" + schema + "`." + std::string(function) + "_1(";
    for (auto each = parameters.begin(); each != parameters.end();) {
        if (each != parameters.begin()) text += ',';
        std::vector<const text_list*> lists;
        for (; each != parameters.end() && std::holds_alternative<text_list>(*each); ++each)
            lists.push_back(&std::get<text_list>(*each));
        text += lists.empty() ? literal(*each++) : rows_literal(lists);
    }
    return text + ")";
}

std::string statement_text(std::string_view pattern,
                           const std::vector<sql::parameter>& parameters) {
    std::string text;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '$') {
            text += pattern[i];
            continue;
        }
        const auto& value = parameters.at(static_cast<std::size_t>(pattern[++i] - '1'));
        const auto* bytes = std::get_if<std::string>(&value);
        text += bytes != nullptr ? text_literal(*bytes) : literal(value);
    }
    return text;
}

connection::connection(std::shared_ptr<libmariadb_connection> link, error_place place,
                       sql::session_facts facts, listener_connector connect_listener,
                       sql::session_handlers handlers, asio::any_io_executor strand, runtime& time)
    : link_(std::move(link)),
      place_(std::move(place)),
      facts_(std::move(facts)),
      connect_listener_(std::move(connect_listener)),
      handlers_(std::move(handlers)),
      strand_(std::move(strand)),
      time_(time),
      listener_pause_(std::make_shared<core::wakeup>(time, strand_)) {}

connection::~connection() { close(); }

void connection::start() {
    asio::co_spawn(strand_, work(weak_from_this(), link_, time_), asio::detached);
}

void connection::throw_if_over() const {
    fork_mark_.throw_if_forked();
    if (is_over_)
        throw error(errc::unreachable,
                    place_.server + ": the connection has ended (" + end_reason_ + ").");
}

asio::awaitable<std::vector<sql::row>> connection::run(const sql::call& request,
                                                       time_point give_up_at) {
    throw_if_over();
    if (!request.text.empty())
        return run_text(statement_text(request.text, request.parameters), give_up_at);
    return run_text(call_text(place_.schema, request.function, request.parameters), give_up_at);
}

asio::awaitable<std::vector<sql::row>> connection::run_text(std::string text,
                                                            time_point give_up_at) {
    auto sent = send(std::move(text));
    sent->is_transaction = true;
    return wait(std::move(sent), give_up_at);
}

std::shared_ptr<pending_statement> connection::send(std::string text, bool may_take_long) {
    throw_if_over();
    auto sent = std::make_shared<pending_statement>(time_, strand_, std::move(text));
    sent->may_take_long = may_take_long;
    sent->answered.prepare();
    waiting_.push_back(sent);
    link_->wake();
    return sent;
}

void connection::set_silence_limit(duration limit) noexcept {
    silence_limit_ = limit;
    link_->set_user_timeout(limit);
}

asio::awaitable<std::vector<sql::row>> connection::wait(std::shared_ptr<pending_statement> sent,
                                                        time_point give_up_at) {
    struct abandon_at_exit {
        std::shared_ptr<pending_statement> statement;
        ~abandon_at_exit() { statement->is_abandoned = true; }
    } const guard{sent};
    const auto began_at = time_.now();
    while (!sent->is_answered && time_.now() < give_up_at)
        co_await sent->answered.wait_until(give_up_at);
    if (!sent->is_answered)
        throw sql::no_answer(place_.server + " did not answer within " +
                             std::to_string((time_.now() - began_at) / 1ms) + " ms.");
    if (sent->failure) std::rethrow_exception(sent->failure);
    co_return std::move(sent->rows);
}

asio::awaitable<void> connection::work(std::weak_ptr<connection> weak,
                                       std::shared_ptr<libmariadb_connection> link, runtime& time) {
    for (;;) {
        {
            const auto self = weak.lock();
            if (!self || self->is_over_) co_return;
            co_await self->work_once();
            if (self->is_over_) co_return;
        }
        const auto ping_at = time.now() + ping_interval;
        const bool is_readable = co_await link->wait_idle(ping_at);
        const auto self = weak.lock();
        // In a fork of the process, the connection closes itself.
        if (!self || self->is_over_ || self->fork_mark_.is_forked()) co_return;
        if (link->is_closed()) co_return self->end("no wait for the socket is possible");
        if (!is_readable && time.now() < ping_at) continue;
        // While it is idle, the server says nothing but its farewell.
        const auto failure = co_await link->ping(self->silence_limit_);
        if (failure.number != 0) self->end(failure.message);
    }
}

asio::awaitable<void> connection::work_once() {
    while (!is_over_ && !waiting_.empty()) {
        if (waiting_.front()->is_abandoned)
            waiting_.pop_front();
        else
            co_await run_next();
    }
}

asio::awaitable<void> connection::run_next() {
    const auto sent = waiting_.front();
    const auto silence = sent->may_take_long ? duration::max() : silence_limit_;
    auto answer = co_await link_->query(sent->text, silence);
    core::back_off pauses(time_, conflict_pauses);
    core::wakeup pause(time_, strand_);
    for (int i = 0; i < most_conflicts && may_repeat(*sent, answer); ++i) {
        co_await pause.wait_until(time_.now() + pauses.next_pause());
        if (is_over_) co_return;
        answer = co_await link_->query(sent->text, silence);
    }
    if (is_over_) co_return;
    waiting_.pop_front();
    const auto* failure = std::get_if<server_error>(&answer);
    if (failure == nullptr) {
        sent->rows = std::get<std::vector<sql::row>>(answer);
    } else if (is_network_failure(*failure)) {
        waiting_.push_front(sent);
        end(failure->message);
        co_return;
    } else {
        // A statement that somebody ended may leave its transaction open, or have committed it.
        const auto ended = co_await link_->query("rollback", silence_limit_);
        if (std::holds_alternative<server_error>(ended) && !is_over_) end(failure->message);
        sent->error_number = failure->number;
        sent->failure = is_interruption(*failure)
                            ? std::make_exception_ptr(sql::no_answer(
                                  place_.server + " ended the call: " + failure->message + "."))
                            : std::make_exception_ptr(call_error(*failure, place_));
        if (ends_session(*failure)) end(failure->message);
    }
    sent->is_answered = true;
    sent->answered.notify();
}

void connection::listen() {
    if (has_listener_ || !facts_.is_pushed || !connect_listener_) return;
    has_listener_ = true;
    asio::co_spawn(strand_, keep_listening(weak_from_this(), connect_listener_), asio::detached);
}

asio::awaitable<void> connection::keep_listening(std::weak_ptr<connection> weak,
                                                 listener_connector connect_listener) {
    for (;;) {
        std::shared_ptr<libmariadb_connection> listener;
        try {
            listener = co_await connect_listener();
        } catch (const std::exception&) {  // waiters look from time to time meanwhile
        }
        std::shared_ptr<core::wakeup> pause;
        time_point retry_at{};
        if (const auto self = weak.lock(); self && !self->is_over_) {
            self->listener_ = listener;
            pause = self->listener_pause_;
            retry_at = self->time_.now() + listener_retry_pause;
        } else {
            if (listener) listener->close();
            co_return;
        }
        if (listener) co_await listen_with(weak, listener);
        if (const auto self = weak.lock(); self && !self->is_over_ && !self->fork_mark_.is_forked())
            self->note_hearing(false);
        else
            co_return;
        co_await pause->wait_until(retry_at);
    }
}

// Returns when the listener's connection has ended.
asio::awaitable<void> connection::listen_with(std::weak_ptr<connection> weak,
                                              std::shared_ptr<libmariadb_connection> listener) {
    std::vector<std::string> read;
    for (;;) {
        std::string text;
        time_point asked_at;
        if (const auto self = weak.lock(); self && !self->is_over_) {
            text = call_text(self->place_.schema, "listen",
                             {self->facts_.client, read, std::int64_t{listener_wait_seconds}});
            asked_at = self->time_.now();
        } else {
            break;
        }
        const auto answer =
            co_await listener->query(std::move(text), listener_wait_seconds * 1s + silence_limit);
        const auto self = weak.lock();
        if (!self || self->is_over_) break;
        if (const auto* failure = std::get_if<server_error>(&answer)) {
            if (is_interruption(*failure)) continue;  // there are messages
            break;
        }
        read.clear();
        const auto& messages = std::get<std::vector<sql::row>>(answer);
        if (messages.empty() && self->time_.now() - asked_at < least_listener_wait) break;
        self->note_hearing(true);
        for (const auto& each : messages)
            if (!each.empty() && each[0]) read.push_back(*each[0]);
        self->deliver(messages);
    }
    listener->close();
}

void connection::note_hearing(bool is_hearing) {
    if (handlers_.on_hearing) handlers_.on_hearing(is_hearing);
}

void connection::deliver(const std::vector<sql::row>& messages) {
    const auto handler = handlers_.on_message;  // it may close the session
    for (const auto& each : messages)
        if (!is_over_ && handler && each.size() > 1 && each[1]) handler(*each[1]);
}

void connection::close() noexcept {
    if (is_over_) return;
    handlers_ = {};
    close_links("it was closed");
}

// The handler is called later: this may be within a function of the session.
void connection::end(const std::string& reason) noexcept {
    if (is_over_) return;
    auto on_end = std::exchange(handlers_, {}).on_end;
    close_links(reason);
    if (!on_end) return;
    try {
        asio::post(strand_, std::move(on_end));
    } catch (...) {  // no memory: the next call finds that the session has ended
    }
}

void connection::close_links(const std::string& reason) noexcept {
    is_over_ = true;
    link_->close();
    if (listener_) listener_->close();
    auto unanswered = std::exchange(waiting_, {});
    try {
        end_reason_ = reason;
        listener_pause_->notify();
        for (const auto& each : unanswered) {
            if (each->is_answered) continue;
            each->is_answered = true;
            each->failure = std::make_exception_ptr(sql::no_answer(
                place_.server + " did not answer: the connection has ended (" + reason + ")."));
            each->answered.notify();
        }
    } catch (...) {  // no memory: the calls end at their limits
    }
}

}  // namespace pawl::mysql
