// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_client.hpp"

#include "errors.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::zookeeper {
namespace {

constexpr core::pause_lengths undo_pauses{.first = 50ms, .longest = 1s};
// A session without nodes and requests is closed after so long.
constexpr duration idle_limit = 60s;

}  // namespace

// One call of `renew`. It may end before the answers of all sessions.
struct renewal_round {
    renewal_round(renewal_batch& all, const backend_context& context)
        : batch(&all), done(*context.time, context.strand) {}

    renewal_batch* batch;
    std::size_t unanswered = 0;
    core::wakeup done;
};

lock_client::lock_client(std::shared_ptr<const client_settings> settings,
                         const backend_context& context)
    : settings_(std::move(settings)),
      context_(context),
      operations_(*context_.time, context_.strand) {}

std::shared_ptr<lock_client> lock_client::make(std::shared_ptr<const client_settings> settings,
                                               const backend_context& context) {
    auto client = std::make_shared<lock_client>(std::move(settings), context);
    const std::weak_ptr<lock_client> weak = client;
    session::handlers users{[weak](session& ended) {
                                if (const auto self = weak.lock()) self->on_session_end(ended);
                            },
                            [weak](session& ticking) {
                                if (const auto self = weak.lock()) self->on_tick(ticking);
                            }};
    client->sessions_ =
        std::make_shared<session_pool>(client->settings_, client->context_, std::move(users));
    return client;
}

std::string lock_client::data_text(std::uint64_t phase, std::uint64_t created_by) const {
    return text_of(
        {context_.process.host, context_.process.pid, phase, context_.process.command, created_by});
}

asio::awaitable<void> lock_client::make_node(std::shared_ptr<session> used, std::string path,
                                             time_point give_up_at) {
    std::vector<std::string> missing{std::move(path)};
    while (!missing.empty()) {
        const auto& next = missing.back();
        // The root and those above it stay when they are empty.
        const bool is_root = next.size() <= settings_->root.size();
        if (next == "/" || (is_root && !settings_->makes_root)) throw root_error(*settings_);
        const auto creation =
            is_root ? create_request(next, "", node_rights::everybody, node_kind::persistent)
                    : create_container_request(next, settings_->rights());
        const auto answer = co_await used->ask(creation, give_up_at);
        if (answer.code == reply_code::no_node) {
            missing.push_back(parent_of(next));
            continue;
        }
        if (answer.code != reply_code::node_exists) throw_if_failed(answer, *settings_, next);
        missing.pop_back();
    }
}

time_point lock_client::deadline_of(const session& used, time_point asked_at,
                                    duration ttl) const noexcept {
    return std::min(used.believed_until(), asked_at + ttl - drift(ttl));
}

grant lock_client::add_hold(const claim& requested, const std::shared_ptr<session>& used,
                            std::string path, time_point asked_at, fencing_token token,
                            bool is_phase_stored) {
    const auto held = std::make_shared<held_node>(context_);
    held->owner = requested.owner;
    held->path = std::move(path);
    held->used = used;
    held->token = token;
    held->on_removed = [weak = weak_from_this()](const std::string& owner) {
        if (const auto self = weak.lock()) self->on_removed(owner);
    };
    grant made;
    made.deadline = deadline_of(*used, asked_at, requested.ttl);
    made.token = token;
    made.stored_value = held->path;
    held->must_move = used->timeout() < settings_->session_timeout(requested.ttl);
    made.needs_renewal = held->must_move || made.deadline < now() + requested.ttl / 2;
    holds_.emplace(requested.owner, held);
    if (!is_phase_stored)
        asio::co_spawn(context_.strand, store_phase(shared_from_this(), held), asio::detached);
    return made;
}

void lock_client::undo_hold(const std::string& owner) {
    const auto position = holds_.find(owner);
    if (position == holds_.end()) return;
    const auto held = position->second;
    holds_.erase(position);
    undo_in_background(held->used, held->path, {}, owner);
}

asio::awaitable<void> lock_client::store_phase(std::shared_ptr<lock_client> self, hold_ptr held) {
    const core::in_flight::guard operation(self->operations_);
    const auto stored = set_data_request(held->path, self->data_text(held->token.value()));
    while (!held->used->is_over() && self->holds_.contains(held->owner)) {
        try {
            co_await held->used->ask(stored, self->try_deadline());
            co_return;
        } catch (const std::exception&) {}  // `ready` has waited for the limit
    }
}

