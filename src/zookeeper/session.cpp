// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "session.hpp"

#include "errors.hpp"

#include "../net/host_addresses.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::zookeeper {
namespace {

constexpr core::pause_lengths reconnect_pauses{.first = 20ms, .longest = 1s};
// The server closes the connection when it has ended the session.
constexpr duration close_limit = 500ms;
// A message to a server has at most 1 MB.
constexpr std::size_t watches_at_once = 300;

std::size_t random_below(runtime& time, std::size_t count) {
    std::array<std::byte, 4> raw{};
    time.random(raw);
    std::size_t bits = 0;
    for (const auto byte : raw)
        bits = bits << 8 | std::to_integer<std::size_t>(byte);
    return bits % count;
}

// A server that is silent for so long is left for another one.
duration silence_limit(duration timeout) { return std::clamp<duration>(timeout / 2, 1s, 10s); }

}  // namespace

session::session(std::shared_ptr<const client_settings> settings, const backend_context& context,
                 duration timeout, handlers user_handlers)
    : settings_(std::move(settings)),
      context_(context),
      timeout_(timeout),
      handlers_(std::move(user_handlers)),
      pauses_(*context_.time, reconnect_pauses),
      pause_(*context_.time, context_.strand),
      server_(random_below(*context_.time, settings_->servers.size())),
      requests_(settings_->tick),
      used_at_(context_.time->now()) {}

asio::awaitable<void> session::run(std::shared_ptr<session> self) {
    auto& time = *self->context_.time;
    while (!self->is_over_) {
        const bool is_connected = co_await self->connect();
        if (is_connected) co_await self->read();
        self->disconnect();
        if (self->is_over_) break;
        const bool is_believed = self->id_ != 0 && time.now() < self->believed_until();
        if (!is_connected && !is_believed) break;
        self->server_ = (self->server_ + 1) % self->settings_->servers.size();
        self->notify_waiters();
        co_await self->pause_.wait_until(time.now() + self->pauses_.next_pause());
    }
    self->end();
}

// Each server once, until one of them accepts the client.
asio::awaitable<bool> session::connect() {
    worst_failure failures;
    for (std::size_t i = 0; i < settings_->servers.size() && !is_over_; ++i) {
        if (i > 0) server_ = (server_ + 1) % settings_->servers.size();
        try {
            co_await connect_to(server());
            co_return !is_over_;
        } catch (const error& failed) {
            failures.add(failed);
        } catch (const std::exception& failed) {
            failures.add(error(errc::exhausted, failed.what()));
        }
        disconnect();
    }
    if (!is_over_) failure_ = failures.worst();
    co_return false;
}

asio::awaitable<void> session::connect_to(net::endpoint target) {
    auto& time = *context_.time;
    const auto began_at = time.now();
    const auto patience =
        id_ == 0 ? settings_->connect_timeout
                 : std::min(settings_->connect_timeout, std::max<duration>(timeout_ / 3, 500ms));
    const auto subject = "ZooKeeper at " + net::text_of(target);
    const auto addresses = co_await net::host_addresses(target.host, "a ZooKeeper server",
                                                        began_at + patience, context_.strand, time);
    auto remaining = static_cast<duration::rep>(addresses.size());
    for (const auto& address : addresses) {
        const auto limit = time.now() + (began_at + patience - time.now()) / remaining--;
        connection_ =
            std::make_shared<connection>(settings_->tls, target.tls_name, context_.strand);
        keeper_ = std::make_shared<core::wakeup>(time, context_.strand);
        asio::co_spawn(context_.strand,
                       keep_alive(weak_from_this(), connection_, keeper_, time, limit),
                       asio::detached);
        const asio::ip::tcp::endpoint endpoint(asio::ip::make_address(address), target.port);
        const auto opened = connection_;
        const auto ec = co_await opened->open(net::address(endpoint));
        if (!ec) co_return co_await shake_hands(subject, limit);
        const bool is_late = time.now() >= limit;
        disconnect();
        if (remaining == 0 || is_over_) throw connection_error(*opened, ec, is_late, subject);
    }
}

