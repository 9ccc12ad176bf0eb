// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "database_server.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace pawl::simulation {

instant database_server::packet_delay() {
    if (is_wild_ && random_.happens(0.02)) return instant(random_.between(0, 4'000'000'000));
    return instant(random_.between(50'000, 3'000'000));
}

void database_server::deliver(const simulated_process& process, instant when, task packet) {
    loop_.schedule_at(when, [this, &process, packet = std::move(packet)]() mutable {
        if (cut_off_.contains(&process))
            kept_back_[&process].push_back(std::move(packet));
        else
            packet();
    });
}

void database_server::reconnect(const simulated_process& process) {
    if (cut_off_.erase(&process) == 0) return;
    for (auto& each : std::exchange(kept_back_[&process], {}))
        loop_.schedule_at(loop_.now(), std::move(each));
}

void database_server::run_when_up(task work) {
    if (loop_.now() >= frozen_until_) return work();
    loop_.schedule_at(frozen_until_,
                      [this, work = std::move(work)]() mutable { run_when_up(std::move(work)); });
}

server_session_ptr database_server::open(simulated_process& process) {
    auto opened = std::make_shared<server_session>(process);
    opened->heard_at = loop_.now();
    sessions_.push_back(opened);
    return opened;
}

void database_server::send(const server_session_ptr& session, task statement) {
    session->sent_until = std::max(session->sent_until, loop_.now() + packet_delay());
    deliver(session->process, session->sent_until,
            [this, session, statement = std::move(statement)]() mutable {
                run_when_up([session, statement = std::move(statement)]() mutable {
                    if (session->is_open) statement();
                });
            });
}

void database_server::reply(const server_session_ptr& session, task handler) {
    session->answered_until = std::max(session->answered_until, loop_.now() + packet_delay());
    deliver(session->process, session->answered_until,
            [session, handler = std::move(handler)]() mutable {
                session->process.post([session, handler = std::move(handler)]() mutable {
                    if (session->is_used) handler();
                });
            });
}

// The end of a connection that its client has closed comes after what the client had sent.
void database_server::close(const server_session_ptr& session) {
    if (!std::exchange(session->is_used, false)) return;
    send(session, [this, session] { end(session, loss_reason::none); });
}

void database_server::end(const server_session_ptr& session, loss_reason reason) {
    if (!std::exchange(session->is_open, false)) return;
    std::erase(sessions_, session);
    on_end(session, reason);
    reply(session, [session, reason] {
        if (session->on_end) session->on_end(reason);
    });
}

void database_server::kill(const simulated_process& process) {
    for (const auto& each : std::vector(sessions_))
        if (&each->process == &process) close(each);
}

bool database_server::end_a_session() {
    if (sessions_.empty()) return false;
    const auto session = sessions_[random_.below(sessions_.size())];
    if (random_.happens(0.5)) {
        end(session, loss_reason::forced);
    } else {
        // The client notices first: what it had sent may be carried out seconds later.
        session->sent_until =
            std::max(session->sent_until, loop_.now() + instant(random_.between(0, 3'000'000'000)));
        session->process.post([session] {
            if (session->is_used && session->on_end) session->on_end(loss_reason::missing);
        });
    }
    return true;
}

void database_server::restart(instant length) {
    up_at_ = loop_.now() + length;
    for (const auto& each : std::vector(sessions_))
        end(each, loss_reason::missing);
}

asio::awaitable<void> client_connection::open(simulated_process& process,
                                              std::function<void(loss_reason)> on_end,
                                              time_point give_up_at) {
    const auto self = shared_from_this();
    core::wakeup pause(time_, executor_);
    const auto round_trip = instant(server_.random().between(100'000, 10'000'000));
    co_await pause.wait_until(time_.now() + round_trip);
    while (!server_.is_reachable(process)) {
        if (server_.random().happens(0.2))
            throw error(errc::unavailable, "The database is starting.");
        if (time_.now() >= give_up_at) throw error(errc::unreachable, "The database is away.");
        co_await pause.wait_until(std::min(give_up_at, time_.now() + 100ms));
    }
    on_end_ = std::move(on_end);
    session_ = server_.open(process);
    session_->on_end = [this](loss_reason reason) { end(reason); };
}

asio::awaitable<std::vector<sql::row>> client_connection::ask(statement asked,
                                                              time_point give_up_at,
                                                              duration silence_limit) {
    const auto self = shared_from_this();
    if (is_over()) throw sql::no_answer("The session is over.");
    const auto asked_at = time_.now();
    const auto made = std::make_shared<pending>(pending{core::wakeup(time_, executor_)});
    calls_.push_back(made);
    struct entry {
        client_connection& connection;
        const std::shared_ptr<pending>& made;
        ~entry() { std::erase(connection.calls_, made); }
    } const waiting{*this, made};
    const auto receive = [this, weak = std::weak_ptr(made)](std::vector<sql::row> answer) {
        answered_at_ = time_.now();
        const auto alive = weak.lock();
        if (!alive) return;
        alive->answer = std::move(answer);
        alive->answered.notify();
    };
    server_.send(
        session_, [&server = server_, session = session_, asked = std::move(asked), receive] {
            asked(session, [&server, session, receive](std::vector<sql::row> answer) {
                server.reply(session, [receive, answer = std::move(answer)] { receive(answer); });
            });
        });
    while (!made->answer) {
        const auto silent_at = std::max(asked_at, answered_at_) + silence_limit;
        co_await made->answered.wait_until(std::min(give_up_at, silent_at));
        if (made->answer) break;
        const bool is_silent = time_.now() >= std::max(asked_at, answered_at_) + silence_limit;
        if (!is_over() && is_silent) end(loss_reason::missing);
        if (is_over()) throw sql::no_answer("The session has ended.");
        if (time_.now() >= give_up_at) throw sql::no_answer("There was no answer in time.");
    }
    co_return *std::move(made->answer);
}

void client_connection::close() noexcept {
    if (!session_) return;
    server_.close(std::exchange(session_, nullptr));
    for (const auto& each : calls_)
        each->answered.notify();
}

void client_connection::end(loss_reason reason) {
    if (is_over()) return;
    close();
    if (on_end_) asio::post(executor_, [on_end = on_end_, reason] { on_end(reason); });
}

}  // namespace pawl::simulation