// A node that was removed by force ends its hold; the watch tells of it.
asio::awaitable<void> lock_client::watch_node(std::shared_ptr<lock_client> self, hold_ptr held) {
    const core::in_flight::guard operation(self->operations_);
    const auto path = held->path;
    try {
        held->used->watches().add(watch_kind::data, path, held);
        const auto asked = get_data_request(path, true);
        const auto answer = co_await held->used->ask(asked, self->try_deadline());
        if (answer.code == reply_code::ok || path != held->path) co_return;
        held->used->watches().remove(watch_kind::data, path);
        if (answer.code == reply_code::no_node && !held->is_changing) self->on_removed(held->owner);
    } catch (const std::exception&) {
        held->is_watched = false;
    }
}

void lock_client::on_removed(const std::string& owner) {
    const auto position = holds_.find(owner);
    if (position == holds_.end()) return;
    holds_.erase(position);
    context_.listener->on_loss(owner, loss_reason::forced);
}

void lock_client::on_session_end(session& ended) {
    std::vector<std::string> lost;
    for (const auto& [owner, held] : holds_)
        if (held->used.get() == &ended) lost.push_back(owner);
    for (const auto& owner : lost) {
        holds_.erase(owner);
        context_.listener->on_loss(owner, loss_reason::expired);
    }
    for (auto* each : attempts_)
        each->on_session_end(ended);
}

// Releases that come soon after the grant save the watch.
void lock_client::on_tick(session& ticking) {
    for (const auto& [owner, held] : holds_) {
        if (held->used.get() != &ticking || held->is_changing) continue;
        if (std::exchange(held->is_watched, true)) continue;
        asio::co_spawn(context_.strand, watch_node(shared_from_this(), held), asio::detached);
    }
    if (now() - ticking.used_at() > idle_limit && !is_used(ticking)) sessions_->drop(ticking);
}

bool lock_client::is_used(const session& sought) const noexcept {
    return std::ranges::any_of(
               holds_, [&](const auto& each) { return each.second->used.get() == &sought; }) ||
           std::ranges::any_of(attempts_, [&](const auto* each) { return each->uses(sought); });
}

asio::awaitable<release_result> lock_client::release(const hold& requested) {
    const auto position = holds_.find(requested.claim.owner);
    if (position == holds_.end()) co_return release_result::expired;
    const auto held = position->second;
    holds_.erase(position);
    const auto limit = try_deadline();
    const auto removal = remove_request(held->path);
    bool was_sent = false;
    while (!held->used->is_over() && now() < limit) {
        try {
            co_await held->used->ready(limit);
            const auto sent = held->used->send(removal);
            const bool is_first = !std::exchange(was_sent, true);
            const auto answer = co_await held->used->wait(sent, limit);
            if (answer.code == reply_code::ok) co_return release_result::released;
            if (answer.code == reply_code::no_node && !held->next_path.empty()) {
                const auto moved = remove_request(held->next_path);
                const auto end = co_await held->used->ask(moved, limit);
                if (end.code == reply_code::ok) co_return release_result::released;
            }
            if (answer.code == reply_code::no_node && is_first)
                co_return release_result::taken_over;
            if (answer.code == reply_code::no_node) co_return release_result::unknown;
            if (answer.code == reply_code::session_expired) co_return release_result::expired;
            break;
        } catch (const error&) {}  // repeated
    }
    if (held->used->is_over() && !was_sent) co_return release_result::expired;
    undo_in_background(held->used, held->path, {}, held->owner);
    co_return release_result::unknown;
}

void lock_client::undo_in_background(std::shared_ptr<session> used, std::string path,
                                     std::string lock_path, std::string owner) {
    asio::co_spawn(context_.strand,
                   undo(shared_from_this(), std::move(used), std::move(path), std::move(lock_path),
                        std::move(owner)),
                   asio::detached);
}

// A request that was sent is carried out before the `sync`, or never: the session's next server
// refuses what the last one still sends.
asio::awaitable<void> lock_client::undo(std::shared_ptr<lock_client> self,
                                        std::shared_ptr<session> used, std::string path,
                                        std::string lock_path, std::string owner) {
    const core::in_flight::guard operation(self->operations_);
    core::back_off pauses(*self->context_.time, undo_pauses);
    core::wakeup pause(*self->context_.time, self->context_.strand);
    while (!used->is_over() && !self->is_forked()) {
        try {
            const auto limit = self->try_deadline();
            if (path.empty()) {
                co_await used->ready(limit);
                static_cast<void>(used->send(sync_request(lock_path)));
                const auto sent = used->send(get_children_request(lock_path, false));
                const auto answer = co_await used->wait(sent, limit);
                if (answer.code == reply_code::no_node) co_return;
                for (const auto& each : read_children(answer))
                    if (belongs_to(each, owner)) path = lock_path + "/" + each;
                if (path.empty()) co_return;
            }
            const auto removal = remove_request(path);
            const auto answer = co_await used->ask(removal, limit);
            if (answer.code == reply_code::ok || answer.code == reply_code::no_node) co_return;
        } catch (const std::exception&) {}  // repeated
        if (self->is_closing_) co_return;
        co_await pause.wait_until(self->now() + pauses.next_pause());
    }
}

