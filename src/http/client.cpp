// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "client.hpp"

#include "../core/util/exhausted.hpp"
#include "../net/host_addresses.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <utility>

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace pawl::http {
namespace {

// How long another server is used before the first one is tried again.
constexpr duration preference_pause = 1min;

std::string limit_text(duration limit) {
    return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(limit).count()) + " ms";
}

bool changes_nothing(const request& sent) { return sent.method == "GET"; }

}  // namespace

// The right to use one connection.
struct client::slot {
    slot(client& of, bool is_long) noexcept
        : owner(of), count(is_long ? of.long_in_use_ : of.in_use_) {
        ++count;
    }
    ~slot() {
        --count;
        for (auto* each : owner.waiters_)
            each->notify();
    }
    slot(const slot&) = delete;
    slot& operator=(const slot&) = delete;

    client& owner;
    std::size_t& count;
};

client::client(client_settings settings, const backend_context& context)
    : settings_(std::move(settings)), context_(context) {
    for (const auto& each : settings_.servers)
        names_.push_back(net::text_of(each));
}

std::string client::subject_of(std::size_t server) const {
    return settings_.product + " at " + names_[server];
}

std::string client::subject() const { return subject_of(present_); }

void client::throw_if_closed() const {
    if (is_closed_) throw error(errc::cancelled, "The client is closed.");
}

asio::awaitable<void> client::wait_for_slot(time_point give_up_at) {
    core::wakeup wakeup(*context_.time, context_.strand);
    struct entry {
        std::list<core::wakeup*>& waiters;
        const std::list<core::wakeup*>::iterator position;
        ~entry() { waiters.erase(position); }
    } const waiting{waiters_, waiters_.insert(waiters_.end(), &wakeup)};
    while (in_use_ >= settings_.most_connections) {
        throw_if_closed();
        if (context_.time->now() >= give_up_at)
            throw error(errc::unreachable, subject() +
                                               ": earlier requests of this client have no answer, "
                                               "and the limit of this one is over.");
        co_await wakeup.wait_until(give_up_at);
    }
}

std::shared_ptr<connection> client::take_idle() noexcept {
    while (!idle_.empty()) {
        auto last = std::move(idle_.back());
        idle_.pop_back();
        if (last->is_reusable()) return last;
        last->close();
    }
    return nullptr;
}

void client::keep(std::shared_ptr<connection> used, std::size_t server) {
    if (is_closed_ || server != present_ || idle_.size() >= settings_.most_connections ||
        !used->is_reusable())
        used->close();
    else
        idle_.push_back(std::move(used));
}

void client::move_on(std::size_t failed_server) {
    if (failed_server != present_) return;
    for (const auto& each : std::exchange(idle_, {}))
        each->close();
    present_ = (present_ + 1) % names_.size();
    prefers_first_at_ = context_.time->now() + preference_pause;
}

void client::leave_server(const std::string& server_name) {
    const auto position = std::ranges::find(names_, server_name);
    if (position != names_.end()) move_on(static_cast<std::size_t>(position - names_.begin()));
}

error client::connect_error(const connection& failed, error_code reason, std::size_t server,
                            duration limit) const {
    const auto subject = subject_of(server);
    if (auto explained = failed.explain_end(reason, subject)) return *explained;
    if (reason == asio::error::timed_out)
        return {errc::unreachable, subject + ": no connection within " + limit_text(limit) + "."};
    if (reason == asio::error::no_descriptors)
        return core::exhausted("No connection to " + subject + " could be made", reason.message());
    return {errc::unreachable, subject + " cannot be reached: " + reason.message() +
                                   "; check that it runs there and that the URL is right."};
}

error client::exchange_error(const connection& failed, error_code reason, std::size_t server,
                             duration limit) const {
    const auto subject = subject_of(server);
    if (auto explained = failed.explain_end(reason, subject)) return *explained;
    if (speaks_another_protocol(reason))
        return {errc::protocol, subject + " sent what is no response of HTTP (" + reason.message() +
                                    "); check host and port."};
    if (reason == asio::error::timed_out)
        return no_response(subject + ": no answer within " + limit_text(limit) + ".");
    const auto* advice = had_response_ ? "." : "; check host and port, and whether it speaks HTTP.";
    return no_response(subject + ": the connection ended before the answer (" + reason.message() +
                       ")" + advice);
}