asio::awaitable<void> session::shake_hands(std::string subject, time_point limit) {
    auto& time = *context_.time;
    const auto opened = connection_;
    const auto sent_at = time.now();
    const connect_request hello{requests_.last_change(), static_cast<std::int32_t>(timeout_ / 1ms),
                                id_, password_};
    opened->send(frame_of(hello));
    boost::system::error_code ec;
    const auto frame = co_await opened->read_frame(ec);
    if (ec) throw connection_error(*opened, ec, time.now() >= limit, subject);
    const auto answer = read_connect_reply(frame);
    if (answer.session == 0 || answer.timeout_ms <= 0) {
        end();
        throw error(errc::unreachable, subject + ": the session has expired.");
    }
    check_timeout(timeout_, answer.timeout_ms * duration(1ms), *settings_, subject);
    id_ = answer.session;
    password_ = answer.password;
    requests_.evidence.on_connected(sent_at);
    co_await log_in(std::move(subject), limit);
    set_watches();
    is_ready_ = true;
    failure_.reset();
    sync_at_ = time.now() + timeout_ / 6;
    ++context_.counts->connections;
    keeper_->notify();
    notify_waiters();
}

// A digest is proved by the rights at nodes only: the server accepts each.
asio::awaitable<void> session::log_in(std::string subject, time_point limit) {
    if (!settings_->has_login) co_return;
    const auto opened = connection_;
    std::function<bool()> is_over = [opened] { return opened->is_closed(); };
    const auto login =
        co_await settings_->credentials->get(*context_.time, context_.strand, limit, is_over);
    if (opened->is_closed())
        throw error(errc::unreachable, subject + ": the connection has ended during the login.");
    opened->send(frame_of(auth_xid, auth_request(login.user, login.password)));
}

void session::set_watches() {
    auto data = watches_.paths(watch_kind::data);
    auto children = watches_.paths(watch_kind::children);
    while (!data.empty() || !children.empty()) {
        const auto take_some = [](std::vector<std::string>& all) {
            const auto count = std::min(all.size(), watches_at_once);
            std::vector<std::string> batch(all.end() - static_cast<std::ptrdiff_t>(count),
                                           all.end());
            all.resize(all.size() - count);
            return batch;
        };
        const auto some_data = take_some(data), some_children = take_some(children);
        connection_->send(frame_of(set_watches_xid, set_watches_request(requests_.last_change(),
                                                                        some_data, some_children)));
    }
}

asio::awaitable<void> session::read() {
    const auto read_from = connection_;
    const auto subject = "ZooKeeper at " + net::text_of(server());
    for (;;) {
        boost::system::error_code ec;
        const auto frame = co_await read_from->read_frame(ec);
        if (ec) {
            failure_ = requests_.is_login_refused()
                           ? login_error(subject)
                           : connection_error(*read_from, ec, false, subject);
            co_return;
        }
        try {
            const auto event = requests_.take(frame);
            if (is_over_ && requests_.empty()) co_return;  // the server has ended the session
            if (!event) continue;
            ++context_.counts->pushes;
            watches_.tell(*event);
        } catch (const error& failed) {
            failure_ = failed;
            co_return;
        }
    }
}

// Beside the connection, until its end.
asio::awaitable<void> session::keep_alive(std::weak_ptr<session> weak,
                                          std::shared_ptr<connection> kept,
                                          std::shared_ptr<core::wakeup> ended, runtime& time,
                                          time_point opened_by) {
    while (!kept->is_closed()) {
        auto next_at = opened_by;
        {
            const auto self = weak.lock();
            if (!self || self->made_in_.is_forked()) break;
            if (self->is_ready_) {
                self->tick();
                next_at = time.now() + std::max<duration>(self->settings_->tick / 4, 10ms);
            } else if (self->is_over_) {
                next_at = std::min(opened_by, time.now() + close_limit);
                opened_by = next_at;
            }
        }
        if (kept->is_closed()) break;
        if (time.now() >= next_at) break;
        co_await ended->wait_until(next_at);
    }
    kept->close();
}

void session::tick() {
    const auto now = context_.time->now();
    if (now - requests_.oldest() > silence_limit(timeout_)) {
        connection_->close();
        return;
    }
    pauses_.reset();
    connection_->send(frame_of(ping_xid, {operation::ping, {}}));
    requests_.add_ping(now);
    if (now >= sync_at_) {
        const auto heartbeat = std::make_shared<pending_reply>(*context_.time, context_.strand);
        write(heartbeat, sync_request("/"));
    }
    if (handlers_.on_tick) handlers_.on_tick(*this);
}

