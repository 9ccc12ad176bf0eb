// How a connection comes, is greeted, and goes.
#include "wire.hpp"

#include "greeting.hpp"
#include "options.hpp"
#include "server_errors.hpp"

#include "../core/chance.hpp"
#include "../core/exhausted.hpp"

#include <pawl/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <functional>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {
namespace {

// Who asks while nothing listens there is told after this long.
constexpr auto refused_for = 1s;
// The pauses between attempts at a connection, of which a part is random. A connection that lived
// for as long as the longest of them begins anew with the shortest.
constexpr auto shortest_pause = 20ms;
constexpr auto longest_pause = 1s;

std::string sentence_of(const std::exception_ptr& why) {
    try {
        std::rethrow_exception(why);
    } catch (const std::exception& e) {
        return e.what();
    } catch (...) {
        return "an unknown exception";
    }
}

}  // namespace

wire::wire(options where, const backend_context& context, link::listener& to, std::string channel)
    : where_(std::move(where)),
      about_(describe(where_)),
      context_(context),
      listener_(&to),
      channel_(std::move(channel)),
      reconnect_(*context.time, context.strand),
      sweep_(*context.time, context.strand),
      looked_up_(*context.time, context.strand),
      tick_(*context.time, context.strand) {
    tick_.prepare();
}

void wire::start() {
    if (running_) return;
    reconnect_.prepare();
    running_ = true;
    try {
        asio::co_spawn(context_.strand, run(shared_from_this()), asio::detached);
    } catch (...) {
        running_ = false;
        throw;
    }
}

std::exception_ptr wire::present_failure() const noexcept {
    try {
        try {
            throw;
        } catch (const error&) {
            return std::current_exception();
        } catch (const std::exception& e) {
            const bool memory = dynamic_cast<const std::bad_alloc*>(&e) != nullptr;
            return std::make_exception_ptr(core::exhausted(about_ + ": no connection can be made",
                                                           memory ? "out of memory" : e.what()));
        }
    } catch (...) {
        return std::current_exception();  // also that of an error for which there is no memory
    }
}

asio::awaitable<boost::system::error_code> wire::live(std::shared_ptr<wire> self) {
    connection_.reset();
    hung_ = false;
    refusal_ = nullptr;
    end_reason_.clear();
    attempt_ends_at_ = time().now() + std::min(where_.connect_timeout, where_.reply_timeout);
    addresses to;
    auto ended = co_await find_addresses(self, attempt_ends_at_, to);
    if (!ended) ended = co_await reach(self, to, attempt_ends_at_);
    const auto made = connection_;
    if (!ended && made && !is_over()) {
        asio::co_spawn(context_.strand, greet(self, made), asio::detached);
        std::function<void(const reply&)> pushed = [this](const reply& m) { on_push(m); };
        ended = co_await made->read(std::move(pushed));
    }
    co_return ended;
}

asio::awaitable<void> wire::run(std::shared_ptr<wire> self) {
    const dropping at_end{self};
    auto pause = duration(shortest_pause);
    while (!is_over()) {
        boost::system::error_code ended;
        // Whatever ends it, the next attempt comes.
        try {
            ended = co_await live(self);
        } catch (...) {
            refusal_ = present_failure();
        }
        if (connection_) connection_->close();
        if (ready_ && time().now() - ready_since_ >= longest_pause) pause = shortest_pause;
        if (made_in_.forked()) break;
        try {
            went_down(ended);
        } catch (...) {
            refuse_all(std::current_exception());
        }
        if (closing_) break;
        const auto until = time().now() + core::random_between(time(), pause / 2, pause);
        pause = std::min<duration>(pause * 2, longest_pause);
        co_await reconnect_.wait_until(until);
    }
    if (made_in_.forked()) refuse_all(std::make_exception_ptr(why_over()));
    connection_.reset();
}

asio::awaitable<void> wire::greet([[maybe_unused]] std::shared_ptr<wire> self,
                                  std::shared_ptr<connection> on) {
    std::string trouble;
    try {
        const auto channels = heard_.all();
        const auto hello = greeting(where_);
        pending first;
        on->send(first, hello.text, hello.replies);
        co_await first.async_answer();
        first.throw_failure(about_);
        first.earlier.push_back(std::move(first.answer));
        auto met = read_greeting(about_, first.earlier);
        if (met.cluster && where_.layout == key_layout::native)
            throw error(errc::unsupported,
                        about_ +
                            " is a node of a cluster, whose other nodes this layout does not "
                            "know: locks would be lost; give a server that is in none.");
        co_await check_server(on, met);
        if (connection_ != on || on->closed()) co_return;
        met.generation = session_.generation + 1;
        on->allow_large_replies();
        // A subscription has no reply, but its refusal has: it comes in place of the PING's.
        const auto join = subscribing(channel_, channels, met.sharded);
        pending second;
        on->send(second, join.text, join.replies);
        co_await second.async_answer();
        second.throw_failure(about_);
        refuse_errors(second.answer, about_);
        if (connection_ != on) co_return;
        session_ = std::move(met);
        ready_ = true;
        named_.clear();
        ready_since_ = time().now();
        last_refusal_ = nullptr;
        last_trouble_.clear();
        ++context_.count->connections;
        for (const auto& unwanted : heard_.greeted(channels))
            leave(unwanted);
        log("connected");
        if (greeted_) greeted_->ring();
        if (listener_ != nullptr) listener_->on_connected(session_);
        for (auto* waiting : gates_)
            waiting->opened.ring();
        co_return;
    } catch (const connection_lost&) {
        co_return;  // `run` knows why
    } catch (...) {
        refusal_ = present_failure();
        on->close();
        trouble = sentence_of(refusal_);
    }
    log(trouble);
}

