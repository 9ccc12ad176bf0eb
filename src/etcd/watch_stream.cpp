// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "watch_stream.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <exception>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::etcd {
namespace {

constexpr core::pause_lengths stream_pauses{.first = 20ms, .longest = 1s};
constexpr duration longest_connect = 10s;

}  // namespace

// One stream on one connection.
class watch_stream::running_stream final : public http2_session::call_handler {
public:
    running_stream(watch_stream& owner, std::shared_ptr<connection> used)
        : owner_(owner),
          connection_(std::move(used)),
          ended_(*owner.context_.time, owner.context_.strand) {
        owner_.running_ = this;
    }
    ~running_stream() {
        owner_.running_ = nullptr;
        if (!is_ended_ && number_ != 0) connection_->session().cancel(number_);
        connection_->flush();
    }
    running_stream(const running_stream&) = delete;
    running_stream& operator=(const running_stream&) = delete;

    [[nodiscard]] bool begin(http2_session::metadata fields) {
        number_ = connection_->session().begin(methods::watch, fields, *this);
        return number_ != 0;
    }
    void send(const std::string& message) {
        connection_->session().send(number_, message, false);
        connection_->flush();
    }
    asio::awaitable<call_status> wait_for_end() {
        while (!is_ended_)
            co_await ended_.wait_until(time_point::max());
        co_return status_;
    }
    void stop(call_status reason) {
        if (std::exchange(is_ended_, true)) return;
        connection_->session().cancel(number_);
        connection_->flush();
        status_ = std::move(reason);
        ended_.notify();
    }

private:
    void on_message(std::string_view message) override { owner_.on_message(message); }
    void on_end(const call_status& status) override {
        is_ended_ = true;
        status_ = status;
        ended_.notify();
    }

    watch_stream& owner_;
    const std::shared_ptr<connection> connection_;
    std::int32_t number_ = 0;
    bool is_ended_ = false;
    call_status status_;
    core::wakeup ended_;
};

watch_stream::watch_stream(std::shared_ptr<server_link> link, const backend_context& context)
    : link_(std::move(link)),
      context_(context),
      pauses_(*context_.time, stream_pauses),
      wakeup_(*context_.time, context_.strand) {}

std::int64_t watch_stream::begin(watch_listener& receiver, std::string key, std::string end,
                                 bool deletes_only) {
    const auto number = ++last_number_;
    const auto& made =
        watches_.emplace(number, watch{&receiver, std::move(key), std::move(end), deletes_only})
            .first->second;
    if (running_ != nullptr)
        running_->send(watch_request(number, made.key, made.end, made.deletes_only));
    if (!is_running_ && !is_closed_) {
        is_running_ = true;
        asio::co_spawn(context_.strand, run(shared_from_this()), asio::detached);
    }
    return number;
}

void watch_stream::end(std::int64_t number) noexcept {
    watches_.erase(number);
    try {
        if (running_ != nullptr) running_->send(watch_cancel_request(number));
    } catch (const std::exception&) {}  // its messages are ignored
}

void watch_stream::close() noexcept {
    is_closed_ = true;
    watches_.clear();
    if (running_ != nullptr) running_->stop({});
    wakeup_.notify();
}

asio::awaitable<void> watch_stream::run(std::shared_ptr<watch_stream> self) {
    while (!self->is_closed_ && !self->made_in_.is_forked()) {
        try {
            co_await self->serve();
        } catch (const std::exception&) {}  // whoever waits also looks from time to time
        if (self->is_closed_) break;
        const auto next_at = self->context_.time->now() + self->pauses_.next_pause();
        co_await self->wakeup_.wait_until(next_at);
    }
    self->is_running_ = false;
}

asio::awaitable<void> watch_stream::serve() {
    const auto limit = context_.time->now() + longest_connect;
    const auto used = co_await link_->get(limit);
    const auto metadata = co_await link_->fields(used, limit);
    running_stream stream(*this, used);
    if (is_closed_ || !stream.begin(metadata)) co_return;
    for (const auto& [number, each] : watches_)
        stream.send(watch_request(number, each.key, each.end, each.deletes_only));
    const auto status = co_await stream.wait_for_end();
    if (!is_closed_) link_->on_failure(used, status);
}

// A watch that the server has ended begins anew on another stream: the login may be too old, and a
// watch from now on is never compacted.
void watch_stream::on_message(std::string_view text) {
    watch_message message;
    try {
        message = read_watch(text);
    } catch (const error&) {
        return running_->stop({call_status::not_grpc, "a message that is none of etcd"});
    }
    const auto at = watches_.find(message.id);
    if (at == watches_.end()) return;
    if (message.is_canceled)
        return running_->stop({call_status::canceled, std::move(message.cancel_reason)});
    ++context_.counts->pushes;
    if (message.is_created) {
        pauses_.reset();
        at->second.receiver->on_watch_begin();
    }
    for (const auto& each : message.events) {
        const auto present = watches_.find(message.id);
        if (present == watches_.end()) return;
        present->second.receiver->on_change(each);
    }
}

}  // namespace pawl::etcd