void session::write(const pending_ptr& sent, const request& content) {
    const auto now = context_.time->now();
    sent->type = content.type;
    sent->sent_at = now;
    if (content.type == operation::sync) sync_at_ = now + timeout_ / 6;
    requests_.add(sent);
    connection_->send(frame_of(sent->xid, content));
}

pending_ptr session::send(const request& content, bool is_counted) {
    made_in_.throw_if_forked();
    if (!is_ready_)
        throw no_answer(settings_->description + ": there is no connection" +
                        (failure_ ? std::string(": ") + failure_->what() : "."));
    auto sent = std::make_shared<pending_reply>(*context_.time, context_.strand);
    sent->answered.prepare();
    if (is_counted) ++context_.counts->requests;
    write(sent, content);
    used_at_ = sent->sent_at;
    return sent;
}

asio::awaitable<reply> session::wait(pending_ptr sent, time_point give_up_at) {
    const auto began_at = sent->sent_at;
    auto& time = *context_.time;
    while (!sent->is_answered && !sent->has_failed && time.now() < give_up_at)
        co_await sent->answered.wait_until(give_up_at);
    if (sent->is_answered) co_return std::move(sent->answer);
    if (sent->has_failed)
        throw no_answer(settings_->description + " did not answer: the connection has ended" +
                        (failure_ ? std::string(" (") + failure_->what() + ")" : "."));
    throw no_answer(settings_->description + " did not answer within " +
                    std::to_string((time.now() - began_at) / 1ms) + " ms.");
}

asio::awaitable<reply> session::ask(request repeated, time_point give_up_at) {
    for (;;) {
        co_await ready(give_up_at);
        try {
            auto sent = send(repeated);
            co_return co_await wait(std::move(sent), give_up_at);
        } catch (const no_answer&) {
            if (is_over_ || context_.time->now() >= give_up_at) throw;
        }
    }
}

asio::awaitable<void> session::ready(time_point give_up_at) {
    const auto self = shared_from_this();
    auto& time = *context_.time;
    if (is_ready_) co_return;
    core::wakeup wakeup(time, context_.strand);
    struct entry {
        std::list<core::wakeup*>& waiters;
        const std::list<core::wakeup*>::iterator position;
        ~entry() { waiters.erase(position); }
    } const waiting{waiters_, waiters_.insert(waiters_.end(), &wakeup)};
    while (!is_ready_ && !is_over_ && time.now() < give_up_at)
        co_await wakeup.wait_until(give_up_at);
    if (is_ready_) co_return;
    if (is_over_ && failure_) throw error(*failure_);
    if (is_over_)
        throw error(errc::unreachable, settings_->description + ": the session has ended.");
    throw error(errc::unreachable,
                settings_->description + " could not be reached in time" +
                    (failure_ ? std::string(": ") + failure_->what() : std::string(".")));
}

time_point session::believed_until() const noexcept {
    const auto proved_at = requests_.evidence.proved_at();
    return proved_at == time_point::min() ? proved_at : proved_at + timeout_ - drift(timeout_);
}

void session::close() noexcept {
    if (std::exchange(is_over_, true)) return;
    handlers_ = {};
    try {
        if (std::exchange(is_ready_, false) && !made_in_.is_forked()) {
            const auto last = std::make_shared<pending_reply>(*context_.time, context_.strand);
            write(last, {operation::close_session, {}});
        } else if (connection_) {
            connection_->close();
        }
        if (keeper_) keeper_->notify();
        pause_.notify();
        notify_waiters();
    } catch (...) {  // no memory: the session ends by itself
    }
}

void session::disconnect() noexcept {
    is_ready_ = false;
    if (const auto closed = std::exchange(connection_, nullptr)) closed->close();
    try {
        if (const auto keeper = std::exchange(keeper_, nullptr)) keeper->notify();
        requests_.fail_all();
    } catch (...) {  // no memory: the waits end at their limits
    }
}

void session::end() {
    if (std::exchange(is_over_, true)) return;
    disconnect();
    notify_waiters();
    const auto on_end = std::exchange(handlers_, {}).on_end;
    if (on_end) on_end(*this);
}

void session::notify_waiters() {
    for (auto* each : waiters_)
        each->notify();
}

}  // namespace pawl::zookeeper
