#include "boost_link.hpp"

#include "connection.hpp"
#include "greeting.hpp"
#include "options.hpp"
#include "server_errors.hpp"
#include "subscriptions.hpp"

#include "../core/alarm.hpp"
#include "../core/chance.hpp"

#include <pawl/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <array>
#include <list>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {
namespace {

// How often unanswered requests are looked through.
constexpr auto sweep_every = 100ms;
// Who asks while nothing listens there is told after this long.
constexpr auto refused_for = 1s;

class wire : public std::enable_shared_from_this<wire> {
public:
    wire(options where, const backend_context& context, link::listener& to, std::string channel)
        : where_(std::move(where)),
          about_(describe(where_)),
          context_(context),
          listener_(&to),
          channel_(std::move(channel)),
          reconnect_(*context.time, context.strand),
          sweep_(*context.time, context.strand),
          greeted_(*context.time, context.strand) {}

    asio::awaitable<reply> exec(std::span<const std::string_view> words, time_point give_up_at,
                                bool tracked);
    asio::awaitable<void> subscribe(std::string channel, time_point give_up_at);
    void unsubscribe(const std::string& channel);
    asio::awaitable<void> close(time_point give_up_at);
    // After `close` it is forgotten already, and this may be another thread than the strand's.
    void forget_listener() noexcept {
        if (!closing_) listener_ = nullptr;
    }

    [[nodiscard]] const session& current() const noexcept { return session_; }
    [[nodiscard]] bool connected() const noexcept { return ready_; }

private:
    runtime& time() const noexcept { return *context_.time; }
    void log(const std::string& line) const {
        if (context_.log) context_.log(about_ + ": " + line);
    }

    void start();
    asio::awaitable<void> run(std::shared_ptr<wire> self);
    asio::awaitable<void> greet(std::shared_ptr<wire> self, std::shared_ptr<connection> on);
    asio::awaitable<void> limit_greeting(std::shared_ptr<wire> self,
                                         std::shared_ptr<connection> on);
    asio::awaitable<void> sweep(std::shared_ptr<wire> self);
    asio::awaitable<void> wait_ready(time_point give_up_at);
    [[nodiscard]] bool nobody_waits() const {
        return !connection_ || connection_->waiting().empty();
    }
    void leave(const std::string& channel);
    void went_down(const boost::system::error_code& why);
    std::string trouble_of(const boost::system::error_code& why) const;
    void on_push(const reply& message);
    // Of what is about to be sent: counted, and its silence noticed.
    void watch(pending& one, time_point give_up_at);

    // When the event loop is destroyed, it destroys `run`, and that those who wait for a reply.
    struct dropping {
        std::shared_ptr<wire> home;
        ~dropping() {
            if (home->connection_) home->connection_->drop_all();
        }
    };
    struct gate {
        explicit gate(const backend_context& c) : opened(*c.time, c.strand), since(c.time->now()) {}
        core::alarm opened;
        time_point since;
        std::exception_ptr refused;
    };

    const options where_;
    const std::string about_;
    backend_context context_;
    link::listener* listener_;
    const std::string channel_;

