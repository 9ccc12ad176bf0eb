#include "boost_link.hpp"

#include "greeting.hpp"
#include "options.hpp"
#include "pending.hpp"
#include "server_errors.hpp"
#include "tls.hpp"

#include "../core/alarm.hpp"
#include "../core/chance.hpp"

#include <pawl/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/redis/connection.hpp>
#include <boost/redis/response.hpp>
#include <boost/system/system_error.hpp>

#include <fcntl.h>

#include <deque>
#include <list>

namespace asio = boost::asio;
namespace bredis = boost::redis;
using namespace std::chrono_literals;

namespace pawl::redis {
namespace {

// Boost.Redis deprecates the way to the socket but has no other for what is set here.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
auto& stream_of(bredis::connection& one) { return one.next_layer(); }
#pragma GCC diagnostic pop

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
    asio::awaitable<void> close(time_point give_up_at);
    // After `close` it is forgotten already, and this may be another thread than the strand's.
    void forget_listener() noexcept {
        if (!closing_) listener_ = nullptr;
    }

    [[nodiscard]] const session& current() const noexcept { return session_; }
    [[nodiscard]] bool connected() const noexcept { return ready_; }

private:
    // One attempt at a connection, with where its pushes arrive.
    struct connection : bredis::connection {
        using bredis::connection::connection;
        bredis::generic_flat_response pushes;
    };

    runtime& time() const noexcept { return *context_.time; }
    void log(const std::string& line) const {
        if (context_.log) context_.log(about_ + ": " + line);
    }

