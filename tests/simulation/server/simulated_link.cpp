// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "simulated_link.hpp"

#include "../bugs/message_bugs.hpp"
#include "exchange_report.hpp"
#include "known_scripts.hpp"
#include "replies.hpp"
#include "simulated_request.hpp"

#include <core/util/wakeup.hpp>
#include <pawl/error.hpp>
#include <redis/transport/server_errors.hpp>
#include <redis/transport/subscriptions.hpp>
#include <redis_scripts.hpp>
#include <redisson_scripts.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <list>
#include <optional>
#include <set>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

using redis::link;
using redis::reply;

constexpr auto connect_timeout = 5s, longest_refusal = 1s;

class link_endpoint final : public simulated_network::endpoint,
                            public std::enable_shared_from_this<link_endpoint> {
public:
    link_endpoint(server_choice choose, simulated_process& process, const backend_context& context,
                  const redis::options& options, injected_bug bug, link::listener& listener,
                  std::string channel)
        : choose_(std::move(choose)),
          process_(process),
          context_(context),
          reply_timeout_(options.reply_timeout),
          database_(std::to_string(options.database)),
          bug_(bug),
          listener_(&listener),
          channel_(std::move(channel)),
          latch_bugs_(bug),
          owner_bugs_(bug, channel_),
          state_wakeup_(*context.time, context.strand),
          drain_wakeup_(*context.time, context.strand) {
        drain_wakeup_.prepare();
    }

    asio::awaitable<reply> exec(std::span<const std::string_view> command_words,
                                time_point give_up_at, redis::prelude before);
    asio::awaitable<void> subscribe(std::string channel, time_point give_up_at);
    void unsubscribe(const std::string& channel) noexcept;
    asio::awaitable<void> close(time_point give_up_at);
    void set_link(const link& own_link) noexcept { link_ = &own_link; }
    void forget_listener() noexcept { listener_ = nullptr; }
    [[nodiscard]] const redis::session& current() const noexcept { return session_; }
    [[nodiscard]] bool connected() const noexcept { return is_ready_; }

    simulated_process& process() override { return process_; }
    void run_on_strand(task work) override { asio::post(context_.strand, std::move(work)); }
    void on_reply(std::uint64_t connection_id, reply received) override;
    void on_push(std::uint64_t connection_id, words message) override;
    void on_closed(std::uint64_t connection_id) override;

private:
    struct ready_waiter {
        ready_waiter(runtime& time, const asio::any_io_executor& executor)
            : wakeup(time, executor), started_at(time.now()) {}
        core::wakeup wakeup;
        time_point started_at;
        bool failed = false;
    };

    asio::awaitable<void> run_connection(std::shared_ptr<link_endpoint> self);
    asio::awaitable<void> wait_until_ready(time_point give_up_at);
    void start_handshake();
    void on_handshake_reply(const reply& received);
    void join_channels();
    [[nodiscard]] const char* subscribe_command() const noexcept;
    void send_unanswered(words command);
    void send_unsubscribe(const std::string& channel) noexcept;
    [[nodiscard]] asio::awaitable<reply> await_reply(std::shared_ptr<request> pending,
                                                     time_point give_up_at);
    void send(const std::shared_ptr<request>& pending);
    [[nodiscard]] bool is_dropped(const words& command);
    void fail_requests();
    void close_connection();
    template <class Work>
    void call_listener(Work work);

    const server_choice choose_;
    chosen_server server_{};  // of the present connection, or else of the last one
    simulated_process& process_;
    backend_context context_;
    duration reply_timeout_;
    const std::string database_;
    injected_bug bug_;
    link::listener* listener_;
    const link* link_ = nullptr;  // for the listener
    const std::string channel_;
    redis::subscriptions subscriptions_;
    std::vector<std::string> handshake_channels_;  // the channels that the handshake subscribes to
    latch_bugs latch_bugs_;
    owner_bugs owner_bugs_;

    std::uint64_t connection_id_ = 0;
    bool running_ = false;
    bool is_closing_ = false;
    bool is_ready_ = false;
    bool is_broken_ = false;
    bool has_joined_ = false;  // the handshake has subscribed
    int handshake_replies_left_ = 0;
    redis::session session_;
    core::wakeup state_wakeup_;  // notified when the connection is ready, broken or to be closed
    core::wakeup drain_wakeup_;  // for `close`
    std::list<ready_waiter*> ready_waiters_;
    std::list<std::shared_ptr<request>> sent_requests_;  // unanswered, including abandoned ones
    std::set<std::string> owners_not_undone_;            // for batch_undo_incomplete
};