void wire::went_down(const boost::system::error_code& why) {
    const bool was_ready = std::exchange(ready_, false);
    if (refusal_ && was_ready) {
        last_trouble_ = sentence_of(refusal_);
        if (last_trouble_.starts_with(about_ + ": ")) last_trouble_.erase(0, about_.size() + 2);
        if (!closing_) log(last_trouble_);
    } else if (!refusal_) {
        std::optional<error> end;
        if (!was_ready && connection_) end = connection_->explain_end(why, about_);
        if (end)
            refusal_ = std::make_exception_ptr(*end);
        else if (!was_ready && speaks_another_protocol(why))
            refusal_ = std::make_exception_ptr(error(
                errc::protocol,
                about_ + " does not speak the protocol of Redis: " + describe_connect_error(why) +
                    "; check host and port, and whether it needs TLS "
                    "(rediss://)."));
        last_trouble_ = end ? sentence_of(refusal_).substr(about_.size() + 2) : trouble_of(why);
        if (!closing_) log(last_trouble_);
    }
    last_refusal_ = was_ready ? nullptr : refusal_;
    heard_.forget_all();
    if (connection_) connection_->fail_all(last_trouble_.empty() ? "it ended" : last_trouble_);
    if (greeted_) greeted_->ring();
    const auto now = time().now();
    for (auto at = gates_.begin(); at != gates_.end();) {
        auto* waiting = *at++;
        if (last_refusal_)
            waiting->refused = last_refusal_;
        else if (closing_ || now - waiting->since >= refused_for)
            waiting->refused = std::make_exception_ptr(error(
                errc::unreachable, about_ + " cannot be reached: " + last_trouble_ +
                                       "; check that the server runs there and the URL is right."));
        if (waiting->refused) waiting->opened.ring();
    }
}

void wire::refuse_all(const std::exception_ptr& why) {
    ready_ = false;
    last_refusal_ = why;
    heard_.forget_all();
    if (connection_) connection_->fail_all("it ended");
    if (greeted_) greeted_->ring();
    for (auto* waiting : gates_) {
        waiting->refused = why;
        waiting->opened.ring();
    }
}

std::string wire::absence() const {
    if (ready_) return {};
    if (last_refusal_) return sentence_of(last_refusal_);
    return last_trouble_.empty() ? std::string() : about_ + ": " + last_trouble_;
}

// For people: what the connection died of, and what that often means.
std::string wire::trouble_of(const boost::system::error_code& why) const {
    if (!end_reason_.empty()) return end_reason_;
    const bool reached = connection_ && connection_->opened();
    const auto limit = std::to_string(where_.reply_timeout / 1ms) + " ms";
    if (hung_ && where_.tls.on && !reached)
        return "no TLS handshake within " + limit + " (a port without TLS wants redis://)";
    if (hung_) return "no answer within " + limit;
    const bool cut = why == asio::error::eof || why == asio::error::connection_reset;
    if (cut && session_.generation == 0 && reached && !where_.tls.on)
        return "it closed the connection without an answer (is it Redis? a TLS port wants "
               "rediss://)";
    return describe_connect_error(why);
}

void wire::on_push(const reply& message) {
    if (listener_ == nullptr || message.items.size() < 2) return;
    const auto& words = message.items;
    const auto& what = words[0].text;
    if ((what == "message" || what == "smessage") && words.size() == 3) {
        ++context_.count->pushes;
        listener_->on_message(words[1].text, words[2].text);
    } else if (what == "sunsubscribe" && heard_.heard(words[1].text)) {
        // The slot has moved to another node, and with it the channel: an empty message says that
        // some may be missed.
        heard_.forget(words[1].text);
        listener_->on_message(words[1].text, "");
    } else if (what == "invalidate") {
        ++context_.count->pushes;
        // The null that FLUSHALL sends means every key.
        if (words[1].what == reply::kind::nil) listener_->on_invalidate("");
        for (std::size_t i = 0; i < words[1].items.size() && listener_ != nullptr; ++i)
            listener_->on_invalidate(words[1].items[i].text);
    }
}

asio::awaitable<void> wire::close(time_point give_up_at) {
    while (ready_ && !is_over() && !nobody_waits() && time().now() < give_up_at)
        co_await tick_.wait_until(time().now() + 1ms);
    closing_ = true;
    listener_ = nullptr;
    reconnect_.ring();
    sweep_.ring();
    looked_up_.ring();
    if (const auto looking = look_up_.lock()) looking->cancel();
    if (connection_) connection_->close();
    // Between two attempts nothing else tells those who wait for the next one.
    for (auto* waiting : gates_) {
        if (!waiting->refused) waiting->refused = std::make_exception_ptr(why_over());
        waiting->opened.ring();
    }
}

}  // namespace pawl::redis
