// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A session: a connection to MariaDB or MySQL that runs one call after the other, and a second
// connection, the listener, which waits for messages.
#pragma once

#include "libmariadb_connection.hpp"

#include "../sql/session.hpp"

#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pawl::mysql {

// A statement that waits for its turn or its answer.
struct pending_statement {
    pending_statement(runtime& time, const boost::asio::any_io_executor& strand, std::string sql)
        : text(std::move(sql)), answered(time, strand) {}

    std::string text;
    std::vector<sql::row> rows;
    std::exception_ptr failure;
    unsigned error_number = 0;    // of the server, with `failure`
    bool may_take_long = false;   // the server may be silent until its answer
    bool is_transaction = false;  // the whole of one, which can be repeated after a conflict
    bool is_answered = false;
    bool is_abandoned = false;
    core::wakeup answered;
};

// x'…'
[[nodiscard]] std::string bytes_literal(std::string_view text);
// _utf8mb4 x'…': a text, so the column decides how it is compared.
[[nodiscard]] std::string text_literal(std::string_view text);
// The call of a procedure. Texts are written as hexadecimal digits, so nothing must be escaped.
[[nodiscard]] std::string call_text(const std::string& schema, std::string_view function,
                                    const std::vector<sql::parameter>& parameters);
// A statement with its parameters in place of $1, $2 and so on.
[[nodiscard]] std::string statement_text(std::string_view pattern,
                                         const std::vector<sql::parameter>& parameters);

// Used on the strand.
class connection final : public sql::session, public std::enable_shared_from_this<connection> {
public:
    // The end of a session whose server does not answer, unless `set_silence_limit` says otherwise.
    static constexpr duration silence_limit = std::chrono::seconds(3);
    // Connects the listener, to the same server. Null without pushes.
    using listener_connector =
        std::function<boost::asio::awaitable<std::shared_ptr<libmariadb_connection>>()>;

    connection(std::shared_ptr<libmariadb_connection> link, error_place place,
               sql::session_facts facts, listener_connector connect_listener,
               sql::session_handlers handlers, boost::asio::any_io_executor strand, runtime& time);
    ~connection() override;
    // The session runs calls from now on.
    void start();

    [[nodiscard]] const sql::session_facts& facts() const noexcept override { return facts_; }
    [[nodiscard]] bool is_over() const noexcept override { return is_over_; }
    boost::asio::awaitable<std::vector<sql::row>> run(const sql::call& request,
                                                      time_point give_up_at) override;
    bool is_listening() const noexcept override { return true; }  // a table keeps the messages
    void listen() override;
    void close() noexcept override;

    // Any statement that is a transaction, with `run`'s errors.
    boost::asio::awaitable<std::vector<sql::row>> run_text(std::string text, time_point give_up_at);
    // For parts of a transaction, statements that may take long, and for the number of an error.
    std::shared_ptr<pending_statement> send(std::string text, bool may_take_long = false);
    boost::asio::awaitable<std::vector<sql::row>> wait(std::shared_ptr<pending_statement> sent,
                                                       time_point give_up_at);
    void set_silence_limit(duration limit) noexcept;
    // The session ends by itself: its handler is called later.
    void end(const std::string& reason) noexcept;
    [[nodiscard]] const error_place& place() const noexcept { return place_; }

private:
    void throw_if_over() const;
    static boost::asio::awaitable<void> work(std::weak_ptr<connection> weak,
                                             std::shared_ptr<libmariadb_connection> link,
                                             runtime& time);
    boost::asio::awaitable<void> work_once();
    boost::asio::awaitable<void> run_next();
    static boost::asio::awaitable<void> keep_listening(std::weak_ptr<connection> weak,
                                                       listener_connector connect_listener);
    static boost::asio::awaitable<void> listen_with(
        std::weak_ptr<connection> weak, std::shared_ptr<libmariadb_connection> listener);
    void note_hearing(bool is_hearing);
    void deliver(const std::vector<sql::row>& messages);
    void close_links(const std::string& reason) noexcept;

    const std::shared_ptr<libmariadb_connection> link_;
    const error_place place_;
    const sql::session_facts facts_;
    const listener_connector connect_listener_;
    sql::session_handlers handlers_;
    const boost::asio::any_io_executor strand_;
    runtime& time_;
    const core::fork_mark fork_mark_;
    std::deque<std::shared_ptr<pending_statement>> waiting_;
    std::shared_ptr<libmariadb_connection> listener_;
    std::shared_ptr<core::wakeup> listener_pause_;
    duration silence_limit_ = silence_limit;
    bool has_listener_ = false;
    bool is_over_ = false;
    std::string end_reason_;
};

}  // namespace pawl::mysql
