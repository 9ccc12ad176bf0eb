// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <charconv>
#include <exception>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::etcd {
namespace {

constexpr core::pause_lengths undo_pauses{.first = 200ms, .longest = 1s};
constexpr std::size_t most_known_totals = 1000;

// A full store refuses a transaction that puts keys, and does not look at those inside another one.
// A grant and an undo must not fail for that: they take no more space than the request before.
transaction uncounted(transaction request) { return {.success = {request.as_operation()}}; }

}  // namespace

std::string stored_hold::encode() const { return std::to_string(created) + "." + session; }

stored_hold stored_hold::decode(std::string_view text) {
    stored_hold result;
    const auto dot = text.find('.');
    if (dot == std::string_view::npos) return result;
    std::from_chars(text.data(), text.data() + dot, result.created);
    result.session = text.substr(dot + 1);
    return result;
}

// The guard of one lease. A forced release writes the owners that have lost their holds there.
class lock_client::guard_watch final : private watch_listener {
public:
    guard_watch(lock_client& client, std::string session)
        : client_(client), session_(std::move(session)), watch_(client.watches_) {
        watch_.begin(*this, client_.keys_.guard(session_), {}, false);
    }

private:
    // Changes before the first beginning are found by one look; those of a lost connection may be
    // several.
    void on_watch_begin() override {
        if (std::exchange(has_begun_, true)) client_.report_possible_loss();
        asio::co_spawn(client_.context_.strand, look(client_.shared_from_this(), session_),
                       asio::detached);
    }
    void on_change(const watch_event& change) override {
        if (change.is_delete)
            asio::co_spawn(client_.context_.strand, prove(client_.shared_from_this(), session_),
                           asio::detached);
        else
            take(client_, session_, change.changed);
    }

    static void take(lock_client& client, std::string_view session, const key_value& guard) {
        if (guard.mod_revision <= client.leases_->guard_of(session)) return;
        client.leases_->set_guard(session, guard.mod_revision);
        std::string_view owners = guard.value;
        while (!owners.empty()) {
            const auto owner = owners.substr(0, owners.find(' '));
            owners.remove_prefix(std::min(owners.size(), owner.size() + 1));
            client.report_loss(owner);
        }
    }
    static asio::awaitable<void> look(std::shared_ptr<lock_client> client, std::string session) {
        const core::in_flight::guard operation(client->operations_);
        try {
            const transaction request{.success = {operation::get(client->keys_.guard(session))}};
            const auto answer = co_await client->run(request.encode(), client->try_deadline());
            for (const auto& each : answer.at(0).values)
                take(*client, session, each);
        } catch (const std::exception&) {
            client->report_possible_loss();
        }
    }
    // The guard ends with its lease.
    static asio::awaitable<void> prove(std::shared_ptr<lock_client> client, std::string session) {
        const core::in_flight::guard operation(client->operations_);
        if (const auto lease = client->pool_->find(session))
            co_await client->pool_->prove(lease, {}, client->try_deadline());
    }

    lock_client& client_;
    const std::string session_;
    bool has_begun_ = false;
    scoped_watch watch_;
};

std::shared_ptr<lock_client> lock_client::make(const options& settings,
                                               const backend_context& context) {
    auto client = std::make_shared<lock_client>(settings, context);
    client->leases_->on_open = [weak = std::weak_ptr(client)](const std::string& session) {
        if (const auto self = weak.lock()) self->on_session_open(session);
    };
    client->leases_->on_end = [weak = std::weak_ptr(client)](const std::string& session) {
        if (const auto self = weak.lock()) self->on_session_end(session);
    };
    return client;
}

lock_client::lock_client(const options& settings, const backend_context& context)
    : context_(context),
      keys_(settings.name_space, settings.layout),
      operations_(*context.time, context.strand),
      link_(std::make_shared<server_link>(settings, context)),
      leases_(std::make_shared<lease_sessions>(link_, keys_, context)),
      pool_(std::make_shared<core::session_pool>(leases_, context)),
      watches_(std::make_shared<watch_stream>(link_, context)) {}

lock_client::~lock_client() { guard_watches_.clear(); }

void lock_client::on_session_open(const std::string& session) {
    if (!is_closing_) guard_watches_[session] = std::make_unique<guard_watch>(*this, session);
}

void lock_client::on_session_end(const std::string& session) {
    guard_watches_.erase(session);
    std::erase_if(unconfirmed_, [&](const auto& each) {
        const auto& key = each.second.key;
        return key.lease->id() == session || (key.waiting && key.waiting->id() == session);
    });
    for (auto* each : listeners_)
        each->on_session_end();
    report_possible_loss();
}

// The listener may not outlive the close.
void lock_client::report_possible_loss() {
    if (!is_closing_ && !is_forked()) context_.listener->on_possible_loss();
}

void lock_client::report_loss(std::string_view owner) {
    if (!is_closing_ && !is_forked()) context_.listener->on_loss(owner, loss_reason::forced);
}

// A later answer has a revision that is not smaller, unless a backup was restored.
asio::awaitable<transaction_answer> lock_client::run(std::string request, time_point give_up_at) {
    throw_if_forked();
    const auto known = revision_;
    const auto answer = co_await link_->call(methods::txn, std::move(request), give_up_at);
    auto result = read_transaction(answer);
    revision_ = std::max(revision_, result.revision);
    if (result.revision >= known) co_return result;
    report_possible_loss();
    throw error(errc::refused, link_->subject() + " has older data than before (revision " +
                                   std::to_string(result.revision) + " after " +
                                   std::to_string(known) +
                                   "), so tokens would go back; restore backups with "
                                   "--bump-revision, and start this program again.");
}

