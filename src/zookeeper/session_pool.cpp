// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "session_pool.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::zookeeper {
namespace {

constexpr core::pause_lengths pool_pauses{.first = 50ms, .longest = 1s};

}  // namespace

session_pool::session_pool(std::shared_ptr<const client_settings> settings,
                           const backend_context& context, session::handlers users)
    : settings_(std::move(settings)),
      context_(context),
      users_(std::move(users)),
      running_(*context_.time, context_.strand),
      pauses_(*context_.time, pool_pauses) {}

std::shared_ptr<session> session_pool::find(duration timeout) {
    const auto exact = sessions_.find(timeout);
    if (exact != sessions_.end()) return exact->second;
    if (sessions_.size() < most_sessions) return nullptr;
    const auto longer = sessions_.upper_bound(timeout);
    return longer == sessions_.end() ? nullptr : longer->second;
}

std::shared_ptr<session> session_pool::make(duration timeout) {
    if (failure_ && context_.time->now() < retry_at_)
        throw error(failure_->reason(), failure_->what(), failure_->is_transient(), retry_at_);
    auto made = std::make_shared<session>(settings_, context_, timeout, users_);
    asio::co_spawn(context_.strand, keep(shared_from_this(), made), asio::detached);
    sessions_[timeout] = made;
    return made;
}

asio::awaitable<std::shared_ptr<session>> session_pool::get(duration timeout,
                                                            time_point give_up_at) {
    const auto self = shared_from_this();
    if (is_closed_) throw error(errc::cancelled, "The client is closed.");
    auto used = find(timeout);
    if (!used) used = make(timeout);
    co_await used->ready(give_up_at);
    failure_.reset();
    pauses_.reset();
    co_return used;
}

asio::awaitable<std::shared_ptr<session>> session_pool::get_any(time_point give_up_at) {
    const auto usual = settings_->session_timeout(std::max<duration>(settings_->tick, 4s));
    const auto timeout = sessions_.empty() ? usual : sessions_.rbegin()->first;
    for (const auto& [length, each] : sessions_)
        if (each->is_connected()) co_return each;
    co_return co_await get(timeout, give_up_at);
}

asio::awaitable<void> session_pool::keep(std::shared_ptr<session_pool> self,
                                         std::shared_ptr<session> kept) {
    const core::in_flight::guard counted(self->running_);
    co_await session::run(kept);
    const auto position = self->sessions_.find(kept->timeout());
    if (position != self->sessions_.end() && position->second == kept)
        self->sessions_.erase(position);
    if (!kept->failure()) co_return;
    self->failure_ = kept->failure();
    self->retry_at_ = self->context_.time->now() + self->pauses_.next_pause();
}

void session_pool::drop(const session& unused) {
    const auto position = sessions_.find(unused.timeout());
    if (position == sessions_.end() || position->second.get() != &unused) return;
    const auto dropped = position->second;
    sessions_.erase(position);
    dropped->close();
}

void session_pool::close() noexcept {
    is_closed_ = true;
    for (const auto& [timeout, each] : std::exchange(sessions_, {}))
        each->close();
}

std::string session_pool::failure_text() const {
    for (const auto& [timeout, each] : sessions_) {
        if (each->is_connected()) return {};
        if (each->failure()) return each->failure()->what();
    }
    return failure_ ? failure_->what() : std::string();
}

}  // namespace pawl::zookeeper
