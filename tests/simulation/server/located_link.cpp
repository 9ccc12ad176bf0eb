// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "located_link.hpp"

#include <pawl/error.hpp>
#include <redis/transport/server_errors.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

constexpr auto shortest_pause = 20ms;
constexpr auto longest_pause = 1s;

asio::awaitable<void> close_link(std::shared_ptr<redis::link> ended) {
    co_await ended->close(time_point::min());
}

}  // namespace

void located_link::connection_receiver::on_message(std::string_view channel,
                                                   std::string_view payload) {
    if (owner != nullptr && owner->is_ready_ && owner->listener_ != nullptr)
        owner->listener_->on_message(channel, payload);
}

void located_link::connection_receiver::on_invalidate(std::string_view key) {
    if (owner != nullptr && owner->is_ready_ && owner->listener_ != nullptr)
        owner->listener_->on_invalidate(key);
}

void located_link::connection_receiver::on_disconnected(const redis::link&) noexcept {
    has_ended = true;
    if (owner != nullptr) owner->changed_.notify();
}

located_link::located_link(std::shared_ptr<redis::locator> server_locator, settings given,
                           const backend_context& context, redis::link::listener& receiver,
                           std::string channel)
    : locator_(std::move(server_locator)),
      settings_(std::move(given)),
      context_(context),
      listener_(&receiver),
      channel_(std::move(channel)),
      changed_(*context.time, context.strand) {
    changed_.prepare();
}

void located_link::reconnect() noexcept {
    must_locate_again_ = true;
    changed_.notify();
}

asio::awaitable<void> located_link::run(std::shared_ptr<located_link> self) {
    duration pause = shortest_pause;
    while (!is_closing_) {
        must_locate_again_ = false;
        redis::location at;
        bool is_open = false;
        try {
            at = co_await locator_->next(now() + settings_.connect_timeout);
            if (!is_closing_ && !must_locate_again_) is_open = co_await open(at);
        } catch (const error&) {}
        if (is_open && !must_locate_again_ && !is_closing_ && !receiver_->has_ended) {
            begin_session(at.epoch);
            pause = shortest_pause;
            while (!must_locate_again_ && !is_closing_ && !receiver_->has_ended)
                co_await changed_.wait_until(time_point::max());
        }
        end_session();
        if (is_closing_ || must_locate_again_) continue;
        co_await changed_.wait_until(now() + pause);
        pause = std::min<duration>(pause * 2, longest_pause);
    }
    self.reset();
}

asio::awaitable<bool> located_link::open(redis::location at) {
    receiver_ = std::make_shared<connection_receiver>();
    receiver_->owner = this;
    const auto connection =
        settings_.servers.at(at.server.port - settings_.first_port)(*receiver_, channel_);
    connection_ = connection;
    const auto until = now() + std::min<duration>(settings_.connect_timeout, 1s);
    const std::array<std::string_view, 1> ping{"PING"};
    static_cast<void>(co_await connection->exec(ping, until));
    const bool is_replica = connection->current().role == redis::server_role::replica;
    if (is_replica) co_return false;
    const bool is_confirmed = co_await locator_->confirm(at, now() + settings_.connect_timeout);
    co_return is_confirmed;
}

void located_link::begin_session(std::uint64_t epoch) {
    const auto number = session_.connection_number;
    session_ = connection_->current();
    session_.connection_number = number + 1;
    if (number == 0) first_epoch_ = epoch;
    session_.epoch = settings_.bug == topology_bug::epoch_left_out ? 0
                     : settings_.bug == topology_bug::epoch_kept   ? first_epoch_
                                                                   : epoch;
    is_ready_ = true;
    const bool is_told =
        number == 0 || settings_.bug != topology_bug::holds_not_renewed_after_switch;
    if (listener_ != nullptr && is_told) listener_->on_connected(*this);
    for (auto* each : ready_waiters_)
        each->notify();
}

void located_link::end_session() {
    const bool was_ready = std::exchange(is_ready_, false);
    if (!connection_) return;
    receiver_->owner = nullptr;
    earlier_receivers_.push_back(std::move(receiver_));
    earlier_.push_back(connection_);
    asio::co_spawn(context_.strand, close_link(std::move(connection_)), asio::detached);
    connection_.reset();
    if (was_ready && listener_ != nullptr) listener_->on_disconnected(*this);
}

asio::awaitable<void> located_link::wait_until_ready(time_point give_up_at) {
    if (is_closing_) throw error(errc::cancelled, "The client is closed.");
    if (!std::exchange(is_running_, true))
        asio::co_spawn(context_.strand, run(shared_from_this()), asio::detached);
    core::wakeup ready(*context_.time, context_.strand);
    const auto position = ready_waiters_.insert(ready_waiters_.end(), &ready);
    struct leaving {
        std::list<core::wakeup*>& waiters;
        std::list<core::wakeup*>::iterator position;
        ~leaving() { waiters.erase(position); }
    } const at_the_end{ready_waiters_, position};
    const auto until = std::min(give_up_at, now() + settings_.connect_timeout);
    while (!is_ready_) {
        const bool is_notified = co_await ready.wait_until(until);
        if (is_closing_) throw error(errc::cancelled, "The client is closed.");
        if (!is_notified && !is_ready_)
            throw error(errc::unreachable, "The simulated master cannot be reached.");
    }
}

asio::awaitable<redis::reply> located_link::exec(std::span<const std::string_view> words,
                                                 time_point give_up_at, redis::prelude before) {
    if (is_ready_) return exec_now(words, give_up_at, before);
    return exec_later({words.begin(), words.end()}, give_up_at, before);
}

asio::awaitable<redis::reply> located_link::exec_later(std::vector<std::string> words,
                                                       time_point give_up_at,
                                                       redis::prelude before) {
    co_await wait_until_ready(give_up_at);
    const std::vector<std::string_view> views(words.begin(), words.end());
    co_return co_await exec_now(views, give_up_at, before);
}

asio::awaitable<redis::reply> located_link::exec_now(std::span<const std::string_view> words,
                                                     time_point give_up_at, redis::prelude before) {
    std::vector<std::string> changed;  // what the bugs change after a switch
    if (!earlier_.empty() && settings_.bug != topology_bug::none) {
        const auto elsewhere = answer_of_old_master(settings_.bug, words);
        if (elsewhere) co_return *elsewhere;
        changed.assign(words.begin(), words.end());
    }
    const auto connection = connection_;
    auto answer = co_await connection->exec(words, give_up_at, before);
    if (!changed.empty()) change_answer_after_switch(settings_.bug, changed, answer);
    const bool is_refusal =
        answer.type == redis::reply::kind::error && redis::is_of_replica(answer.text);
    if (is_refusal) {
        if (connection_ == connection) reconnect();
        throw error(errc::unavailable, "The simulated server is a replica now.");
    }
    co_return answer;
}

asio::awaitable<void> located_link::close(time_point give_up_at) {
    is_closing_ = true;
    locator_->stop();
    if (const auto connection = connection_) co_await connection->close(give_up_at);
    changed_.notify();
    for (auto* each : ready_waiters_)
        each->notify();
}

}  // namespace pawl::simulation
