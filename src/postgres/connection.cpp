// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "connection.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::postgres {
namespace {

struct clear_result {
    void operator()(PGresult* result) const noexcept { ::PQclear(result); }
};
using result_ptr = std::unique_ptr<PGresult, clear_result>;

struct free_notification {
    void operator()(PGnotify* message) const noexcept { ::PQfreemem(message); }
};
using notification_ptr = std::unique_ptr<PGnotify, free_notification>;

std::vector<const char*> pointers_of(const std::vector<text_value>& values) {
    std::vector<const char*> pointers;
    pointers.reserve(values.size());
    for (const auto& each : values)
        pointers.push_back(each ? each->c_str() : nullptr);
    return pointers;
}

std::string call_text(const std::string& schema, std::string_view function, std::size_t count) {
    auto text = "SELECT * FROM \"" + schema + "\"." + std::string(function) + "_1(";
    for (std::size_t i = 1; i <= count; ++i)
        text.append(i == 1 ? "$" : ",$").append(std::to_string(i));
    return text + ")";
}

std::string array_literal(const std::vector<std::string>& list) {
    std::string text = "{";
    for (const auto& each : list) {
        if (text.size() > 1) text += ',';
        text += '"';
        for (const char c : each) {
            if (c == '"' || c == '\\') text += '\\';
            text += c;
        }
        text += '"';
    }
    return text + "}";
}

}  // namespace

text_value to_text(const sql::parameter& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* list = std::get_if<std::vector<std::string>>(&value))
        return array_literal(*list);
    return std::nullopt;
}

connection::connection(std::unique_ptr<libpq_connection> connected, error_place place,
                       asio::any_io_executor strand, runtime& time)
    : connected_(std::move(connected)),
      place_(std::move(place)),
      strand_(std::move(strand)),
      time_(time),
      watch_changed_(std::make_shared<core::wakeup>(time, strand_)) {}

connection::~connection() { close(); }

void connection::start() {
    // Not blocking before the pipeline mode: then libpq never waits for the socket.
    if (::PQsetnonblocking(handle(), 1) != 0 || ::PQenterPipelineMode(handle()) != 1)
        throw error(errc::unreachable, place_.server + ": " + network_failure() + ".");
    read_next();
}

void connection::set_ready(sql::session_facts facts, sql::session_handlers handlers) {
    facts_ = std::move(facts);
    handlers_ = std::move(handlers);
    channel_ = "pawl_" + facts_.client;
    is_ready_ = true;
    heard_at_ = time_.now();
    watch_changed_->prepare();
    asio::co_spawn(strand_, watch(weak_from_this(), watch_changed_, time_), asio::detached);
}

void connection::throw_if_over() const {
    fork_mark_.throw_if_forked();
    if (is_over_)
        throw error(errc::unreachable,
                    place_.server + ": the connection has ended (" + end_reason_ + ").");
}

// The connection broke before the statement was in the queue of expected results.
void connection::throw_if_unsent(const pending_statement& sent) const {
    if (is_over_ && !sent.is_answered)
        throw sql::no_answer(place_.server + ": the connection has ended (" + end_reason_ + ").");
}

asio::awaitable<std::vector<sql::row>> connection::run(const sql::call& request,
                                                       time_point give_up_at) {
    throw_if_over();
    auto sent = send_call(request);
    return wait(std::move(sent), give_up_at);
}

asio::awaitable<std::vector<sql::row>> connection::wait(std::shared_ptr<pending_statement> sent,
                                                        time_point give_up_at) {
    const auto began_at = time_.now();
    while (!sent->is_answered && time_.now() < give_up_at)
        co_await sent->answered.wait_until(give_up_at);
    if (!sent->is_answered)
        throw sql::no_answer(place_.server + " did not answer within " +
                             std::to_string((time_.now() - began_at) / 1ms) + " ms.");
    if (sent->failure) std::rethrow_exception(sent->failure);
    co_return std::move(sent->rows);
}

std::shared_ptr<pending_statement> connection::send_call(const sql::call& request) {
    std::vector<text_value> values;
    values.reserve(request.parameters.size());
    for (const auto& each : request.parameters)
        values.push_back(to_text(each));
    const auto text = request.text.empty()
                          ? call_text(place_.schema, request.function, values.size())
                          : std::string(request.text);
    const auto notify_text = call_text(place_.schema, "notify", 0);
    auto sent = std::make_shared<pending_statement>(time_, strand_);
    sent->answered.prepare();
    // A forced release may follow a renewal.
    if (request.text.empty() && request.function == "renew" && facts_.is_pushed) listen();
    // A proxy may give the next statement to another connection, which has not prepared it.
    if (is_ready_ && facts_.is_pushed) {
        send_prepared(std::string(request.function), text, values, sent, false);
        if (request.notifies) send_prepared("notify", notify_text, {}, nullptr, true);
    } else {
        send_unprepared(text, values, sent);
        if (request.notifies)
            send_unprepared(notify_text, {}, nullptr, expected_result::kind::notification);
    }
    flush();
    throw_if_unsent(*sent);
    return sent;
}

