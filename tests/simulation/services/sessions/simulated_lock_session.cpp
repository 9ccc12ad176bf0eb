// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The sessions of a simulated program, with the requests of the sessions of PostgreSQL and MySQL.
#include "lock_server.hpp"

#include "sql/lock_session.hpp"
#include "sql/session_locks.hpp"

#include <algorithm>

using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace pawl::simulation {
namespace {

constexpr duration least_silence_limit = 5s;
// A waiter that was granted the lock, and has stopped, is passed over after this time.
constexpr duration session_claim_window = 1800ms;

class simulated_lock_session final : public sql::lock_session,
                                     public std::enable_shared_from_this<simulated_lock_session> {
public:
    simulated_lock_session(lock_server& server, const spi::backend_context& context)
        : server_(server),
          time_(*context.time),
          link_(std::make_shared<client_connection>(server, time_, context.strand)) {}
    ~simulated_lock_session() override { link_->close(); }

    asio::awaitable<void> open(simulated_process& process, sql::session_end_handler on_end,
                               time_point give_up_at) {
        const auto self = shared_from_this();
        std::function<void(loss_reason)> tell = [weak = weak_from_this(), on_end,
                                                 bug = server_.bug()](loss_reason reason) {
            const auto ended = weak.lock();
            if (ended && bug != session_bug::session_end_untold) on_end(*ended, reason);
        };
        co_await link_->open(process, std::move(tell), give_up_at);
    }
    bool is_over() const noexcept override { return link_->is_over(); }

    asio::awaitable<sql::lock_answer> lock(sql::lock_request requested,
                                           time_point give_up_at) override {
        const auto self = shared_from_this();
        key_ = requested.key;
        const auto ttl = requested.ttl;
        silence_limit_ = std::max(ttl, least_silence_limit);
        sql::lock_answer answer;
        answer.proved_at = time_.now();
        client_connection::statement asked = [&server = server_, requested](const auto& session,
                                                                            const auto& reply) {
            const auto& [key, mode, limit, waits] = requested;
            server.set_idle_limit(session, waits ? std::min(limit, session_claim_window) : limit);
            server.lock(session, key, mode, waits, reply);
        };
        const auto silence_limit = requested.waits ? duration(24h) : silence_limit_;
        const auto rows = co_await link_->ask(std::move(asked), give_up_at, silence_limit);
        answer.is_granted = rows.front().front() == "t";
        if (requested.waits && answer.is_granted) {
            // The wait may have been long: the lease begins with this round trip.
            answer.proved_at = time_.now();
            co_await limit_idle_time(ttl, answer.proved_at + ttl);
        }
        if (server_.bug() == session_bug::lease_from_answer) answer.proved_at = time_.now();
        co_return answer;
    }
    asio::awaitable<bool> unlock(time_point give_up_at) override {
        const auto self = shared_from_this();
        client_connection::statement asked = [&server = server_, key = key_](const auto& session,
                                                                             const auto& reply) {
            reply({{server.unlock(session, key) ? "t" : "f"}});
        };
        const auto rows = co_await link_->ask(std::move(asked), give_up_at, silence_limit_);
        co_return rows.front().front() == "t";
    }
    asio::awaitable<void> prove(time_point give_up_at) override {
        const auto self = shared_from_this();
        if (server_.bug() == session_bug::proves_nothing) co_return;
        client_connection::statement asked = [&server = server_](const auto& session,
                                                                 const auto& reply) {
            server.hear(session);
            reply({{"t"}});
        };
        static_cast<void>(co_await link_->ask(std::move(asked), give_up_at, silence_limit_));
    }
    void close() noexcept override { link_->close(); }

    asio::awaitable<lock_info> inspect(std::string name, time_point) override {
        lock_info info;
        info.name = std::move(name);
        co_return info;
    }
    asio::awaitable<std::vector<lock_info>> list(std::string, time_point) override {
        co_return std::vector<lock_info>();
    }
    asio::awaitable<bool> force_release(std::string name, fencing_token,
                                        time_point give_up_at) override {
        const auto self = shared_from_this();
        client_connection::statement asked = [&server = server_, name](const auto& session,
                                                                       const auto& reply) {
            server.hear(session);
            reply({{server.kill_holders(name) ? "t" : "f"}});
        };
        const auto rows = co_await link_->ask(std::move(asked), give_up_at, silence_limit_);
        co_return rows.front().front() == "t";
    }
    asio::awaitable<examination> examine(time_point) override { co_return examination{}; }

private:
    asio::awaitable<void> limit_idle_time(duration ttl, time_point give_up_at) {
        client_connection::statement asked = [&server = server_, ttl](const auto& session,
                                                                      const auto& reply) {
            const bool is_kept = server.bug() == session_bug::idle_limit_kept;
            server.set_idle_limit(session, is_kept ? session->idle_limit : ttl);
            reply({{"t"}});
        };
        static_cast<void>(co_await link_->ask(std::move(asked), give_up_at, silence_limit_));
    }

    lock_server& server_;
    runtime& time_;
    const std::shared_ptr<client_connection> link_;
    sql::lock_key key_;
    duration silence_limit_ = least_silence_limit;
};

class simulated_lock_connector final : public sql::lock_connector {
public:
    simulated_lock_connector(lock_server& server, simulated_process& process,
                             const spi::backend_context& context)
        : server_(server), process_(process), context_(context) {}

    asio::awaitable<std::shared_ptr<sql::lock_session>> connect(sql::session_end_handler on_end,
                                                                time_point give_up_at) override {
        const auto made = std::make_shared<simulated_lock_session>(server_, context_);
        co_await made->open(process_, std::move(on_end), give_up_at);
        co_return made;
    }
    sql::lock_key key_of(std::string_view name) const override { return std::string(name); }
    std::string describe() const override { return "The database"; }
    spi::capabilities capabilities() const noexcept override {
        return {.fencing = false,
                .tokens_survive_data_loss = false,
                .loss_is_pushed = true,
                .names_holders = false,
                .knows_remaining_time = false,
                .least_ttl = 1s,
                .strictly_fair = true,
                .shared = server_.has_readers()};
    }
    std::string capability_hint(lock_mode, bool) const override { return {}; }

private:
    lock_server& server_;
    simulated_process& process_;
    const spi::backend_context context_;
};

class lock_session_service final : public service::definition {
public:
    lock_session_service(lock_server& server, simulated_process& process)
        : server_(server), process_(process) {}
    std::unique_ptr<backend> open(backend_context context) const override {
        return sql::make_session_backend(
            std::make_unique<simulated_lock_connector>(server_, process_, context), context);
    }
    std::string describe() const override { return "simulated"; }

private:
    lock_server& server_;
    simulated_process& process_;
};

}  // namespace

service lock_server::connect(simulated_process& process) {
    return service(std::make_shared<lock_session_service>(*this, process));
}

}  // namespace pawl::simulation