asio::awaitable<lock_line> lock_client::look(std::string beginning, time_point give_up_at) {
    const transaction request{.success = {operation::get_all(beginning)}};
    const auto answer = co_await run(request.encode(), give_up_at);
    co_return lock_line(answer.at(0), beginning, answer.revision);
}

void lock_client::add_guard(transaction& request, const core::session_ptr& lease) const {
    const auto key = keys_.guard(lease->id());
    request.conditions.push_back(condition::modified_at(key, leases_->guard_of(lease->id())));
    request.failure.push_back(operation::get(key));
}

std::vector<std::int64_t> lock_client::guards_of(std::span<const core::session_ptr> leases) const {
    std::vector<std::int64_t> revisions;
    for (const auto& each : leases)
        revisions.push_back(leases_->guard_of(each->id()));
    return revisions;
}

bool lock_client::take_guards(std::span<const core::session_ptr> leases,
                              std::span<const std::int64_t> compared,
                              const operation_answer* answers) {
    bool has_changed = false;
    for (std::size_t i = 0; i < leases.size(); ++i) {
        const auto& guards = answers[i].values;
        if (guards.empty()) {
            pool_->on_end(leases[i]);
            throw error(errc::unavailable,
                        link_->subject() +
                            ": the lease has ended; the request is repeated with "
                            "another one.");
        }
        has_changed = has_changed || guards.front().mod_revision != compared[i];
        leases_->set_guard(leases[i]->id(), guards.front().mod_revision);
    }
    return has_changed;
}

void lock_client::on_missing_lease(const lock_key& key) {
    for (const auto& each : {key.lease, key.waiting})
        if (each && !each->is_over()) pool_->on_end(each);
}

void lock_client::undo_in_background(lock_key key) noexcept {
    try {
        asio::co_spawn(context_.strand, undo(shared_from_this(), std::move(key)), asio::detached);
    } catch (const std::exception&) {}  // the key ends with its lease
}

asio::awaitable<void> lock_client::undo(std::shared_ptr<lock_client> self, lock_key key) {
    const core::in_flight::guard operation(self->operations_);
    std::vector<core::session_ptr> leases{key.lease};
    if (key.waiting && key.waiting != key.lease) leases.push_back(key.waiting);
    core::back_off pauses(*self->context_.time, undo_pauses);
    core::wakeup timer(*self->context_.time, self->context_.strand);
    while (!leases.empty() && !self->is_forked()) {
        bool is_done = leases.back()->is_over();
        if (!is_done) is_done = co_await self->undo_at(key, leases.back());
        if (is_done) {
            leases.pop_back();
            continue;
        }
        if (self->is_closing_) co_return;
        co_await timer.wait_until(self->now() + pauses.next_pause());
    }
}

asio::awaitable<bool> lock_client::undo_at(lock_key key, core::session_ptr lease) {
    const auto guard = keys_.guard(lease->id());
    transaction request{
        .success = {operation::remove(key.key), operation::put(guard, {}, lease_of(lease->id()))}};
    request = uncounted(std::move(request));
    try {
        const auto answer = co_await run(request.encode(), try_deadline());
        leases_->set_guard(lease->id(), answer.revision);
        co_return true;
    } catch (const call_error& failed) {
        if (failed.code() != call_status::not_found) co_return false;
    } catch (const std::exception&) {
        co_return false;
    }
    pool_->on_end(lease);
    co_return true;
}

asio::awaitable<std::optional<std::int64_t>> lock_client::confirm(unconfirmed_grant granted,
                                                                  time_point give_up_at) {
    const auto& key = granted.key.key;
    const auto lease = lease_of(granted.key.lease->id());
    transaction request{.success = {operation::put(key, granted.value.encode(), lease)}};
    request = uncounted(std::move(request));
    request.conditions.push_back(condition::created_at(key, granted.created));
    try {
        const auto answer = co_await run(request.encode(), give_up_at);
        if (!answer.succeeded) co_return std::nullopt;
        co_return answer.revision;
    } catch (const call_error& failed) {
        if (failed.code() != call_status::not_found) throw;
    }
    pool_->on_end(granted.key.lease);
    co_return std::nullopt;
}

void lock_client::keep_unconfirmed(const std::string& owner, unconfirmed_grant granted) {
    unconfirmed_.insert_or_assign(owner, std::move(granted));
}

std::optional<unconfirmed_grant> lock_client::find_unconfirmed(const std::string& owner) const {
    const auto at = unconfirmed_.find(owner);
    if (at == unconfirmed_.end()) return std::nullopt;
    return at->second;
}

std::uint32_t lock_client::known_total(const std::string& name) const {
    const auto at = totals_.find(name);
    return at == totals_.end() ? 0 : at->second;
}

void lock_client::set_known_total(const std::string& name, std::uint32_t total) {
    if (totals_.size() >= most_known_totals) totals_.clear();
    totals_[name] = total;
}

asio::awaitable<void> lock_client::close(std::shared_ptr<lock_client> self, time_point give_up_at) {
    self->is_closing_ = true;
    while (!self->is_forked() && self->operations_.must_wait(give_up_at))
        co_await self->operations_.wait_until(give_up_at);
    self->guard_watches_.clear();
    if (self->is_forked())
        self->pool_->abandon();
    else
        co_await self->pool_->close(give_up_at);
    self->watches_->close();
    self->link_->close("the client is closed");
}

}  // namespace pawl::etcd