void link_endpoint::start_handshake() {
    const uncounted_allocations uncounted;
    if (!process_.resources().has_descriptors()) {
        is_broken_ = true;
        state_wakeup_.notify();
        return;
    }
    server_ = choose_(process_);
    connection_id_ = server_.network->connect(weak_from_this());
    session_.asked_at = context_.time->now();
    is_broken_ = false;
    // database_selected_once
    const bool keeps_selection =
        bug_ == injected_bug::database_selected_once && session_.connection_number > 0;
    has_joined_ = false;
    handshake_replies_left_ = 2;
    server_.network->send(connection_id_, share({"HELLO"}));
    if (database_ == "0" || keeps_selection) return;
    ++handshake_replies_left_;
    server_.network->send(connection_id_, share({"SELECT", database_}));
}

void link_endpoint::on_handshake_reply(const reply& received) {
    const uncounted_allocations uncounted;
    --handshake_replies_left_;
    if (!received.items.empty()) {
        session_ = {.connection_number = session_.connection_number + 1,
                    .run_id = received.items.at(0).text,
                    .version = "7.0.15",
                    .server = "redis",
                    .time_us = server_.shows_clock ? received.items.at(1).number : 0,
                    .sharded = received.items.at(2).number == 1,
                    .role = redis::server_role(received.items.at(3).number),
                    .epoch = server_.epoch,
                    .asked_at = session_.asked_at};
        session_.cluster = session_.sharded && bug_ != injected_bug::redisson_renewals_cross_slots;
    }
    if (handshake_replies_left_ == 1 && !std::exchange(has_joined_, true)) join_channels();
    if (handshake_replies_left_ > 0) return;
    is_ready_ = true;
    call_listener([this] { listener_->on_connected(*link_); });
    for (auto* const waiting : ready_waiters_)
        waiting->wakeup.notify();
    for (const auto& pending : sent_requests_)
        server_.network->send(connection_id_, pending->command);
    for (const auto& unwanted : subscriptions_.confirm_resubscribed(std::move(handshake_channels_)))
        send_unsubscribe(unwanted);
    state_wakeup_.notify();
}

// As in the real link: one command for each sharded channel, since they may be in different slots.
void link_endpoint::join_channels() {
    handshake_channels_ = subscriptions_.all();
    std::vector<words> commands;
    words plain{"SUBSCRIBE"};
    if (!channel_.empty()) plain.push_back(channel_);
    for (const auto& channel : handshake_channels_) {
        if (session_.sharded)
            commands.push_back({subscribe_command(), channel});
        else
            plain.push_back(channel);
    }
    if (plain.size() > 1) commands.push_back(std::move(plain));
    if (commands.empty()) commands.push_back({"PING"});
    handshake_replies_left_ = static_cast<int>(commands.size());
    for (auto& each : commands)
        server_.network->send(connection_id_, share(latch_bugs_.rewrite_command(std::move(each))));
}

const char* link_endpoint::subscribe_command() const noexcept {
    const bool is_sharded = session_.sharded && bug_ != injected_bug::redisson_subscribed_unsharded;
    return is_sharded ? "SSUBSCRIBE" : "SUBSCRIBE";
}