// One `sync` for all holds of a session.
asio::awaitable<void> lock_client::renew(renewal_batch& batch) {
    const auto round = std::make_shared<renewal_round>(batch, context_);
    struct detach_at_exit {
        renewal_round& round;
        ~detach_at_exit() { round.batch = nullptr; }
    } const guard{*round};
    std::map<std::shared_ptr<session>, std::vector<std::size_t>> parts;
    auto limit = now();
    for (std::size_t i = 0; i < batch.renewals().size(); ++i) {
        const auto& each = batch.renewals()[i];
        const auto position = holds_.find(each.held->claim.owner);
        if (position == holds_.end()) {
            batch.settle(i, renewal::outcome::refused);
            continue;
        }
        limit = std::max(limit, each.useful_until);
        if (position->second->must_move) {
            ++round->unanswered;
            asio::co_spawn(context_.strand, move(shared_from_this(), position->second, round, i),
                           asio::detached);
        } else {
            parts[position->second->used].push_back(i);
        }
    }
    round->unanswered += parts.size();
    for (const auto& [used, indexes] : parts)
        asio::co_spawn(context_.strand, prove(shared_from_this(), used, round, indexes),
                       asio::detached);
    while (round->unanswered > 0 && now() < limit)
        co_await round->done.wait_until(limit);
}

// The renewal of a grant whose node has the session of waiters: the session of its ttl creates a
// node with the same number, and removes the first one in the same step.
asio::awaitable<void> lock_client::move(std::shared_ptr<lock_client> self, hold_ptr held,
                                        std::shared_ptr<renewal_round> round, std::size_t index) {
    const core::in_flight::guard operation(self->operations_);
    try {
        if (held->is_changing) throw no_answer("The lock is being changed.");
        const auto wanted = round->batch->renewals()[index];
        const auto ttl = wanted.held->claim.ttl;
        const auto target = co_await self->sessions_->get(self->settings_->session_timeout(ttl),
                                                          wanted.useful_until);
        const auto asked_at = self->now();
        const bool is_moved =
            !held->must_move || co_await self->move_node(held, target, wanted.useful_until);
        if (is_moved) co_await self->prove_session(target, wanted.useful_until);
        if (round->batch != nullptr) {
            if (is_moved && self->holds_.contains(held->owner))
                round->batch->settle(index, renewal::outcome::extended,
                                     self->deadline_of(*target, asked_at, wanted.ttl));
            else
                round->batch->settle(index, renewal::outcome::refused);
        }
        if (!is_moved) self->holds_.erase(held->owner);
    } catch (const std::exception&) {}  // unknown
    --round->unanswered;
    round->done.notify();
}

asio::awaitable<bool> lock_client::move_node(hold_ptr held, std::shared_ptr<session> target,
                                             time_point give_up_at) {
    const auto old_path = held->path;
    const auto path = parent_of(old_path) + "/" + as_moved(node_of(old_path));
    const held_node::changing guard(*held, path);
    const auto step =
        replace_request(path, data_text(held->token.value()), settings_->rights(), old_path);
    const auto answer = co_await target->ask(step, give_up_at);
    const auto code = read_multi(answer);
    if (code == reply_code::no_node) co_return false;
    // An earlier request, whose answer was lost, has made it.
    if (code != reply_code::ok && code != reply_code::node_exists)
        throw reply_error(code, *settings_, old_path);
    held->path = path;
    held->used = target;
    held->must_move = false;
    // It was released meanwhile.
    if (!holds_.contains(held->owner)) undo_in_background(target, path, {}, held->owner);
    co_return true;
}