// Each NOTIFY wakes all sessions that listen in the database, also those that it is not for. So a
// session begins to listen when it waits for the first time, or renews.
void connection::listen() {
    if (is_over_ || std::exchange(is_listening_, true)) return;
    send_unprepared("listen \"" + channel_ + "\"", {}, nullptr, expected_result::kind::listen);
    flush();
}

std::shared_ptr<pending_statement> connection::send(const std::string& text,
                                                    const std::vector<text_value>& values,
                                                    bool may_take_long) {
    throw_if_over();
    auto sent = std::make_shared<pending_statement>(time_, strand_);
    sent->may_take_long = may_take_long;
    sent->answered.prepare();
    send_unprepared(text, values, sent);
    flush();
    throw_if_unsent(*sent);
    return sent;
}

void connection::send_prepared(const std::string& name, const std::string& text,
                               const std::vector<text_value>& values,
                               const std::shared_ptr<pending_statement>& sent,
                               bool is_notification) {
    using kind = expected_result::kind;
    const int count = static_cast<int>(values.size());
    if (is_over_) return;
    if (expected_.empty()) heard_at_ = time_.now();
    if (prepared_.insert(name).second) {
        if (::PQsendPrepare(handle(), name.c_str(), text.c_str(), count, nullptr) != 1)
            return end(network_failure());
        expected_.push_back({kind::preparation, sent, name});
    }
    if (::PQsendQueryPrepared(handle(), name.c_str(), count, pointers_of(values).data(), nullptr,
                              nullptr, 0) != 1)
        return end(network_failure());
    expected_.push_back({is_notification ? kind::notification : kind::statement, sent, {}});
    end_pipeline();
}

void connection::send_unprepared(const std::string& text, const std::vector<text_value>& values,
                                 const std::shared_ptr<pending_statement>& sent,
                                 expected_result::kind type) {
    if (is_over_) return;
    if (expected_.empty()) heard_at_ = time_.now();
    if (::PQsendQueryParams(handle(), text.c_str(), static_cast<int>(values.size()), nullptr,
                            pointers_of(values).data(), nullptr, nullptr, 0) != 1)
        return end(network_failure());
    expected_.push_back({type, sent, {}});
    end_pipeline();
}

// A statement is a transaction of its own, which the server ends at once.
void connection::end_pipeline() {
    if (is_over_) return;
#ifdef LIBPQ_HAS_SEND_PIPELINE_SYNC
    const int result = ::PQsendPipelineSync(handle());  // without a write
#else
    const int result = ::PQpipelineSync(handle());
#endif
    if (result != 1) return end(network_failure());
    const auto sent = expected_.back().sent;
    expected_.push_back({expected_result::kind::end_of_pipeline, sent, {}});
    if (is_ready_) watch_changed_->notify();
}

void connection::flush() {
    if (is_over_ || is_flushing_) return;
    const int result = ::PQflush(handle());
    if (result < 0) return end(network_failure());
    if (result == 0) return;
    is_flushing_ = connected_->when_writable([weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->is_flushing_ = false;
        self->flush();
    });
    if (!is_flushing_) end("no memory for a wait");
}

void connection::read_next() {
    const bool is_waiting = connected_->when_readable([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->on_readable();
    });
    if (!is_waiting) end("no memory for a wait");
}

void connection::on_readable() {
    if (is_over_ || fork_mark_.is_forked()) return;
    heard_at_ = time_.now();
    bool is_open = ::PQconsumeInput(handle()) == 1;
    // One read may leave the rest of a TLS record, of which the socket says nothing.
    if (is_open && ::PQsslInUse(handle()) == 1) is_open = ::PQconsumeInput(handle()) == 1;
    while (!is_over_ && take_result()) {}
    if (is_over_) return;
    if (!is_open || ::PQstatus(handle()) == CONNECTION_BAD) return end(network_failure());
    deliver_notifications();
    if (is_over_) return;
    flush();
    if (!is_over_) read_next();
}

bool connection::take_result() {
    if (expected_.empty() || ::PQisBusy(handle()) != 0) return false;
    using kind = expected_result::kind;
    const result_ptr result(::PQgetResult(handle()));
    const auto expected = expected_.front();
    if (!result) {  // the end of a statement's results, or of those of a commit that has failed
        if (expected.type == kind::end_of_pipeline)
            return std::exchange(expected_.front().has_failed, false);
        expected_.pop_front();
        return true;
    }
    switch (::PQresultStatus(result.get())) {
    case PGRES_PIPELINE_SYNC:
        if (expected.type != kind::end_of_pipeline) {
            end("an unexpected reply");
            return false;
        }
        expected_.pop_front();
        settle_commit(expected.sent);
        return true;
    case PGRES_TUPLES_OK:
        if (expected.type == kind::statement) take_rows(*expected.sent, result.get());
        return true;
    case PGRES_COMMAND_OK:
    case PGRES_EMPTY_QUERY:
    case PGRES_PIPELINE_ABORTED:  // its preparation has failed, which is the answer
        return true;
    default:
        expected_.front().has_failed = true;
        fail(expected, result.get());
        return true;
    }
}