asio::awaitable<void> link_endpoint::run_connection(std::shared_ptr<link_endpoint> self) {
    auto pause = duration(20ms);
    while (!is_closing_) {
        start_handshake();
        co_await state_wakeup_.wait_until(context_.time->now() + reply_timeout_);
        const auto began = context_.time->now();
        if (is_ready_) {
            while (!is_broken_ && !is_closing_)
                co_await state_wakeup_.wait_until(time_point::max());
        }
        close_connection();
        if (is_ready_ && context_.time->now() - began >= 1s) pause = 20ms;
        const bool was_ready = is_ready_;
        fail_requests();
        if (was_ready) call_listener([this] { listener_->on_disconnected(*link_); });
        if (is_closing_) break;
        co_await state_wakeup_.wait_until(context_.time->now() + pause);
        pause = std::min<duration>(pause * 2, 1s);
    }
    self.reset();
}

void link_endpoint::close_connection() {
    const uncounted_allocations uncounted;
    if (server_.network != nullptr) server_.network->close(connection_id_);
}

// As with the real link, a listener without memory ends the connection.
template <class Work>
void link_endpoint::call_listener(Work work) {
    if (listener_ == nullptr) return;
    const allocation_scope the_program(&process_.resources().memory());
    try {
        work();
    } catch (const std::bad_alloc&) {
        is_broken_ = true;
        state_wakeup_.notify();
    }
}

void link_endpoint::fail_requests() {
    const uncounted_allocations uncounted;
    is_ready_ = false;
    connection_id_ = 0;
    subscriptions_.mark_all_unconfirmed();
    for (const auto& pending : std::exchange(sent_requests_, {})) {
        // The command is sent again although it may have been executed.
        if (is_resent_after_loss(bug_) && !is_closing_) {
            sent_requests_.push_back(pending);
            continue;
        }
        pending->failure = "the connection broke";
        pending->completed.notify();
    }
    const auto now = context_.time->now();
    for (auto* const waiting : ready_waiters_) {
        waiting->failed = is_closing_ || now - waiting->started_at >= longest_refusal;
        if (waiting->failed) waiting->wakeup.notify();
    }
}

asio::awaitable<void> link_endpoint::wait_until_ready(time_point give_up_at) {
    if (is_closing_) throw error(errc::cancelled, "The client is closed.");
    state_wakeup_.prepare();
    if (!std::exchange(running_, true))
        asio::co_spawn(context_.strand, run_connection(shared_from_this()), asio::detached);
    ready_waiter waiter(*context_.time, context_.strand);
    const auto position = ready_waiters_.insert(ready_waiters_.end(), &waiter);
    struct leaving {
        std::list<ready_waiter*>& waiters;
        std::list<ready_waiter*>::iterator position;
        ~leaving() { waiters.erase(position); }
    } const at_the_end{ready_waiters_, position};
    const auto until = std::min(give_up_at, waiter.started_at + connect_timeout);
    while (!is_ready_) {
        const bool is_notified = co_await waiter.wakeup.wait_until(until);
        if (waiter.failed || (!is_notified && !is_ready_))
            throw error(errc::unreachable, "The simulated server cannot be reached.");
    }
}

void link_endpoint::send(const std::shared_ptr<request>& pending) {
    const uncounted_allocations uncounted;
    sent_requests_.push_back(pending);
    server_.network->send(connection_id_, pending->command);
}

// For commands whose reply is not used.
void link_endpoint::send_unanswered(words command) {
    const auto pending = std::make_shared<request>(*context_.time, context_.strand);
    pending->command = share_uncounted(latch_bugs_.rewrite_command(std::move(command)));
    send(pending);
}

// For injected bugs: the undo request is not sent.
bool link_endpoint::is_dropped(const words& command) {
    const auto is = [&](const redis::script& script) {
        return command.size() > 1 && (command[1] == script.sha1 || command[1] == script.text);
    };
    if (bug_ == injected_bug::batch_undo_incomplete && is(redis::scripts::acquire_batch)) {
        const auto second = 3 + std::stoul(command[2]) + 3;
        for (auto value = second; value < command.size(); ++value)
            owners_not_undone_.insert(command[value].substr(0, command[value].find(';')));
    }
    // An undo is a release without a latch, its third key.
    if (is(redis::redisson::scripts::release))
        return bug_ == injected_bug::redisson_undo_not_sent && command[2] == "2";
    if (!is(redis::scripts::leave)) return false;
    if (bug_ == injected_bug::leave_not_sent) return true;
    const auto& member = command.at(3 + std::stoul(command[2]) + 2);
    return owners_not_undone_.contains(member.substr(member.find(':') + 1));
}

