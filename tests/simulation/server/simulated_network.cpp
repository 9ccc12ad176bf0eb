// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "simulated_network.hpp"

#include "replies.hpp"

#include <algorithm>
#include <ranges>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// Of the commands that clients send to change a lock.
bool may_write(const std::string& verb) {
    return verb.starts_with("EVAL") || verb == "SET" || verb == "INCR" || verb == "PEXPIRE";
}

}  // namespace

struct simulated_network::connection_state {
    std::uint64_t id = 0;
    std::weak_ptr<endpoint> receiver;
    simulated_process* process = nullptr;
    int server_run = 0;  // the run of the server that it leads to
    bool broken = false;
    bool delivers_late = false;  // commands sent before the break are still executed
    instant late_delay{};
    instant last_request_at{};
    instant last_reply_at{};
    std::uint64_t last_write = 0;  // of this connection; 0: none
    bool is_waiting = false;       // for copies: what it sends is executed later
    std::deque<shared_words> blocked_requests;
    std::deque<shared_words> held_requests;
    std::deque<task> held_replies;
};

simulated_network::simulated_network(scheduler& loop, prng random, network_faults faults,
                                     std::string server_name)
    : loop_(loop),
      random_(random),
      faults_(faults),
      redis_(
          [this](auto to, words message) { pending_pushes_.emplace_back(to, std::move(message)); },
          faults.bug, std::move(server_name)) {
    redis_.set_script_limits(faults.bounds_of_scripts);
}

std::int64_t simulated_network::wall_us() const noexcept {
    constexpr std::int64_t start = 1'900'000'000'000'000;
    const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(loop_.now()).count();
    const auto counted = clock_rate_ == 1
                             ? passed
                             : static_cast<std::int64_t>(static_cast<double>(passed) * clock_rate_);
    return start + counted + clock_offset_us_;
}

simulated_redis& simulated_network::server() {
    redis_.set_clock(wall_us());
    return redis_;
}

instant simulated_network::latency() {
    const auto most = random_.happens(faults_.slow_message)
                          ? std::max(faults_.longest_delay, faults_.latency_high)
                          : faults_.latency_high;
    return instant(random_.between(faults_.latency_low.count(), most.count()));
}

simulated_network::connection_ptr simulated_network::find_connection(std::uint64_t id) const {
    const auto it = connections_.find(id);
    return it == connections_.end() ? nullptr : it->second;
}

std::uint64_t simulated_network::connect(const std::weak_ptr<endpoint>& receiver) {
    auto connection = std::make_shared<connection_state>();
    connection->id = ++last_connection_id_;
    connection->receiver = receiver;
    connection->process = &receiver.lock()->process();
    connection->server_run = is_up_ ? server_run_ : -1;
    connections_.emplace(connection->id, connection);
    // The server refuses the connection.
    if (!is_up_ || banned_processes_.contains(connection->process))
        break_connection(connection, true);
    return connection->id;
}

void simulated_network::send(std::uint64_t id, shared_words command) {
    const auto connection = find_connection(id);
    if (!connection || connection->broken) return;
    if (random_.happens(faults_.break_on_request)) return break_connection(connection, true);
    if (without_requests_.contains(connection->process)) {
        connection->held_requests.push_back(std::move(command));
        return;
    }
    connection->last_request_at =
        std::max(connection->last_request_at + 1ns, loop_.now() + latency());
    loop_.schedule_at(connection->last_request_at,
                      [this, connection, command = std::move(command)]() mutable {
                          arrive(connection, std::move(command), false);
                      });
}

void simulated_network::arrive(const connection_ptr& connection, shared_words command,
                               bool delayed) {
    if (connection->broken && !connection->delivers_late) return;
    if (connection->broken && !delayed) {
        const auto number = ++last_late_id_;
        late_commands_.emplace(number, pending_command{connection, std::move(command)});
        const auto after = faults_stopped_ ? instant{} : connection->late_delay;
        loop_.schedule_after(after, [this, number] { deliver_late(number); });
        return;
    }
    if (!is_up_ || connection->server_run != server_run_) return;
    if (faults_.bug == injected_bug::requests_reordered && random_.happens(0.3))
        queue_.push_front({connection, std::move(command)});
    else
        queue_.push_back({connection, std::move(command)});
    start_next();
}

void simulated_network::deliver_late(std::uint64_t number) {
    auto kept = late_commands_.extract(number);
    if (!kept.empty()) arrive(kept.mapped().connection, std::move(kept.mapped().command), true);
}

// One command at a time, each of about 20 µs. This also keeps apart the tokens that are seeded from
// the clock.
void simulated_network::start_next() {
    if (is_executing_ || is_frozen_ || queue_.empty()) return;
    is_executing_ = true;
    loop_.schedule_after(instant(random_.between(18'000, 30'000)), [this] {
        is_executing_ = false;
        if (!is_frozen_ && !queue_.empty()) execute_next();
    });
}

