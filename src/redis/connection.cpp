#include "connection.hpp"

#include "tls.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>
#include <boost/redis/error.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
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

}  // namespace

connection::connection(const options& where, asio::any_io_executor strand)
    : where_(where), strand_(std::move(strand)), socket_(strand_), read_(read_at_least * 4) {
    if (where_.tls.on) tls_ = std::make_unique<secured>(where_, socket_);
}

connection::secured::secured(const options& where, socket& over)
    : context(make_tls_context(where)), stream(over, context) {
    prepare_tls(stream.native_handle(), where);
}

connection::~connection() {
    drop_all();
    close_socket();
}

// From its first moment no program that is started beside this one gets it, and no fork.
error_code connection::make_socket() {
    const auto protocol = server_.protocol();
    const core::close_on_fork::no_fork now;
    const int made =
        ::socket(protocol.family(), protocol.type() | SOCK_CLOEXEC, protocol.protocol());
    if (made < 0) return {errno, boost::system::system_category()};
    error_code ec;
    socket_.assign(protocol, made, ec);
    if (ec)
        ::close(made);
    else
        kept_from_forks_.add(made, now);
    return ec;
}

asio::awaitable<error_code> connection::connect() {
    auto ec = make_socket();
    if (ec) co_return ec;
    auto token = asio::redirect_error(asio::deferred, ec);
    co_await socket_.async_connect(server_, token);
    co_return ec;
}

asio::awaitable<error_code> connection::open(address to) {
    if (closed_) co_return asio::error::operation_aborted;
    server_ = to;
    auto ec = co_await connect();
    if (!ec && closed_) ec = asio::error::operation_aborted;
    if (ec) co_return ec;
    // Small requests must not wait for one another's acknowledgement.
    error_code ignored;
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
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
    if (awaits_answers()) socket_.set_option(asio::socket_base::linger(true, 0), ignored);
    close_socket();
}

void connection::close_socket() noexcept {
    const core::close_on_fork::no_fork now;
    kept_from_forks_.forget(now);
    error_code ignored;
    socket_.close(ignored);
}

// What a subscription changes ends with the connection.
bool connection::awaits_answers() const noexcept {
    return std::any_of(asked_.begin(), asked_.end(),
                       [](const asked& each) { return !each.until_pong; });
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