asio::awaitable<reply> link_endpoint::exec(std::span<const std::string_view> command_words,
                                           time_point give_up_at, redis::prelude before) {
    // Counted also if there is no timer for the request: the client undoes it in any case.
    const bool is_script = command_words.size() > 1 && command_words[0].starts_with("EVAL");
    if (is_script && can_need_undo(command_words[1])) process_.count_hold_request();
    const auto pending = std::make_shared<request>(*context_.time, context_.strand);
    pending->completed.prepare();
    auto command = copy_words(command_words);
    owner_bugs_.replace_owners(command);
    if (bug_ == injected_bug::redisson_published_unsharded)
        std::ranges::replace(command, "SPUBLISH", "PUBLISH");
    if (is_dropped(command)) co_return integer_reply(0);
    pending->command = share_uncounted(latch_bugs_.rewrite_command(std::move(command)));
    if (!is_ready_) co_await wait_until_ready(give_up_at);
    if (before != redis::prelude::none) {
        const auto prefix = std::make_shared<request>(*context_.time, context_.strand);
        const bool is_for_ask = before == redis::prelude::ask;
        prefix->command = is_for_ask ? share_uncounted({"ASKING"})
                                     : share_uncounted({"CLIENT", "CACHING", "YES"});
        send(prefix);
    }
    exchange_report report(*server_.network, process_, pending->command);
    auto received = co_await await_reply(pending, give_up_at);
    report.note(received);
    latch_bugs_.rewrite_reply(*pending->command, received);
    co_return received;
}

asio::awaitable<reply> link_endpoint::await_reply(std::shared_ptr<request> pending,
                                                  time_point give_up_at) {
    const auto answer_by = context_.time->now() + reply_timeout_;
    send(pending);
    // The real link checks ten times a second whether the caller gave up.
    const auto looked_at = std::max(give_up_at, context_.time->now());
    const auto until = looked_at > answer_by - 100ms ? answer_by : looked_at + 100ms;
    const bool settled = co_await pending->completed.wait_until(until);
    if (!settled && !pending->received && pending->failure.empty()) {
        pending->failure = "no answer in time";
        if (until == answer_by) on_closed(connection_id_);
    }
    if (pending->received) co_return std::move(*pending->received);
    throw redis::connection_lost(pending->failure);
}

// As in the real link, a connection that is established meanwhile subscribes by itself.
asio::awaitable<void> link_endpoint::subscribe(std::string channel, time_point give_up_at) {
    subscriptions_.add_listener(channel);
    struct joined {
        link_endpoint& self;
        const std::string& channel;
        bool kept = false;
        ~joined() {
            if (!kept) self.unsubscribe(channel);
        }
    } subscription{*this, channel};
    while (!subscriptions_.is_confirmed(channel)) {
        if (!is_ready_) {
            co_await wait_until_ready(give_up_at);
            continue;
        }
        const auto connection_id = connection_id_;
        const auto pending = std::make_shared<request>(*context_.time, context_.strand);
        pending->command =
            share_uncounted(latch_bugs_.rewrite_command(words({subscribe_command(), channel})));
        const auto received = co_await await_reply(pending, give_up_at);
        redis::throw_if_error(received, channel);
        if (is_ready_ && connection_id_ == connection_id) subscriptions_.confirm(channel);
    }
    subscription.kept = true;
}

void link_endpoint::unsubscribe(const std::string& channel) noexcept {
    if (subscriptions_.remove_listener(channel) && is_ready_ && !is_closing_)
        send_unsubscribe(channel);
}