    void start();
    asio::awaitable<void> run(std::shared_ptr<wire> self);
    asio::awaitable<void> greet(std::shared_ptr<wire> self, std::shared_ptr<connection> on);
    asio::awaitable<void> receive(std::shared_ptr<wire> self, std::shared_ptr<connection> on);
    asio::awaitable<void> limit_greeting(std::shared_ptr<wire> self,
                                         std::shared_ptr<connection> on);
    asio::awaitable<void> sweep(std::shared_ptr<wire> self);
    asio::awaitable<void> wait_ready(time_point give_up_at);
    void went_down(const boost::system::error_code& why);
    void on_push(const bredis::resp3::flat_tree& nodes);
    std::shared_ptr<connection> make_connection();
    bredis::config make_config() const;
    void tune(connection& on) const;

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
    std::list<std::shared_ptr<pending>> pending_;
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

std::shared_ptr<wire::connection> wire::make_connection() {
    bredis::logger quiet(bredis::logger::level::disabled, [](auto, auto) {});
    auto made =
        std::make_shared<connection>(context_.strand, make_tls_context(where_), std::move(quiet));
    if (where_.tls.on) prepare_tls(stream_of(*made).native_handle(), where_);
    made->set_receive_response(made->pushes);
    return made;
}

bredis::config wire::make_config() const {
    bredis::config made;
    made.use_ssl = where_.tls.on;
    made.addr = {where_.host, std::to_string(where_.port)};
    made.unix_socket = where_.unix_socket;
    // The greeting is ours: its errors are worth reading.
    made.use_setup = true;
    made.setup.clear();
    made.health_check_interval = 0s;
    made.reconnect_wait_interval = 0s;
    const auto timeout =
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(where_.connect_timeout);
    made.resolve_timeout = made.connect_timeout = made.ssl_handshake_timeout = timeout;
    made.max_read_size = 64 << 20;
    return made;
}

// Small requests must not wait for one another's acknowledgement, nor sockets go to other programs.
void wire::tune(connection& on) const {
    auto& socket = stream_of(on).next_layer();
    boost::system::error_code ignored;
    if (!socket.is_open()) return;
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
}

asio::awaitable<void> wire::run(std::shared_ptr<wire> self) {
    auto pause = duration(20ms);
    while (!closing_) {
        boost::system::error_code ended;
        try {
            connection_ = make_connection();
            const auto made = connection_;
            const auto setup = make_config();
            const auto before = session_.generation;
            hung_ = false;
            asio::co_spawn(context_.strand, greet(self, made), asio::detached);
            asio::co_spawn(context_.strand, limit_greeting(self, made), asio::detached);
            auto token = asio::redirect_error(asio::use_awaitable, ended);
            co_await made->async_run(setup, token);
            made->cancel();
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

asio::awaitable<void> wire::greet(std::shared_ptr<wire> self, std::shared_ptr<connection> on) {
    std::string trouble;
    try {
        const auto hello = greeting(where_, channel_);
        reply_builder answers;
        auto adapter = adapt(answers);
        co_await on->async_exec(hello.first, std::move(adapter), asio::use_awaitable);
        tune(*on);
        auto met = read_greeting(about_, answers.replies());
        met.generation = session_.generation + 1;
        // A subscription has no reply, but its refusal has: it comes in place of the PING's.
        reply_builder subscribed;
        auto second = adapt(subscribed);
        co_await on->async_exec(hello.second, std::move(second), asio::use_awaitable);
        for (const auto& answer : subscribed.replies())
            refuse_errors(answer, about_);
        if (connection_ != on) co_return;
        session_ = std::move(met);
        ready_ = true;
        refusal_ = nullptr;
        last_trouble_.clear();
        ++context_.count->connections;
        log("connected");
        asio::co_spawn(context_.strand, receive(self, on), asio::detached);
        greeted_.ring();
        if (listener_ != nullptr) listener_->on_connected(session_);
        for (auto* waiting : gates_)
            waiting->opened.ring();
        co_return;
    } catch (const error& e) {
        refusal_ = std::current_exception();
        trouble = e.what();
    } catch (const boost::system::system_error&) {
        co_return;  // `run` knows why
    }
    log(trouble);
    on->cancel();
}

void wire::went_down(const boost::system::error_code& why) {
    const bool was_ready = std::exchange(ready_, false);
    if (!refusal_ || was_ready) {
        if (speaks_another_protocol(why))
            refusal_ = std::make_exception_ptr(
                error(errc::protocol,
                      about_ + " does not speak the protocol of Redis; check host and port, and "
                               "whether it needs TLS (rediss://)."));
        last_trouble_ =
            hung_ ? "no answer within " + std::to_string(where_.reply_timeout / 1ms) + " ms"
                  : describe_connect_error(why);
        if (!closing_) log(last_trouble_);
    }
    while (!pending_.empty()) {
        const auto one = pending_.front();
        one->fail(last_trouble_);
    }
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
                        about_ + " did not answer within " +
                            std::to_string(std::max<duration>(until - mine.since, 0s) / 1ms) +
                            " ms" + (last_trouble_.empty() ? "" : " (" + last_trouble_ + ")") +
                            "; check that the server runs there and the URL is right.");
    }
}

asio::awaitable<reply> wire::exec(std::span<const std::string_view> words, time_point give_up_at,
                                  bool tracked) {
    auto one = std::make_shared<pending>();
    if (tracked) one->request.push("CLIENT", "CACHING", "YES");
    if (words.size() == 1)
        one->request.push(words.front());
    else
        one->request.push_range(words.front(), words.begin() + 1, words.end());
    if (!ready_) co_await wait_ready(give_up_at);
    const auto now = time().now();
    one->answer_by = now + where_.reply_timeout;
    one->give_up_at = give_up_at;
    one->join(pending_);
    if (!std::exchange(sweeping_, true)) {
        asio::co_spawn(context_.strand, sweep(shared_from_this()), asio::detached);
    } else if (sweep_parked_) {
        sweep_.ring();
    }
    ++context_.count->requests;
    co_await one->sent(*connection_);
    if (!one->failure.empty()) throw connection_lost(about_ + ": " + one->failure);
    co_return std::move(one->builder.replies().back());
}

// Looks for requests that have no answer in time. It rests when there are none, so that an idle
// client wakes nobody.
asio::awaitable<void> wire::sweep(std::shared_ptr<wire> self) {
    auto idle = 0;
    while (!closing_) {
        if (pending_.empty() && ++idle > 10) {
            sweep_parked_ = true;
            co_await sweep_.wait_until(time_point::max());
            sweep_parked_ = false;
            idle = 0;
            continue;
        }
        co_await sweep_.wait_until(time().now() + sweep_every);
        const auto now = time().now();
        for (auto at = pending_.begin(); at != pending_.end();) {
            const auto one = *at++;
            if (one->answer_by <= now && connection_ && !hung_) {
                hung_ = true;
                connection_->cancel();
            } else if (one->give_up_at <= now) {
                one->fail("no answer in time");
            }
        }
    }
    sweeping_ = false;
    self.reset();
}

// Ends when `run` cancels the connection.
asio::awaitable<void> wire::receive(std::shared_ptr<wire> self, std::shared_ptr<connection> on) {
    for (;;) {
        boost::system::error_code ended;
        auto token = asio::redirect_error(asio::use_awaitable, ended);
        co_await on->async_receive2(token);
        if (ended) break;
        if (connection_ == on) {
            if (on->pushes.has_value())
                on_push(on->pushes.value());
            else
                log("the server refuses to push: " + on->pushes.error().diagnostic);
        }
        on->pushes = {};
    }
    self.reset();
}

// A server that takes the connection and says nothing, or something else than Redis says, is no
// server.
asio::awaitable<void> wire::limit_greeting(std::shared_ptr<wire> self,
                                           std::shared_ptr<connection> on) {
    const bool greeted = co_await greeted_.wait_until(time().now() + where_.reply_timeout);
    if (!greeted && connection_ == on && !ready_) {
        hung_ = true;
        on->cancel();
    }
    self.reset();
}

void wire::on_push(const bredis::resp3::flat_tree& nodes) {
    for (std::size_t at = 0; at < nodes.size(); ++at) {
        if (nodes[at].depth != 0 || nodes[at].data_type != bredis::resp3::type::push) continue;
        std::vector<std::string_view> words;
        auto end = at + 1;
        for (; end < nodes.size() && nodes[end].depth > 0; ++end) {
            if (!bredis::resp3::is_aggregate(nodes[end].data_type))
                words.push_back(nodes[end].value);
        }
        if (words.size() == 3 && words[0] == "message") {
            ++context_.count->pushes;
            if (listener_ != nullptr) listener_->on_message(words[1], words[2]);
        } else if (!words.empty() && words[0] == "invalidate") {
            ++context_.count->pushes;
            // The null that FLUSHALL sends means every key.
            for (std::size_t i = 1; i < words.size() && listener_ != nullptr; ++i)
                listener_->on_invalidate(words[i]);
        }
        at = end - 1;
    }
}

asio::awaitable<void> wire::close(time_point give_up_at) {
    core::alarm tick(time(), context_.strand);
    while (ready_ && !pending_.empty() && time().now() < give_up_at)
        co_await tick.wait_until(time().now() + 1ms);
    closing_ = true;
    listener_ = nullptr;
    reconnect_.ring();
    sweep_.ring();
    if (connection_) connection_->cancel();
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