void simulated_network::execute_next() {
    const pending_command pending = std::move(queue_.front());
    queue_.pop_front();
    execute(pending);
    plan_expiry();
    start_next();
}

void simulated_network::execute(const pending_command& pending) {
    pending_pushes_.clear();
    if (pending.connection->is_waiting)
        return pending.connection->blocked_requests.push_back(pending.command);
    const auto wait = find_wait(*pending.command);
    if (wait) return answer_wait(pending.connection, *wait);
    if (may_write(pending.command->front())) pending.connection->last_write = ++writes_;
    auto reply = server().execute(pending.connection->id, *pending.command);
    if (observer_)
        observer_->on_executed(*this, *pending.connection->process, *pending.command, reply);
    const auto pushes = std::exchange(pending_pushes_, {});
    const auto send_pushes = [&](bool is_own) {
        for (const auto& [to, message] : pushes)
            if ((to == pending.connection->id) == is_own) deliver_push(to, message);
    };
    send_pushes(false);
    if (!faults_.reply_before_own_push) send_pushes(true);
    answer(pending.connection, std::move(reply));
    if (faults_.reply_before_own_push) send_pushes(true);
}

void simulated_network::answer(const connection_ptr& connection, redis::reply reply) {
    if (random_.happens(faults_.break_on_reply)) return break_connection(connection, true);
    send_to_client(
        connection,
        [on = connection, reply = std::move(reply)]() mutable {
            if (const auto receiver = on->receiver.lock())
                receiver->on_reply(on->id, std::move(reply));
        },
        false);
}

std::optional<simulated_network::copies_wait> simulated_network::find_wait(
    const words& command) const {
    const bool is_on_disk = command.front() == "WAITAOF";
    const bool is_known = is_on_disk ? longest_sync_pause_ > instant(0) : bool(count_replicas_);
    if ((!is_on_disk && command.front() != "WAIT") || !is_known) return std::nullopt;
    return copies_wait{is_on_disk, std::stoll(command.at(1)),
                       loop_.now() + 1ms * std::stoll(command.back())};
}

// As in Redis, the number of replicas that have the last write of this connection, or whether the
// file has it, when that is enough or the time is over.
void simulated_network::answer_wait(const connection_ptr& connection, const copies_wait& wait) {
    const std::int64_t is_synced = connection->last_write <= synced_writes_ ? 1 : 0;
    const auto count = wait.is_on_disk ? is_synced : count_replicas_(connection->last_write);
    const bool has_ended = connection->broken || !is_up_ || connection->server_run != server_run_;
    connection->is_waiting = !has_ended;
    if (has_ended) return;
    if (!is_frozen_ && (count >= wait.wanted || loop_.now() >= wait.until)) {
        connection->is_waiting = false;
        auto number = integer_reply(count);
        if (wait.is_on_disk) number = array_reply({number, integer_reply(0)});
        answer(connection, std::move(number));
        for (auto& each : std::exchange(connection->blocked_requests, {}))
            queue_.push_back({connection, std::move(each)});
        return start_next();
    }
    loop_.schedule_after(5ms, [this, connection, wait] { answer_wait(connection, wait); });
}

void simulated_network::keep_append_file(instant longest_pause) {
    longest_sync_pause_ = longest_pause;
    plan_sync();
}

// An fsync takes a while, and a server that dies meanwhile loses what it was for.
void simulated_network::plan_sync() {
    const instant pause(random_.between(100'000'000, longest_sync_pause_.count()));
    loop_.schedule_after(pause, [this] {
        if (is_up_ && !is_frozen_) {
            auto data = std::make_shared<simulated_redis::snapshot>(redis_.take_snapshot());
            loop_.schedule_after(instant(random_.between(1'000'000, 50'000'000)),
                                 [this, data, writes = writes_, run = server_run_] {
                                     if (run != server_run_) return;
                                     synced_data_ = std::move(*data);
                                     synced_writes_ = writes;
                                 });
        }
        plan_sync();
    });
}

void simulated_network::deliver_push(simulated_redis::connection to, words message) {
    const auto connection = find_connection(to);
    if (!connection) return;
    send_to_client(
        connection,
        [connection, message = std::move(message)]() mutable {
            if (const auto receiver = connection->receiver.lock())
                receiver->on_push(connection->id, std::move(message));
        },
        true);
}

void simulated_network::change_data(const std::function<void(simulated_redis&)>& change) {
    pending_pushes_.clear();
    change(server());
    if (observer_) observer_->on_data_changed(*this);
    for (auto& [to, message] : std::exchange(pending_pushes_, {}))
        deliver_push(to, std::move(message));
    plan_expiry();
}