asio::awaitable<std::shared_ptr<connection>> client::connect_to(std::size_t server,
                                                                time_point give_up_at) {
    const auto self = shared_from_this();
    const auto& target = settings_.servers[server];
    const auto began_at = context_.time->now();
    const auto hosts = co_await net::host_addresses(target.host, settings_.product, give_up_at,
                                                    context_.strand, *context_.time);
    std::optional<error> failure;
    for (const auto& host : hosts) {
        const net::address place =
            asio::ip::tcp::endpoint(asio::ip::make_address(host), target.port);
        auto made = std::make_shared<connection>(settings_.connections, target, context_.strand,
                                                 *context_.time);
        busy_.remove_if([](const auto& each) { return each.expired(); });
        busy_.push_back(made);
        const auto ec = co_await made->open(place, give_up_at);
        throw_if_closed();
        if (!ec) {
            ++connections_made_;
            ++context_.counts->connections;
            co_return made;
        }
        const auto state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none)
            throw boost::system::system_error(asio::error::operation_aborted);
        failure = connect_error(*made, ec, server, give_up_at - began_at);
        if (context_.time->now() >= give_up_at) break;
    }
    throw error(*failure);
}

// Each server gets its part of the time.
asio::awaitable<std::shared_ptr<connection>> client::connect(time_point give_up_at) {
    std::optional<error> failure;
    for (std::size_t left = names_.size(); left > 0; --left) {
        const auto server = present_;
        const auto now = context_.time->now();
        const auto share = std::max<duration>((give_up_at - now) / static_cast<long>(left), 0ms);
        const auto limit = now + std::min(share, settings_.connect_timeout);
        try {
            auto made = co_await connect_to(server, limit);
            co_return made;
        } catch (const error& failed) {
            if (is_closed_) throw;
            // Of several reasons, one that lasts is worth more.
            if (!failure || failure->is_transient()) failure = failed;
        }
        move_on(server);
    }
    failure_ = failure->what();
    throw error(*failure);
}

asio::awaitable<response> client::send(request sent, time_point give_up_at) {
    const auto self = shared_from_this();
    throw_if_closed();
    if (!sent.is_long) co_await wait_for_slot(give_up_at);
    const slot used(*this, sent.is_long);
    if (present_ != 0 && context_.time->now() >= prefers_first_at_) {
        idle_.clear();
        present_ = 0;
    }
    for (bool is_repeated = false;; is_repeated = true) {
        auto with = take_idle();
        const bool was_idle = with != nullptr;
        if (!with) with = co_await connect(give_up_at);
        const auto server = present_;
        busy_.remove_if([](const auto& each) { return each.expired(); });
        busy_.push_back(with);
        const auto began_at = context_.time->now();
        ++context_.counts->requests;
        response received;
        const auto ec = co_await with->exchange(sent, received, give_up_at);
        throw_if_closed();
        if (!ec) {
            failure_.clear();
            had_response_ = true;
            keep(std::move(with), server);
            co_return received;
        }
        const auto state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none)
            throw boost::system::system_error(asio::error::operation_aborted);
        const bool is_stale = was_idle && !with->has_received() && ec != asio::error::timed_out;
        if (is_stale && !is_repeated && changes_nothing(sent)) continue;
        const auto failed = exchange_error(*with, ec, server, give_up_at - began_at);
        failure_ = failed.what();
        move_on(server);
        if (failed.reason() == errc::unreachable) throw no_response(failed.what());
        throw error(failed);
    }
}

void client::close() {
    is_closed_ = true;
    for (const auto& each : std::exchange(idle_, {}))
        each->close();
    for (const auto& each : busy_)
        if (const auto alive = each.lock()) alive->close();
    for (auto* each : waiters_)
        each->notify();
}

}  // namespace pawl::http