// As in the real link, the command is dropped if there is no memory for it.
void link_endpoint::send_unsubscribe(const std::string& channel) noexcept {
    try {
        send_unanswered({session_.sharded ? "SUNSUBSCRIBE" : "UNSUBSCRIBE", channel});
    } catch (const std::bad_alloc&) {}
}

void link_endpoint::on_reply(std::uint64_t connection_id, reply received) {
    const uncounted_allocations uncounted;
    if (connection_id != connection_id_ || is_broken_) return;
    if (handshake_replies_left_ > 0) return on_handshake_reply(received);
    const auto pending = std::move(sent_requests_.front());
    sent_requests_.pop_front();
    pending->received = std::move(received);
    pending->completed.notify();
}

void link_endpoint::on_push(std::uint64_t connection_id, words message) {
    if (connection_id != connection_id_ || is_broken_ || listener_ == nullptr) return;
    const uncounted_allocations uncounted;
    if (message[0] == "invalidate")
        return call_listener([&] { listener_->on_invalidate(message[1]); });
    if (message[0] == "sunsubscribe") {
        // As in the real link: an empty message, since messages may have been lost.
        if (!subscriptions_.is_confirmed(message[1])) return;
        subscriptions_.mark_unconfirmed(message[1]);
        return call_listener([&] { listener_->on_message(message[1], ""); });
    }
    if (bug_ == injected_bug::grant_messages_dropped && message[2].starts_with("grant")) return;
    if (bug_ == injected_bug::redisson_messages_dropped) return;
    owner_bugs_.restore_owners(message[2]);
    if (message[1] == channel_)
        return call_listener([&] { listener_->on_message(channel_, message[2]); });
    latch_bugs_.note_message(message[1], message[2]);
    for (const auto& channel : latch_bugs_.receivers_of(message[1], subscriptions_))
        call_listener([&] { listener_->on_message(channel, message[2]); });
}

void link_endpoint::on_closed(std::uint64_t connection_id) {
    if (connection_id != connection_id_) return;
    is_broken_ = true;
    state_wakeup_.notify();
}

asio::awaitable<void> link_endpoint::close(time_point give_up_at) {
    while (is_ready_ && !sent_requests_.empty() && context_.time->now() < give_up_at)
        co_await drain_wakeup_.wait_until(context_.time->now() + 1ms);
    is_closing_ = true;
    state_wakeup_.notify();
}

class simulated_link final : public link {
public:
    explicit simulated_link(std::shared_ptr<link_endpoint> to) : endpoint_(std::move(to)) {
        endpoint_->set_link(*this);
    }
    ~simulated_link() override { endpoint_->forget_listener(); }

    asio::awaitable<reply> exec(std::span<const std::string_view> command_words,
                                time_point give_up_at, redis::prelude before) override {
        return endpoint_->exec(command_words, give_up_at, before);
    }
    asio::awaitable<void> subscribe(std::string channel, time_point give_up_at) override {
        return endpoint_->subscribe(std::move(channel), give_up_at);
    }
    void unsubscribe(const std::string& channel) noexcept override {
        endpoint_->unsubscribe(channel);
    }
    const redis::session& current() const noexcept override { return endpoint_->current(); }
    bool connected() const noexcept override { return endpoint_->connected(); }
    asio::awaitable<void> close(time_point give_up_at) override {
        return endpoint_->close(give_up_at);
    }

private:
    std::shared_ptr<link_endpoint> endpoint_;
};

}  // namespace

redis::link_factory simulated_link_factory(server_choice choose, simulated_process& process,
                                           const backend_context& context,
                                           const redis::options& options, injected_bug bug) {
    return [choose = std::move(choose), &process, context, options, bug](
               link::listener& listener, const std::string& channel) {
        return std::make_unique<simulated_link>(std::make_shared<link_endpoint>(
            choose, process, context, options, bug, listener, channel));
    };
}

}  // namespace pawl::simulation
