// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A session: one connection to PostgreSQL in libpq's pipeline mode.
#pragma once

#include "libpq_connection.hpp"
#include "server_errors.hpp"

#include "../core/util/fork_mark.hpp"
#include "../core/util/wakeup.hpp"
#include "../sql/session.hpp"

#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pawl::postgres {

using text_value = std::optional<std::string>;  // empty: NULL

// NULL, a number or a text, as PostgreSQL reads it; a list becomes the literal of an array.
[[nodiscard]] text_value to_text(const sql::parameter& value);

// A statement that was sent, and its answer.
struct pending_statement {
    pending_statement(runtime& time, const boost::asio::any_io_executor& strand)
        : answered(time, strand) {}

    std::vector<sql::row> rows;
    std::exception_ptr failure;
    bool may_take_long = false;  // the server may be silent until its answer
    bool is_answered = false;
    core::wakeup answered;
};

// Used on the strand.
class connection final : public sql::session, public std::enable_shared_from_this<connection> {
public:
    // The end of a session whose server does not answer, unless `set_silence_limit` says otherwise.
    static constexpr duration silence_limit = std::chrono::seconds(3);

    // `connected` is a new connection that libpq has made.
    connection(std::unique_ptr<libpq_connection> connected, error_place place,
               boost::asio::any_io_executor strand, runtime& time);
    ~connection() override;
    // Enters the pipeline mode and reads the socket from now on. Throws.
    void start();

    [[nodiscard]] const sql::session_facts& facts() const noexcept override { return facts_; }
    [[nodiscard]] bool is_over() const noexcept override { return is_over_; }
    boost::asio::awaitable<std::vector<sql::row>> run(const sql::call& request,
                                                      time_point give_up_at) override;
    bool is_listening() const noexcept override { return is_listening_; }
    void listen() override;
    void close() noexcept override;

    // Sends any statement, without a prepared one. Throws if the session has ended.
    std::shared_ptr<pending_statement> send(const std::string& text,
                                            const std::vector<text_value>& values = {},
                                            bool may_take_long = false);
    // Throws as `run`.
    boost::asio::awaitable<std::vector<sql::row>> wait(std::shared_ptr<pending_statement> sent,
                                                       time_point give_up_at);
    // From now on, calls use prepared statements unless there is a proxy, the handlers are called,
    // and a silent server ends the session.
    void set_ready(sql::session_facts facts, sql::session_handlers handlers);
    void set_silence_limit(duration limit);
    // The SQLSTATE with which the server ended the session; empty if it said nothing.
    [[nodiscard]] const std::string& end_state() const noexcept;

    [[nodiscard]] const error_place& place() const noexcept { return place_; }
    [[nodiscard]] PGconn* handle() const noexcept { return connected_->get(); }

private:
    // What libpq will return next.
    struct expected_result {
        enum class kind : std::uint8_t {
            statement,
            preparation,
            notification,
            listen,
            end_of_pipeline
        };
        expected_result::kind type;
        std::shared_ptr<pending_statement> sent;  // of a statement, its preparation and its end
        std::string prepared_name;                // of a preparation
        bool has_failed = false;
    };

    void throw_if_over() const;
    void throw_if_unsent(const pending_statement& sent) const;
    std::shared_ptr<pending_statement> send_call(const sql::call& request);
    void send_prepared(const std::string& name, const std::string& text,
                       const std::vector<text_value>& values,
                       const std::shared_ptr<pending_statement>& sent, bool is_notification);
    void send_unprepared(const std::string& text, const std::vector<text_value>& values,
                         const std::shared_ptr<pending_statement>& sent,
                         expected_result::kind type = expected_result::kind::statement);
    void end_pipeline();
    void flush();
    void read_next();
    void on_readable();
    // False: libpq needs more data.
    bool take_result();
    void take_rows(pending_statement& target, const PGresult* result);
    void settle_commit(const std::shared_ptr<pending_statement>& sent);
    void fail(const expected_result& expected, const PGresult* result);
    void deliver_notifications();
    void end(const std::string& reason) noexcept;
    void close_socket(const std::string& reason) noexcept;
    [[nodiscard]] std::string network_failure() const;
    [[nodiscard]] bool may_be_silent() const noexcept;
    static boost::asio::awaitable<void> watch(std::weak_ptr<connection> watched,
                                              std::shared_ptr<core::wakeup> changed, runtime& time);

    const std::unique_ptr<libpq_connection> connected_;
    const error_place place_;
    sql::session_handlers handlers_;
    const boost::asio::any_io_executor strand_;
    runtime& time_;
    const core::fork_mark fork_mark_;
    sql::session_facts facts_;
    std::string channel_;
    std::deque<expected_result> expected_;
    std::set<std::string> prepared_;
    const std::shared_ptr<core::wakeup> watch_changed_;
    time_point heard_at_{};  // or the time at which the oldest outstanding statement was sent
    duration silence_limit_ = silence_limit;
    bool is_ready_ = false;
    bool is_listening_ = false;
    bool is_flushing_ = false;
    bool is_over_ = false;
    std::string end_reason_;
    std::string end_state_;
};

}  // namespace pawl::postgres
