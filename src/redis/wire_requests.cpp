// What is sent: in the order of the calls, and no wait is without an end.
#include "wire.hpp"

#include "server_errors.hpp"

#include <pawl/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {
namespace {

// How often unanswered requests are looked through.
constexpr auto sweep_every = 100ms;

}  // namespace

asio::awaitable<void> wire::wait_ready(time_point give_up_at) {
    if (is_over()) throw why_over();
    start();
    gate mine(context_);
    // At the end, so that requests are sent in the order of their calls.
    const auto here = gates_.insert(gates_.end(), &mine);
    struct leave {
        std::list<gate*>& gates;
        std::list<gate*>::iterator here;
        ~leave() { gates.erase(here); }
    } const leaving{gates_, here};
    const auto until = std::min(give_up_at, mine.since + where_.connect_timeout);
    while (!ready_) {
        const bool rung = co_await mine.opened.wait_until(until);
        if (mine.refused) std::rethrow_exception(mine.refused);
        if (rung || ready_) continue;
        if (last_refusal_) std::rethrow_exception(last_refusal_);
        if (last_trouble_.empty() && connection_ && connection_->shakes_hands())
            last_trouble_ = "no TLS handshake so far (a port without TLS wants redis://)";
        throw error(errc::unreachable,
                    about_ + " could not be reached within " +
                        std::to_string(std::max<duration>(until - mine.since, 0s) / 1ms) + " ms" +
                        (last_trouble_.empty() ? "" : ": " + last_trouble_) +
                        "; check that the server runs there and the URL is right.");
    }
}

asio::awaitable<reply> wire::exec(std::span<const std::string_view> words, time_point give_up_at,
                                  bool tracked) {
    std::string text;
    if (tracked) append_command(text, std::array<std::string_view, 3>{"CLIENT", "CACHING", "YES"});
    append_command(text, words);
    if (!is_ready()) co_await wait_ready(give_up_at);
    pending one;
    watch(one, give_up_at);
    connection_->send(one, std::move(text), tracked ? 2 : 1);
    co_await one.async_answer();
    one.throw_failure(about_);
    co_return std::move(one.answer);
}

void wire::watch(pending& one, time_point give_up_at) {
    one.answer_by = time().now() + where_.reply_timeout;
    one.give_up_at = give_up_at;
    if (!sweeping_) {
        sweep_.prepare();
        sweeping_ = true;
        try {
            asio::co_spawn(context_.strand, sweep(shared_from_this()), asio::detached);
        } catch (...) {
            sweeping_ = false;
            throw;
        }
    } else if (sweep_parked_) {
        sweep_.ring();
    }
    ++context_.count->requests;
}

asio::awaitable<void> wire::subscribe(std::string channel, time_point give_up_at) {
    heard_.join(channel);
    // Who is cancelled or fails here may be subscribed already, or soon.
    struct joined {
        wire& home;
        const std::string& channel;
        bool kept = false;
        ~joined() {
            if (!kept) home.unsubscribe(channel);
        }
    } mine{*this, channel};
    while (!heard_.heard(channel)) {
        if (!is_ready()) {
            // The greeting of the next connection subscribes to it.
            co_await wait_ready(give_up_at);
            continue;
        }
        std::string text;
        const std::string_view how = session_.sharded ? "SSUBSCRIBE" : "SUBSCRIBE";
        append_command(text, std::array<std::string_view, 2>{how, channel});
        pending one;
        watch(one, give_up_at);
        const auto on = connection_;
        on->send_subscription(one, std::move(text));
        co_await one.async_answer();
        one.throw_failure(about_);
        for (const auto& refusal : one.earlier)
            refuse_errors(refusal, about_);
        if (ready_ && connection_ == on) heard_.confirm(channel);
    }
    mine.kept = true;
}

void wire::unsubscribe(const std::string& channel) noexcept {
    if (heard_.leave(channel)) leave(channel);
}

// Without memory the server is not told: what it goes on to send reaches nobody here.
void wire::leave(const std::string& channel) noexcept {
    if (!ready_ || is_over()) return;
    try {
        std::string text;
        const std::string_view how = session_.sharded ? "SUNSUBSCRIBE" : "UNSUBSCRIBE";
        append_command(text, std::array<std::string_view, 2>{how, channel});
        connection_->tell_subscription(std::move(text));
        ++context_.count->requests;
    } catch (const std::bad_alloc&) {}
}

// Looks for requests that have no answer in time. It rests when there are none, so that an idle
// client wakes nobody. A connection whose silence cannot be noticed, for want of memory, is ended.
asio::awaitable<void> wire::sweep([[maybe_unused]] std::shared_ptr<wire> self) {
    sweeping until_the_end{*this};
    try {
        co_await watch_silence();
        until_the_end.sees_to_its_end = true;
    } catch (...) {}  // its end closes the connection
}

asio::awaitable<void> wire::watch_silence() {
    auto idle = 0;
    while (!is_over()) {
        if (nobody_waits() && ++idle > 10) {
            sweep_parked_ = true;
            co_await sweep_.wait_until(time_point::max());
            sweep_parked_ = false;
            idle = 0;
            continue;
        }
        co_await sweep_.wait_until(time().now() + sweep_every);
        const auto now = time().now();
        if (!connection_) continue;
        for (auto* one : connection_->waiting()) {
            if (one->answer_by <= now && !hung_) {
                hung_ = true;
                connection_->close();
            } else if (one->give_up_at <= now) {
                one->fail("no answer in time");
            }
        }
    }
}

}  // namespace pawl::redis