void simulated_network::send_to_client(const connection_ptr& connection, task deliver,
                                       bool is_push) {
    if (connection->broken) return;
    if (without_replies_.contains(connection->process)) {
        connection->held_replies.push_back(std::move(deliver));
        return;
    }
    auto when = std::max(connection->last_reply_at + 1ns, loop_.now() + latency());
    connection->last_reply_at = when;
    // In the program, pushes and replies are read by different coroutines.
    if (is_push && faults_.pushes_overtake) when += instant(random_.between(0, 200'000));
    loop_.schedule_at(when, [connection, deliver = std::move(deliver)]() mutable {
        const auto receiver = connection->receiver.lock();
        if (!receiver || connection->broken) return;
        receiver->run_on_strand([connection, deliver = std::move(deliver)]() mutable {
            if (!connection->broken) deliver();
        });
    });
}

void simulated_network::break_connection(const connection_ptr& connection, bool notifies) {
    if (connection->broken) return;
    connection->broken = true;
    connection->held_requests.clear();
    connection->held_replies.clear();  // they and the connection refer to each other
    connection->delivers_late = random_.happens(faults_.late_delivery);
    if (connection->delivers_late)
        connection->late_delay = random_.between(0ns, faults_.longest_late_delay);
    // The server counts the subscriber until it notices the break.
    const auto notices = connection->late_delay + instant(random_.between(0, 300'000'000));
    loop_.schedule_after(notices, [this, connection] { forget_connection(connection); });
    if (!notifies || random_.happens(faults_.unnoticed_break)) return;
    loop_.schedule_after(latency(), [connection] {
        if (const auto receiver = connection->receiver.lock())
            receiver->run_on_strand([connection] {
                if (const auto still = connection->receiver.lock())
                    still->on_closed(connection->id);
            });
    });
}

// A frozen server first executes the commands that arrived before the break, in the database of
// their connection.
void simulated_network::forget_connection(const connection_ptr& connection) {
    const auto is_of = [&](const pending_command& each) { return each.connection == connection; };
    if (std::ranges::any_of(queue_, is_of) ||
        std::ranges::any_of(late_commands_ | std::views::values, is_of)) {
        loop_.schedule_after(100ms, [this, connection] { forget_connection(connection); });
        return;
    }
    connections_.erase(connection->id);
    if (connection->server_run == server_run_) redis_.disconnect(connection->id);
}

void simulated_network::close(std::uint64_t id) {
    if (const auto connection = find_connection(id)) break_connection(connection, false);
}

void simulated_network::break_all(simulated_process& process) {
    const auto all = connections_;
    for (const auto& [id, connection] : all)
        if (connection->process == &process) break_connection(connection, true);
}

void simulated_network::ban(simulated_process& process) {
    banned_processes_.insert(&process);
    without_requests_.erase(&process);
    without_replies_.erase(&process);
    break_all(process);
}

void simulated_network::break_clients() {
    const auto all = connections_;
    for (const auto& [id, connection] : all)
        break_connection(connection, true);
}

void simulated_network::reconnect(simulated_process& process) {
    without_requests_.erase(&process);
    without_replies_.erase(&process);
    const auto all = connections_;
    for (const auto& [id, connection] : all) {
        if (connection->process != &process) continue;
        for (auto& held : std::exchange(connection->held_requests, {}))
            send(id, std::move(held));
        for (auto& held : std::exchange(connection->held_replies, {}))
            send_to_client(connection, std::move(held), false);
    }
}

void simulated_network::stop_faults() {
    network_faults rest;
    rest.bug = faults_.bug;
    rest.reply_before_own_push = faults_.reply_before_own_push;
    rest.bounds_of_scripts = faults_.bounds_of_scripts;
    faults_ = rest;
    faults_stopped_ = true;
    while (!late_commands_.empty())
        deliver_late(late_commands_.begin()->first);
}

void simulated_network::thaw() {
    is_frozen_ = false;
    start_next();
    plan_expiry();
}

void simulated_network::stop_server() {
    is_up_ = false;
    ++server_run_;
    queue_.clear();
    const auto all = connections_;
    for (const auto& [id, connection] : all) {
        break_connection(connection, true);
        connection->delivers_late = false;
    }
}

void simulated_network::start_server(simulated_redis::snapshot with) {
    if (longest_sync_pause_ > instant(0)) synced_data_ = with;
    synced_writes_ = writes_;
    redis_.restart(std::move(with));
    is_up_ = true;
    if (observer_) observer_->on_data_changed(*this);
}

// The server removes expired keys ten times a second.
void simulated_network::plan_expiry() {
    const auto next_ms = redis_.next_cached_expiry();
    if (next_ms < 0 || is_frozen_ || !is_up_) return;
    const auto when =
        loop_.now() +
        std::max<instant>(0ns, std::chrono::microseconds(next_ms * 1000 - wall_us())) +
        instant(random_.between(1'000'000, 100'000'000));
    if (expiry_planned_ <= when) return;
    expiry_planned_ = when;
    loop_.schedule_at(when, [this] {
        expiry_planned_ = instant::max();
        if (!is_frozen_ && is_up_) change_data([](simulated_redis& server) { server.expire(); });
    });
}

}  // namespace pawl::simulation