asio::awaitable<void> lock_client::prove(std::shared_ptr<lock_client> self,
                                         std::shared_ptr<session> used,
                                         std::shared_ptr<renewal_round> round,
                                         std::vector<std::size_t> indexes) {
    const core::in_flight::guard operation(self->operations_);
    const auto asked_at = self->now();
    try {
        auto limit = asked_at;
        for (const auto i : indexes)
            limit = std::max(limit, round->batch->renewals()[i].useful_until);
        self->on_tick(*used);
        const auto heartbeat = sync_request("/");
        const auto answer = co_await used->ask(heartbeat, limit);
        throw_if_failed(answer, *self->settings_, "/");
        for (const auto i : indexes) {
            if (round->batch == nullptr) break;
            const auto& each = round->batch->renewals()[i];
            const auto held = self->holds_.find(each.held->claim.owner);
            if (held == self->holds_.end())
                round->batch->settle(i, renewal::outcome::refused);
            else
                round->batch->settle(i, renewal::outcome::extended,
                                     self->deadline_of(*used, asked_at, each.ttl));
        }
    } catch (const std::exception&) {}  // unknown; the end of a session is told by itself
    --round->unanswered;
    round->done.notify();
}

asio::awaitable<void> lock_client::prove_session(std::shared_ptr<session> used,
                                                 time_point give_up_at) {
    const auto heartbeat = sync_request("/");
    const auto answer = co_await used->ask(heartbeat, give_up_at);
    throw_if_failed(answer, *settings_, "/");
}

// The reader's node has the number of the writer's: readers behind it come in, writers wait, as
// with Curator.
asio::awaitable<std::optional<grant>> lock_client::downgrade(const hold& requested) {
    const core::in_flight::guard operation(operations_);
    const auto position = holds_.find(requested.claim.owner);
    if (position == holds_.end()) co_return std::nullopt;
    const auto held = position->second;
    const auto limit = try_deadline();
    while (held->changes.must_wait(limit))
        co_await held->changes.wait_until(limit);
    const auto asked_at = now();
    bool is_held = true;
    if (held->must_move) {
        const auto target =
            co_await sessions_->get(settings_->session_timeout(requested.claim.ttl), limit);
        is_held = co_await move_node(held, target, limit);
    }
    const auto reader_path = parent_of(held->path) + "/" + as_reader(node_of(held->path));
    if (is_held && reader_path != held->path)
        is_held = co_await replace_node(held, reader_path, limit);
    if (!is_held) {
        on_removed(held->owner);
        co_return std::nullopt;
    }
    co_await prove_session(held->used, limit);
    if (!holds_.contains(held->owner)) co_return std::nullopt;
    const auto ttl = requested.claim.ttl;
    co_return grant{deadline_of(*held->used, asked_at, ttl), held->token, held->path, false};
}

asio::awaitable<bool> lock_client::replace_node(hold_ptr held, std::string reader_path,
                                                time_point give_up_at) {
    const held_node::changing guard(*held, reader_path);
    const auto step = replace_request(reader_path, data_text(held->token.value()),
                                      settings_->rights(), held->path);
    const auto answer = co_await held->used->ask(step, give_up_at);
    const auto code = read_multi(answer);
    if (code == reply_code::no_node) co_return false;
    // An earlier request, whose answer was lost, has made it.
    if (code != reply_code::ok && code != reply_code::node_exists)
        throw reply_error(code, *settings_, held->path);
    held->path = std::move(reader_path);
    co_return true;
}

asio::awaitable<void> lock_client::resize(std::string_view name, std::uint32_t permits) {
    const core::in_flight::guard operation(operations_);
    const auto limit = try_deadline();
    const auto path = path_of(name);
    const auto stored_at = total_path(path);
    const auto used = co_await sessions_->get_any(limit);
    const auto text = std::to_string(permits);
    const auto change = set_data_request(stored_at, text);
    const auto creation =
        create_request(stored_at, text, settings_->rights(), node_kind::persistent);
    for (;;) {
        const auto changed = co_await used->ask(change, limit);
        if (changed.code == reply_code::ok) co_return;
        if (changed.code != reply_code::no_node) throw_if_failed(changed, *settings_, stored_at);
        const auto created = co_await used->ask(creation, limit);
        if (created.code == reply_code::ok) co_return;
        if (created.code == reply_code::no_node)
            co_await make_node(used, path, limit);
        else if (created.code != reply_code::node_exists)
            throw_if_failed(created, *settings_, stored_at);
    }
}

asio::awaitable<void> lock_client::close(time_point give_up_at) {
    while (!is_forked() && operations_.must_wait(give_up_at))
        co_await operations_.wait_until(give_up_at);
    is_closing_ = true;
    holds_.clear();
    sessions_->close();
    auto& running = sessions_->running();
    while (!is_forked() && running.must_wait(give_up_at))
        co_await running.wait_until(give_up_at);
}

}  // namespace pawl::zookeeper