// The rows of a statement come before its commit, which may fail.
void connection::settle_commit(const std::shared_ptr<pending_statement>& sent) {
    const bool is_replicated = !connected_->forget_cancelled_wait();
    if (!sent || sent->is_answered) return;
    if (!is_replicated)
        sent->failure = std::make_exception_ptr(
            sql::no_answer(place_.server +
                           ": the commit's wait for a standby was ended, so that it may be lost."));
    sent->is_answered = true;
    sent->answered.notify();
}

void connection::take_rows(pending_statement& target, const PGresult* result) {
    const int columns = ::PQnfields(result);
    for (int i = 0; i < ::PQntuples(result); ++i) {
        sql::row row;
        for (int k = 0; k < columns; ++k) {
            const auto size = static_cast<std::size_t>(::PQgetlength(result, i, k));
            if (::PQgetisnull(result, i, k) != 0)
                row.emplace_back();
            else
                row.emplace_back(std::in_place, ::PQgetvalue(result, i, k), size);
        }
        target.rows.push_back(std::move(row));
    }
}

void connection::fail(const expected_result& expected, const PGresult* result) {
    const auto failure = error_in(result);
    if (expected.type == expected_result::kind::preparation)
        prepared_.erase(expected.prepared_name);
    // Without a SQLSTATE, libpq speaks of the socket.
    if (failure.sqlstate.empty() || is_shutdown(failure)) {
        end_state_ = failure.sqlstate;
        return end(failure.message);
    }
    if (expected.sent && !expected.sent->is_answered) {
        expected.sent->failure = std::make_exception_ptr(call_error(failure, place_));
        expected.sent->is_answered = true;
        expected.sent->answered.notify();
    }
    if (ends_session(failure) || expected.type == expected_result::kind::listen)
        end(failure.message);
}

void connection::deliver_notifications() {
    const auto handler = handlers_.on_message;  // it may close the session
    while (!is_over_) {
        const notification_ptr message(::PQnotifies(handle()));
        if (!message) return;
        if (handler && message->relname == channel_) handler(message->extra);
    }
}

void connection::close() noexcept {
    if (is_over_) return;
    handlers_ = {};
    close_socket("it was closed");
}

// The handler is called later: this may be within a function of the session.
void connection::end(const std::string& reason) noexcept {
    if (is_over_) return;
    auto on_end = std::exchange(handlers_, {}).on_end;
    close_socket(reason);
    if (!on_end) return;
    try {
        asio::post(strand_, std::move(on_end));
    } catch (...) {  // no memory: the next call finds that the session has ended
    }
}

void connection::close_socket(const std::string& reason) noexcept {
    is_over_ = true;
    connected_->close();
    auto unanswered = std::exchange(expected_, {});
    try {
        end_reason_ = reason;
        watch_changed_->notify();
        for (const auto& each : unanswered) {
            if (!each.sent || each.sent->is_answered) continue;
            each.sent->is_answered = true;
            each.sent->failure = std::make_exception_ptr(sql::no_answer(
                place_.server + " did not answer: the connection has ended (" + reason + ")."));
            each.sent->answered.notify();
        }
    } catch (...) {  // no memory: the calls end at their limits
    }
}

std::string connection::network_failure() const {
    const auto& last_words = connected_->last_words();
    if (!last_words.message.empty()) return last_words.message;
    const auto text = first_line(::PQerrorMessage(handle()));
    return text.empty() ? "the connection is broken" : text;
}

void connection::set_silence_limit(duration limit) {
    silence_limit_ = limit;
    watch_changed_->notify();
}

const std::string& connection::end_state() const noexcept {
    return end_state_.empty() ? connected_->last_words().sqlstate : end_state_;
}

bool connection::may_be_silent() const noexcept {
    return expected_.empty() || std::ranges::any_of(expected_, [](const auto& each) {
               return each.sent && each.sent->may_take_long;
           });
}

asio::awaitable<void> connection::watch(std::weak_ptr<connection> watched,
                                        std::shared_ptr<core::wakeup> changed, runtime& time) {
    while (true) {
        auto next = time.now() + 1h;
        if (const auto self = watched.lock()) {
            if (self->is_over_) co_return;
            if (!self->may_be_silent()) next = self->heard_at_ + self->silence_limit_;
            if (next <= time.now()) {
                self->end("no answer within " + std::to_string(self->silence_limit_ / 1s) + " s");
                co_return;
            }
        } else {
            co_return;
        }
        co_await changed->wait_until(next);
    }
}

}  // namespace pawl::postgres
