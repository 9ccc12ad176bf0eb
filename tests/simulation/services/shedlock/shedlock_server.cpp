// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "shedlock_server.hpp"

#include "sql/shedlock.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <set>

using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace pawl::simulation {
namespace {

constexpr duration longest_table_silence = 3s;  // of a session
constexpr instant longest_row_wait = 900ms;

const std::string& table_text_at(const sql::call& request, std::size_t index) {
    return std::get<std::string>(request.parameters[index]);
}
duration milliseconds_at(const sql::call& request, std::size_t index) {
    return std::chrono::milliseconds(std::get<std::int64_t>(request.parameters[index]));
}

class shedlock_session final : public sql::session,
                               public std::enable_shared_from_this<shedlock_session> {
public:
    shedlock_session(shedlock_server& server, const spi::backend_context& context)
        : server_(server),
          link_(std::make_shared<client_connection>(server, *context.time, context.strand)) {}
    ~shedlock_session() override { link_->close(); }

    asio::awaitable<void> open(simulated_process& process, sql::session_handlers handlers,
                               time_point give_up_at) {
        const auto self = shared_from_this();
        std::function<void(loss_reason)> on_end = [handlers](loss_reason) { handlers.on_end(); };
        co_await link_->open(process, std::move(on_end), give_up_at);
    }
    const sql::session_facts& facts() const noexcept override { return facts_; }
    bool is_over() const noexcept override { return link_->is_over(); }
    asio::awaitable<std::vector<sql::row>> run(const sql::call& request,
                                               time_point give_up_at) override {
        const auto self = shared_from_this();
        const auto bug = server_.bug();
        const bool is_take = request.function == "take", ends = request.function == "release";
        const auto owner =
            request.parameters.size() > 1 ? table_text_at(request, 1) : std::string();
        if (bug == shedlock_bug::undo_forgotten && ends && !answered_.contains(owner))
            co_return std::vector<sql::row>{{"0"}};
        auto statement = server_.statement(request);
        auto answer = co_await link_->ask(std::move(statement), give_up_at, longest_table_silence);
        if (is_take) answered_.insert(owner);
        if (bug == shedlock_bug::undo_not_repeated && ends && answer.empty())
            answer.push_back({"0"});
        co_return answer;
    }
    bool is_listening() const noexcept override { return false; }
    void listen() override {}
    void close() noexcept override { link_->close(); }

private:
    shedlock_server& server_;
    const sql::session_facts facts_{"0123456789abcdef"};
    const std::shared_ptr<client_connection> link_;
    std::set<std::string> answered_;  // owners of claims, for a bug
};

class shedlock_connector final : public sql::connector {
public:
    shedlock_connector(shedlock_server& server, simulated_process& process,
                       const spi::backend_context& context)
        : server_(server), process_(process), context_(context) {}

    asio::awaitable<std::shared_ptr<sql::session>> connect(sql::session_handlers handlers,
                                                           time_point give_up_at) override {
        const auto made = std::make_shared<shedlock_session>(server_, context_);
        co_await made->open(process_, std::move(handlers), give_up_at);
        co_return made;
    }
    std::string describe() const override { return "The database"; }
    asio::awaitable<examination> examine(sql::session&, time_point) override {
        co_return examination{};
    }
    asio::awaitable<void> check_durability(sql::session&, durability, time_point) override {
        co_return;
    }
    spi::capabilities capabilities() const noexcept override { return {}; }

private:
    shedlock_server& server_;
    simulated_process& process_;
    const spi::backend_context context_;
};

class shedlock_service final : public service::definition {
public:
    shedlock_service(shedlock_server& server, simulated_process& process, shedlock_table table)
        : server_(server), process_(process), table_(std::move(table)) {}
    std::unique_ptr<backend> open(backend_context context) const override {
        return sql::make_shedlock_backend(
            std::make_unique<shedlock_connector>(server_, process_, context), {}, table_, context);
    }
    std::string describe() const override { return "simulated"; }

private:
    shedlock_server& server_;
    simulated_process& process_;
    const shedlock_table table_;
};

}  // namespace

service shedlock_server::connect(simulated_process& process, const shedlock_table& table) {
    return service(std::make_shared<shedlock_service>(*this, process, table));
}

const shedlock_row* shedlock_server::held_row(const std::string& name) const {
    const auto position = rows_.find(name);
    if (position == rows_.end() || position->second.lock_until <= loop_.now()) return nullptr;
    return &position->second;
}

client_connection::statement shedlock_server::statement(sql::call request) {
    return [this, request = std::move(request), sent_at = loop_.now()](
               const server_session_ptr& session, const client_connection::answer_handler& answer) {
        answer(carry_out(*session, request, sent_at));
    };
}

std::vector<sql::row> shedlock_server::look(const std::string& name, instant now) const {
    const auto& row = rows_.at(name);
    return {{name, row.locked_by, std::to_string((row.lock_until - now + 1ms - 1ns) / 1ms),
             std::to_string(row.locked_at / 1ms), std::to_string(row.fence)}};
}

// A statement may have waited for its row. Then its time is that of its beginning, except in Pawl's
// statements for PostgreSQL.
std::vector<sql::row> shedlock_server::carry_out(server_session& session, const sql::call& call,
                                                 instant sent_at) {
    const auto function = call.function;
    const bool is_java = function.starts_with("java_");
    auto now = loop_.now();
    if (is_wild_ && random_.happens(0.05) && (is_mysql_ || is_java)) {
        const auto earliest = std::max({sent_at, session.statement_at, now - longest_row_wait});
        now = instant(random_.between(earliest.count(), now.count()));
    }
    session.statement_at = loop_.now();
    const auto& name = table_text_at(call, 0);
    const bool exists = rows_.contains(name);
    if (function == "look") return exists ? look(name, now) : std::vector<sql::row>();
    const auto& owner = table_text_at(call, 1);
    if (function == "make_row" || function == "java_insert") {
        if (exists) return {};
        rows_[name] = {owner, now, now};
        if (function == "make_row") return {{"0"}};
        rows_[name].lock_until = now + milliseconds_at(call, 2);
        rows_[name].process = &session.process;
        rows_[name].ttl = milliseconds_at(call, 2);
        return {{"0"}};
    }
    if (!exists) return {};
    auto& row = rows_[name];
    const auto span = milliseconds_at(call, 2);
    const bool is_own = row.locked_by == owner, has_ended = row.lock_until <= now;
    if (function == "take" || function == "java_update") {
        if (!has_ended && (is_java || bug_ != shedlock_bug::takes_held)) return {};
        row = {owner, now + span, now, row.fence, &session.process, span};
        const auto clock_us = (now + 24h) / 1us;
        if (!is_java && (bug_ != shedlock_bug::fence_kept || row.fence == 0))
            row.fence = std::max<std::int64_t>(row.fence + 1, clock_us);
    } else if (function == "extend" || function == "java_extend") {
        const bool is_right = is_own || (!is_java && bug_ == shedlock_bug::extends_another);
        if (!is_right || has_ended) return {};
        row.lock_until = now + (bug_ == shedlock_bug::lease_too_short ? span / 2 : span);
        row.ttl = span;
    } else if (function == "release" || function == "java_unlock") {
        const bool is_right = is_own || (!is_java && bug_ == shedlock_bug::ends_another);
        if (!is_right || (has_ended && !is_java)) return {};
        row.lock_until = std::max(now, row.locked_at + span);
    }
    return {{std::to_string(row.fence)}};
}

}  // namespace pawl::simulation
