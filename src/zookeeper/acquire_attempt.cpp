// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "acquire_attempt.hpp"

#include "errors.hpp"

#include "../core/store/permits.hpp"
#include "../core/store/predecessor.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::zookeeper {
namespace {

// What is left of a wait may be too short for a request; and one that is not answered for so long
// is undone, so that the core repeats it.
constexpr duration shortest_request = 300ms;
constexpr duration longest_request = 5s;
// Each time, the server removed a parent that had just been made: it removes empty containers.
constexpr int most_creates = 5;

std::uint32_t number_in(std::string_view text) noexcept {
    std::uint32_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}  // namespace

acquire_attempt::acquire_attempt(std::shared_ptr<lock_client> client, const claim& requested,
                                 time_point give_up_at)
    : client_(std::move(client)),
      requested_(requested),
      give_up_at_(give_up_at),
      lock_path_(client_->path_of(requested.name)),
      changed_(*client_->context().time, client_->context().strand),
      done_(*client_->context().time, client_->context().strand) {
    done_.prepare();
    client_->add(*this);
}

acquire_attempt::~acquire_attempt() { client_->remove(*this); }

asio::awaitable<void> acquire_attempt::run(std::shared_ptr<acquire_attempt> self) {
    const core::in_flight::guard operation(self->client_->operations());
    try {
        co_await self->acquire();
    } catch (...) {
        self->failure_ = std::current_exception();
    }
    if (!self->granted_) self->undo();
    self->is_done_ = true;
    self->done_.notify();
}

asio::awaitable<std::optional<grant>> acquire_attempt::result() {
    while (!is_done_)
        co_await done_.wait_until(time_point::max());
    if (failure_) std::rethrow_exception(failure_);
    co_return granted_;
}

void acquire_attempt::abandon() noexcept {
    is_abandoned_ = true;
    try {
        if (granted_) client_->undo_hold(requested_.owner);
        changed_.notify();
    } catch (...) {  // no memory: the wait ends at its limit
    }
}

void acquire_attempt::on_change(const node_event&) {
    has_changed_ = true;
    changed_.notify();
}

void acquire_attempt::on_session_end(const session& ended) {
    if (uses(ended)) changed_.notify();
}

bool acquire_attempt::may_wait() const noexcept {
    return !is_abandoned_ && client_->now() < give_up_at_;
}

time_point acquire_attempt::request_limit() const noexcept {
    const auto now = client_->now();
    if (give_up_at_ <= now && !was_queued_) return client_->try_deadline();
    return now + std::clamp(give_up_at_ - now, shortest_request, longest_request);
}

core::lock_share acquire_attempt::own_share() const noexcept {
    return {requested_.mode, requested_.mode == lock_mode::permits ? requested_.permits : 0};
}

// The node of a waiter has a session of its own kind. A claim that will wait begins with it.
asio::awaitable<void> acquire_attempt::acquire() {
    const auto ttl = requested_.was_taken ? waiting_ttl() : requested_.ttl;
    const auto timeout = client_->settings().session_timeout(ttl);
    used_ = co_await client_->sessions().get(timeout, request_limit());
    if (is_abandoned_) co_return;
    co_await create();
    for (;;) {
        const auto next = co_await evaluate();
        if (next != step::look) co_return;
        co_await look();
    }
}

duration acquire_attempt::waiting_ttl() const noexcept {
    return std::min(requested_.ttl, client_->settings().waiting_ttl());
}

// The waiting session creates a node with the same number, and removes the first one in the same
// step.
asio::awaitable<acquire_attempt::step> acquire_attempt::move_to_waiters(
    std::shared_ptr<session> target) {
    const auto old_path = std::exchange(path_, {});
    const auto path = lock_path_ + "/" + as_moved(node_of(old_path));
    used_ = std::move(target);
    const auto change =
        replace_request(path, client_->data_text(0, static_cast<std::uint64_t>(created_by_)),
                        client_->settings().rights(), old_path);
    const auto answer = co_await used_->ask(change, request_limit());
    const auto code = read_multi(answer);
    // An earlier request, whose answer was lost, has made it.
    if (code != reply_code::ok && code != reply_code::node_exists)
        throw reply_error(code, client_->settings(), old_path);
    path_ = path;
    co_return step::look;
}

// The node, the line and the total in one write.
asio::awaitable<void> acquire_attempt::create() {
    for (int i = 0; i < most_creates; ++i) {
        const bool is_created = co_await create_once();
        if (is_created) co_return;
        co_await client_->make_node(used_, lock_path_, request_limit());
    }
    throw error(errc::unavailable, client_->settings().description + ": the node " + lock_path_ +
                                       " was removed again and again; try again.");
}

asio::awaitable<bool> acquire_attempt::create_once() {
    const auto limit = request_limit();
    const auto prefix =
        lock_path_ + "/" + node_prefix(requested_.owner, client_->settings().object, own_share());
    asked_at_ = client_->now();
    const auto created =
        used_->send(create_request(prefix, client_->data_text(0), client_->settings().rights(),
                                   node_kind::ephemeral_sequential));
    is_sent_ = true;
    const auto children = used_->send(get_children_request(lock_path_, false), false);
    std::string lost;
    try {
        const auto answer = co_await used_->wait(created, limit);
        if (answer.code == reply_code::no_node) {
            is_sent_ = false;
            co_return false;
        }
        if (answer.code != reply_code::ok) {
            is_sent_ = false;
            throw reply_error(answer.code, client_->settings(), lock_path_);
        }
        const auto node = read_created(answer);
        path_ = node.path;
        created_by_ = node.stat.created_by;
        const auto all = co_await used_->wait(children, limit);
        accept_children(all);
    } catch (const no_answer& failed) {
        lost = failed.what();
    }
    if (!lost.empty()) co_await find_created(std::move(lost));
    co_await look_at_total();
    co_return true;
}

// The answer is lost, and the session may go on: its node may exist. It is not created again.
asio::awaitable<void> acquire_attempt::find_created(std::string reason) {
    const auto limit = request_limit();
    if (client_->now() >= give_up_at_ || is_abandoned_) throw no_answer(reason);
    co_await look();
    const auto own = std::ranges::find_if(
        line_, [&](const auto& each) { return belongs_to(each.node, requested_.owner); });
    if (own == line_.end()) throw no_answer(reason);
    path_ = lock_path_ + "/" + own->node;
    const auto asked = get_data_request(path_, false);
    const auto data = co_await used_->ask(asked, limit);
    throw_if_failed(data, client_->settings(), path_);
    created_by_ = read_data(data).stat.created_by;
}

void acquire_attempt::accept_children(const reply& answer) {
    line_.clear();
    if (answer.code == reply_code::no_node) return;  // and so without the own node
    throw_if_failed(answer, client_->settings(), lock_path_);
    line_ = contenders_of(read_children(answer), lock_path_);
}

// A new connection's server may be behind, so it catches up first.
asio::awaitable<void> acquire_attempt::look() {
    const auto limit = request_limit();
    for (;;) {
        co_await used_->ready(limit);
        try {
            if (!has_changed_) static_cast<void>(used_->send(sync_request(lock_path_), false));
            has_changed_ = false;
            const auto children = used_->send(get_children_request(lock_path_, false));
            const auto all = co_await used_->wait(children, limit);
            accept_children(all);
            break;
        } catch (const no_answer&) {
            if (used_->is_over() || client_->now() >= limit) throw;
        }
    }
    co_await look_at_total();
}

asio::awaitable<void> acquire_attempt::look_at_total() {
    if (requested_.mode != lock_mode::permits) co_return;
    const auto limit = request_limit();
    const auto path = total_path(lock_path_);
    for (;;) {
        used_->watches().add(watch_kind::data, path, shared_from_this());
        const auto asked = get_data_request(path, true);
        const auto answer = co_await used_->ask(asked, limit);
        if (answer.code == reply_code::ok) {
            // The claim's total counts for its first look: `resize` may change it.
            auto compared = requested_;
            if (total_ != 0) compared.total_permits = 0;
            total_ = core::check_total(compared, number_in(read_data(answer).data));
            co_return;
        }
        used_->watches().remove(watch_kind::data, path);
        if (answer.code != reply_code::no_node)
            throw reply_error(answer.code, client_->settings(), path);
        const auto total = core::check_total(requested_, 0);
        const auto creation = create_request(path, std::to_string(total),
                                             client_->settings().rights(), node_kind::persistent);
        const auto made = co_await used_->ask(creation, limit);
        if (made.code != reply_code::ok && made.code != reply_code::node_exists)
            throw reply_error(made.code, client_->settings(), path);
    }
}

void acquire_attempt::check_sequence() const {
    const bool is_at_end = std::ranges::any_of(line_, [](const auto& each) {
        return each.sequence < 0 || each.sequence >= last_sequence;
    });
    if (is_at_end) throw numbers_error(lock_path_);
}

asio::awaitable<acquire_attempt::step> acquire_attempt::evaluate() {
    const auto own_node = node_of(path_);
    check_sequence();
    const auto own = std::ranges::find(line_, own_node, &contender::node);
    if (own == line_.end()) {
        is_sent_ = false;
        throw error(errc::unavailable, client_->settings().description +
                                           ": the place in the queue at " + lock_path_ +
                                           " was removed; the request is repeated.");
    }
    const auto position = static_cast<std::size_t>(own - line_.begin());
    std::vector<core::lock_share> shares;
    for (const auto& each : line_)
        shares.push_back(each.share);
    const auto blocker = core::blocker_of(shares, position, total_);
    if (!blocker && requested_.mode == lock_mode::shared) co_return co_await share(position);
    // `resize` can take the room away from holders of permits: their nodes then say what they are.
    if (!blocker) co_return grant_with(created_by_, requested_.mode != lock_mode::permits);
    if (!may_wait()) co_return step::leave;
    was_queued_ = true;
    const auto timeout = client_->settings().session_timeout(waiting_ttl());
    if (used_->timeout() > timeout) {
        auto target = co_await client_->sessions().get(timeout, request_limit());
        co_return co_await move_to_waiters(std::move(target));
    }
    if (blocker->or_any_before)
        co_return co_await wait_for(lock_path_, watch_kind::children, give_up_at_);
    const auto path = lock_path_ + "/" + line_[blocker->position].node;
    co_return co_await wait_for(path, watch_kind::data, give_up_at_);
}

// Readers that hold the lock at the same time have one token: that of the first of them, which each
// writes into its node. A reader that finds another one before it takes the token from there, and
// waits if it is not written yet. Readers of other libraries have none.
asio::awaitable<acquire_attempt::step> acquire_attempt::share(std::size_t own_position) {
    std::string undecided;
    for (std::size_t i = own_position; i-- > 0;) {
        const auto path = lock_path_ + "/" + line_[i].node;
        const auto asked = get_data_request(path, false);
        const auto answer = co_await used_->ask(asked, request_limit());
        if (answer.code == reply_code::no_node) continue;
        throw_if_failed(answer, client_->settings(), path);
        const auto data = parse_data(read_data(answer).data);
        if (data && data->phase != 0)
            co_return grant_with(static_cast<std::int64_t>(data->phase), false);
        if (data) undecided = path;
    }
    if (undecided.empty()) co_return grant_with(created_by_, false);
    // The other reader writes its token in a moment, or is gone.
    const auto limit = std::max(give_up_at_, asked_at_ + client_->context().try_limit);
    co_return co_await wait_for(undecided, watch_kind::data, limit);
}

asio::awaitable<acquire_attempt::step> acquire_attempt::wait_for(std::string path, watch_kind kind,
                                                                 time_point limit) {
    const bool is_gone = co_await set_watch(path, kind);
    if (is_gone) co_return step::look;
    while (!has_changed_ && !is_abandoned_ && client_->now() < limit && !used_->is_over())
        co_await changed_.wait_until(limit);
    if (used_->is_over())
        throw error(errc::unreachable,
                    client_->settings().description + ": the session has ended during the wait.");
    co_return has_changed_ && !is_abandoned_ ? step::look : step::leave;
}

asio::awaitable<bool> acquire_attempt::set_watch(std::string path, watch_kind kind) {
    const bool is_data = kind == watch_kind::data;
    used_->watches().add(kind, path, shared_from_this());
    const auto asked = is_data ? get_data_request(path, true) : get_children_request(path, true);
    const auto answer = co_await used_->ask(asked, request_limit());
    if (answer.code == reply_code::no_node) {
        used_->watches().remove(kind, path);
        has_changed_ = true;
        co_return true;
    }
    throw_if_failed(answer, client_->settings(), path);
    if (is_data) {
        // A reader waits for the token in this node only.
        const auto data = parse_data(read_data(answer).data);
        if (requested_.mode == lock_mode::shared && data && data->phase != 0) has_changed_ = true;
    } else {
        const auto before = std::move(line_);
        accept_children(answer);
        if (!std::ranges::equal(before, line_, {}, &contender::node, &contender::node))
            has_changed_ = true;
    }
    co_return has_changed_;
}

acquire_attempt::step acquire_attempt::grant_with(std::int64_t token, bool is_phase_stored) {
    if (is_abandoned_) return step::leave;
    const auto asked_at = was_queued_ ? client_->now() : asked_at_;
    granted_ = client_->add_hold(requested_, used_, path_, asked_at,
                                 fencing_token(static_cast<std::uint64_t>(token)), is_phase_stored);
    if (was_queued_) ++client_->context().counts->hand_offs;
    return step::granted;
}

void acquire_attempt::undo() noexcept {
    if (!is_sent_ || !used_) return;
    try {
        client_->undo_in_background(used_, path_, lock_path_, requested_.owner);
    } catch (...) {  // no memory: the node ends with the session
    }
}

asio::awaitable<std::optional<grant>> acquire(std::shared_ptr<lock_client> client,
                                              const claim& requested, time_point give_up_at) {
    const auto attempt = std::make_shared<acquire_attempt>(client, requested, give_up_at);
    struct abandon_at_exit {
        acquire_attempt& left;
        bool is_over = false;
        ~abandon_at_exit() {
            if (!is_over) left.abandon();
        }
    } guard{*attempt};
    asio::co_spawn(client->context().strand, acquire_attempt::run(attempt), asio::detached);
    auto granted = co_await attempt->result();
    guard.is_over = true;
    co_return granted;
}

}  // namespace pawl::zookeeper