    std::shared_ptr<connection> connection_;
    session session_;
    bool running_ = false;
    bool ready_ = false;
    bool closing_ = false;
    bool hung_ = false;           // the sweep ended this connection
    std::exception_ptr refusal_;  // why the newest attempt failed, when another will not help
    std::string last_trouble_;
    std::list<gate*> gates_;
    subscriptions heard_;
    core::alarm reconnect_;
    core::alarm sweep_;
    core::alarm greeted_;
    bool sweeping_ = false;
    bool sweep_parked_ = false;
};

void wire::start() {
    if (std::exchange(running_, true)) return;
    asio::co_spawn(context_.strand, run(shared_from_this()), asio::detached);
}

asio::awaitable<void> wire::run(std::shared_ptr<wire> self) {
    const dropping at_end{self};
    auto pause = duration(20ms);
    while (!closing_) {
        boost::system::error_code ended;
        try {
            const auto made = std::make_shared<connection>(where_, context_.strand);
            connection_ = made;
            const auto before = session_.generation;
            hung_ = false;
            asio::co_spawn(context_.strand, limit_greeting(self, made), asio::detached);
            ended = co_await made->open();
            if (!ended) {
                asio::co_spawn(context_.strand, greet(self, made), asio::detached);
                std::function<void(const reply&)> pushed = [this](const reply& m) { on_push(m); };
                ended = co_await made->read(std::move(pushed));
            }
            made->close();
            if (session_.generation != before) pause = 20ms;
        } catch (const error&) {
            refusal_ = std::current_exception();
        }
        went_down(ended);
        if (closing_) break;
        const auto until = time().now() + core::random_between(time(), pause / 2, pause);
        pause = std::min<duration>(pause * 2, 1s);
        co_await reconnect_.wait_until(until);
    }
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
        met.generation = session_.generation + 1;
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
        refusal_ = nullptr;
        last_trouble_.clear();
        ++context_.count->connections;
        for (const auto& unwanted : heard_.greeted(channels))
            leave(unwanted);
        log("connected");
        greeted_.ring();
        if (listener_ != nullptr) listener_->on_connected(session_);
        for (auto* waiting : gates_)
            waiting->opened.ring();
        co_return;
    } catch (const connection_lost&) {
        co_return;  // `run` knows why
    } catch (const error& e) {
        refusal_ = std::current_exception();
        trouble = e.what();
    }
    log(trouble);
    on->close();
}

void wire::went_down(const boost::system::error_code& why) {
    const bool was_ready = std::exchange(ready_, false);
    if (!refusal_ || was_ready) {
        if (speaks_another_protocol(why))
            refusal_ = std::make_exception_ptr(
                error(errc::protocol,
                      about_ + " does not speak the protocol of Redis; check host and port, and "
                               "whether it needs TLS (rediss://)."));
        last_trouble_ = trouble_of(why);
        if (!closing_) log(last_trouble_);
    }
    heard_.forget_all();
    if (connection_) connection_->fail_all(last_trouble_);
    greeted_.ring();
    if (was_ready && listener_ != nullptr) listener_->on_disconnected();
    const auto now = time().now();
    for (auto at = gates_.begin(); at != gates_.end();) {
        auto* waiting = *at++;
        if (refusal_ && !was_ready)
            waiting->refused = refusal_;
        else if (closing_ || now - waiting->since >= refused_for)
            waiting->refused = std::make_exception_ptr(error(
                errc::unreachable, about_ + " cannot be reached: " + last_trouble_ +
                                       "; check that the server runs there and the URL is right."));
        if (waiting->refused) waiting->opened.ring();
    }
}

// For people: what the connection died of, and what that often means.
std::string wire::trouble_of(const boost::system::error_code& why) const {
    const bool reached = connection_ && connection_->opened();
    const auto limit = std::to_string(where_.reply_timeout / 1ms) + " ms";
    if (hung_ && where_.tls.on && !reached)
        return "no TLS handshake within " + limit + " (a port without TLS wants redis://)";
    if (hung_) return "no answer within " + limit;
    if (why == asio::error::eof && session_.generation == 0 && reached)
        return "it closed the connection without an answer (is it Redis? a TLS port wants "
               "rediss://)";
    return describe_connect_error(why);
}

asio::awaitable<void> wire::wait_ready(time_point give_up_at) {
    if (closing_) throw error(errc::cancelled, "The client is closed; make a new one.");
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
        if (!rung && !ready_)
            throw error(errc::unreachable,
                        about_ + " could not be reached within " +
                            std::to_string(std::max<duration>(until - mine.since, 0s) / 1ms) +
                            " ms" + (last_trouble_.empty() ? "" : ": " + last_trouble_) +
                            "; check that the server runs there and the URL is right.");
    }
}

