#include "connection.hpp"

#include "tls.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>
#include <boost/redis/error.hpp>
#include <boost/system/system_error.hpp>

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace asio = boost::asio;
namespace bredis = boost::redis;
using boost::system::error_code;

namespace pawl::redis {
namespace {

constexpr std::size_t read_at_least = 4096;
// An idle connection keeps no more.
constexpr std::size_t keep_at_most = 64 << 10;

// What a TLS port says to who speaks without: a record of type 21.
bool is_tls_alert(std::string_view answer) noexcept { return answer.starts_with("\x15\x03"); }

// Leaves the handler with the look-up that will call it, or drop it with the event loop.
struct wait_for_look_up {
    std::weak_ptr<asio::any_completion_handler<void()>> place;
    void operator()(asio::any_completion_handler<void()> done) const {
        if (const auto alive = place.lock()) *alive = std::move(done);
    }
};

}  // namespace

connection::connection(const options& where, asio::any_io_executor strand)
    : where_(where),
      strand_(std::move(strand)),
      resolver_(strand_),
      socket_(strand_),
      read_(read_at_least * 4) {
    if (where_.tls.on) tls_ = std::make_unique<secured>(where_, socket_);
}

connection::secured::secured(const options& where, socket& over)
    : context(make_tls_context(where)), stream(over, context) {
    prepare_tls(stream.native_handle(), where);
}

asio::awaitable<error_code> connection::reach() {
    error_code ec;
    if (!where_.unix_socket.empty()) {
        try {
            const asio::local::stream_protocol::endpoint path(where_.unix_socket);
            ec = co_await connect(path);
        } catch (const boost::system::system_error& e) {
            ec = e.code();  // a path that is too long
        }
        co_return ec;
    }
    const auto address = asio::ip::make_address(where_.host, ec);
    if (!ec) {
        const asio::ip::tcp::endpoint numeric(address, where_.port);
        ec = co_await connect(numeric);
        co_return ec;
    }
    asio::ip::tcp::resolver::results_type named;
    ec = co_await look_up(named);
    if (ec) co_return ec;
    for (const auto& one : named) {
        ec = co_await connect(one.endpoint());
        if (!ec) break;
    }
    co_return ec;
}

// Asio makes the thread that does it at the first use, and throws where there is none to be had. It
// is begun here, and not while the coroutine is suspended: then that would end the event loop.
asio::awaitable<error_code> connection::look_up(asio::ip::tcp::resolver::results_type& named) {
    error_code ended;
    std::weak_ptr<asio::any_completion_handler<void()>> place;
    {
        const auto owned = std::make_shared<asio::any_completion_handler<void()>>();
        place = owned;
        resolver_.async_resolve(
            where_.host, std::to_string(where_.port),
            [owned, &ended, &named](const error_code& ec,
                                    asio::ip::tcp::resolver::results_type given) {
                ended = ec;
                named = std::move(given);
                auto done = std::move(*owned);
                std::move(done)();
            });
    }
    const wait_for_look_up begin{place};
    co_await asio::async_initiate<const asio::deferred_t, void()>(begin, asio::deferred);
    co_return ended;
}

asio::awaitable<error_code> connection::connect(asio::generic::stream_protocol::endpoint to) {
    if (closed_) co_return asio::error::operation_aborted;
    error_code ec;
    socket_.close(ec);
    auto token = asio::redirect_error(asio::deferred, ec);
    co_await socket_.async_connect(to, token);
    co_return ec;
}

asio::awaitable<error_code> connection::open() {
    auto ec = co_await reach();
    if (!ec && closed_) ec = asio::error::operation_aborted;
    if (ec) co_return ec;
    // Small requests must not wait for one another's acknowledgement, nor sockets go to other
    // programs.
    error_code ignored;
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    ::fcntl(socket_.native_handle(), F_SETFD, FD_CLOEXEC);
    socket_.non_blocking(true, ignored);
    if (tls_) {
        shakes_hands_ = true;
        auto token = asio::redirect_error(asio::deferred, ec);
        co_await tls_->stream.async_handshake(asio::ssl::stream_base::client, token);
    }
    opened_ = !ec;
    if (opened_) shakes_hands_ = false;
    co_return ec;
}

std::optional<error> connection::explain_end(const error_code& why,
                                             const std::string& about) const {
    if (met_tls_)
        return error(errc::protocol, about +
                                         ": this port speaks TLS; write rediss:// in place of "
                                         "redis://.");
    if (!tls_) return std::nullopt;
    return explain_tls(why, tls_->stream.native_handle(), where_, about);
}

void connection::close() noexcept {
    closed_ = true;
    error_code ignored;
    resolver_.cancel();
    socket_.close(ignored);
}

void connection::send(pending& one, std::string text, unsigned replies) {
    put({&one, replies}, std::move(text));
}

void connection::send_subscription(pending& one, std::string text) {
    put_subscription(&one, std::move(text));
}

void connection::tell_subscription(std::string text) {
    if (!closed_) put_subscription(nullptr, std::move(text));
}

void connection::put_subscription(pending* by, std::string text) {
    append_command(text, std::array<std::string_view, 1>{"PING"});
    put({by, 1, true}, std::move(text));
}

// Without memory nothing is asked for: a request that is not sent must wait for no reply, since the
// next one's would be taken for it.
void connection::put(asked one, std::string text) {
    const bool idle = asked_.empty();
    to_send_.reserve(to_send_.size() + text.size());
    const auto number = first_ + asked_.size();
    asked_.push_back(one);
    if (one.by != nullptr) {
        one.by->on_ = this;
        one.by->number_ = number;
    }
    if (to_send_.empty())
        to_send_ = std::move(text);
    else
        to_send_ += text;
    if (flushing_) return;
    try {
        if (idle)
            flush();
        else
            flush_later();
    } catch (...) {
        close();  // what is written to it would never leave
        throw;
    }
}

void connection::flush_later() {
    asio::post(strand_, [self = shared_from_this()] {
        self->flushing_ = false;
        try {
            self->flush();
        } catch (...) {
            self->close();  // what is written to it would never leave
        }
    });
    flushing_ = true;
}

void connection::flush() {
    if (to_send_.empty() || closed_) return;
    sending_.swap(to_send_);
    std::size_t sent = 0;
    error_code ignored;  // what it was, the write below finds again
    if (!tls_) sent = socket_.write_some(asio::buffer(sending_), ignored);
    if (sent == sending_.size()) {
        sending_.clear();
        return;
    }
    flushing_ = true;
    const auto rest = asio::buffer(sending_) + sent;
    auto done = asio::bind_executor(
        strand_, [self = shared_from_this()](error_code ec, std::size_t) { self->wrote(ec); });
    if (tls_)
        asio::async_write(tls_->stream, rest, std::move(done));
    else
        asio::async_write(socket_, rest, std::move(done));
}

void connection::wrote(error_code ec) {
    flushing_ = false;
    sending_.clear();
    if (ec) {
        write_failed_ = ec;
        close();
    }
    flush();
}

asio::awaitable<error_code> connection::read(std::function<void(const reply&)> pushed) {
    error_code ec;
    auto token = asio::redirect_error(asio::deferred, ec);
    for (;;) {
        make_room();
        if (end_ == read_.size()) co_return bredis::error::exceeds_maximum_read_buffer_size;
        const auto free = asio::buffer(read_.data() + end_, read_.size() - end_);
        std::size_t got = 0;
        if (tls_)
            got = co_await tls_->stream.async_read_some(free, token);
        else
            got = co_await socket_.async_read_some(free, token);
        if (ec) co_return write_failed_ ? write_failed_ : ec;
        end_ += got;
        met_tls_ = !tls_ && is_tls_alert({read_.data() + begin_, end_ - begin_});
        ec = parse(pushed);
        if (!ec && closed_) ec = asio::error::operation_aborted;
        if (ec) co_return ec;
    }
}

void connection::make_room() {
    if (begin_ == end_ && read_.size() > keep_at_most) {
        read_.resize(keep_at_most);
        read_.shrink_to_fit();
        begin_ = end_ = 0;
    }
    if (read_.size() - end_ >= read_at_least) return;
    std::memmove(read_.data(), read_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    // One message that is not whole is all that is left now, and it is checked.
    const auto most = checker_.limits().bytes + line_limit + read_at_least;
    if (read_.size() - end_ < read_at_least) read_.resize(std::min(read_.size() * 2, most));
}

// The next node of the message; without `more`, the rest of it has to be read first.
error_code connection::parse_node(std::string_view message, bool& more) {
    const auto at = parser_.get_consumed();
    error_code ec;
    if (!in_body_) ec = checker_.check_head(message.substr(at), at);
    if (ec) return ec;
    const auto node = parser_.consume(message, ec);
    if (ec) return ec;
    in_body_ = !node && (in_body_ || parser_.get_consumed() > at);
    more = node.has_value();
    if (more) builder_.add(*node);
    return {};
}

error_code connection::parse(const std::function<void(const reply&)>& pushed) {
    while (begin_ < end_) {
        const std::string_view message(read_.data() + begin_, end_ - begin_);
        bool more = true;
        while (more && !parser_.done()) {
            const auto ec = parse_node(message, more);
            if (ec) return ec;
        }
        if (!more) return {};
        begin_ += parser_.get_consumed();
        parser_.reset();
        checker_.next_message();
        auto whole = builder_.take();
        // Attributes say something about the reply behind them, which nobody asked to know.
        if (message.front() == '>')
            pushed(whole);
        else if (message.front() != '|')
            deliver(std::move(whole));
        if (closed_) return {};
    }
    begin_ = end_ = 0;
    return {};
}

void connection::deliver(reply message) {
    if (asked_.empty()) return;  // what nobody asked for: the connection is about to end
    auto& front = asked_.front();
    auto* by = front.by;
    if (std::exchange(front.until_pong, false) && message.what == reply::kind::error)
        front.replies = 2;  // this, and the PING's
    const bool last = --front.replies == 0;
    if (last) {
        asked_.pop_front();
        ++first_;
    }
    if (by != nullptr) by->take(std::move(message), last);
}

std::vector<pending*> connection::waiting() const {
    std::vector<pending*> all;
    for (const auto& one : asked_) {
        if (one.by != nullptr) all.push_back(one.by);
    }
    return all;
}

void connection::fail_all(const std::string& why) {
    for (auto* one : waiting())
        one->fail(why);
}

void connection::drop_all() noexcept {
    closed_ = true;
    while (!asked_.empty()) {
        auto* one = asked_.front().by;
        asked_.pop_front();
        ++first_;
        if (one != nullptr) one->drop();
    }
}

void connection::cancel(std::uint64_t number) {
    if (number < first_) return;
    auto* one = asked_[static_cast<std::size_t>(number - first_)].by;
    if (one != nullptr) one->cancel();
}

void connection::forget(std::uint64_t number) noexcept {
    asked_[static_cast<std::size_t>(number - first_)].by = nullptr;
}

}  // namespace pawl::redis