asio::awaitable<reply> wire::exec(std::span<const std::string_view> words, time_point give_up_at,
                                  bool tracked) {
    std::string text;
    if (tracked) append_command(text, std::array<std::string_view, 3>{"CLIENT", "CACHING", "YES"});
    append_command(text, words);
    if (!ready_) co_await wait_ready(give_up_at);
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
    if (!std::exchange(sweeping_, true)) {
        asio::co_spawn(context_.strand, sweep(shared_from_this()), asio::detached);
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
        if (!ready_) {
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
        refuse_errors(one.answer, about_);
        if (ready_ && connection_ == on) heard_.confirm(channel);
    }
    mine.kept = true;
}

void wire::unsubscribe(const std::string& channel) {
    if (heard_.leave(channel)) leave(channel);
}

void wire::leave(const std::string& channel) {
    if (!ready_ || closing_) return;
    ++context_.count->requests;
    std::string text;
    const std::string_view how = session_.sharded ? "SUNSUBSCRIBE" : "UNSUBSCRIBE";
    append_command(text, std::array<std::string_view, 2>{how, channel});
    connection_->tell_subscription(std::move(text));
}

// Looks for requests that have no answer in time. It rests when there are none, so that an idle
// client wakes nobody.
asio::awaitable<void> wire::sweep(std::shared_ptr<wire> self) {
    auto idle = 0;
    while (!closing_) {
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
    sweeping_ = false;
    self.reset();
}

// A server that cannot be reached, takes the connection and says nothing, or says something else
// than Redis does, is no server.
asio::awaitable<void> wire::limit_greeting(std::shared_ptr<wire> self,
                                           std::shared_ptr<connection> on) {
    const auto began = time().now();
    auto until = began + std::min(where_.connect_timeout, where_.reply_timeout);
    while (!ready_ && !on->closed()) {
        if (time().now() < until) {
            co_await greeted_.wait_until(until);
        } else if (on->opened() && until < began + where_.reply_timeout) {
            until = began + where_.reply_timeout;
        } else {
            hung_ = true;
            on->close();
        }
    }
    self.reset();
}

void wire::on_push(const reply& message) {
    if (listener_ == nullptr || message.items.size() < 2) return;
    const auto& words = message.items;
    const auto& what = words[0].text;
    if ((what == "message" || what == "smessage") && words.size() == 3) {
        ++context_.count->pushes;
        listener_->on_message(words[1].text, words[2].text);
    } else if (what == "invalidate") {
        ++context_.count->pushes;
        // The null that FLUSHALL sends means every key.
        if (words[1].what == reply::kind::nil) listener_->on_invalidate("");
        for (std::size_t i = 0; i < words[1].items.size() && listener_ != nullptr; ++i)
            listener_->on_invalidate(words[1].items[i].text);
    }
}

asio::awaitable<void> wire::close(time_point give_up_at) {
    core::alarm tick(time(), context_.strand);
    while (ready_ && !nobody_waits() && time().now() < give_up_at)
        co_await tick.wait_until(time().now() + 1ms);
    closing_ = true;
    listener_ = nullptr;
    reconnect_.ring();
    sweep_.ring();
    if (connection_) connection_->close();
}

class boost_link final : public link {
public:
    explicit boost_link(std::shared_ptr<wire> to) : wire_(std::move(to)) {}
    ~boost_link() override { wire_->forget_listener(); }

    asio::awaitable<reply> exec(std::span<const std::string_view> words,
                                time_point give_up_at) override {
        return wire_->exec(words, give_up_at, false);
    }
    asio::awaitable<reply> exec_tracked(std::span<const std::string_view> words,
                                        time_point give_up_at) override {
        return wire_->exec(words, give_up_at, true);
    }
    asio::awaitable<void> subscribe(std::string channel, time_point give_up_at) override {
        return wire_->subscribe(std::move(channel), give_up_at);
    }
    void unsubscribe(const std::string& channel) noexcept override { wire_->unsubscribe(channel); }
    const session& current() const noexcept override { return wire_->current(); }
    bool connected() const noexcept override { return wire_->connected(); }
    asio::awaitable<void> close(time_point give_up_at) override { return wire_->close(give_up_at); }

private:
    std::shared_ptr<wire> wire_;
};

}  // namespace

link_factory boost_link_factory(const options& where, const backend_context& context) {
    return [where, context](link::listener& to,
                            const std::string& channel) -> std::unique_ptr<link> {
        return std::make_unique<boost_link>(std::make_shared<wire>(where, context, to, channel));
    };
}

}  // namespace pawl::redis
