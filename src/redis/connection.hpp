// One attempt at a connection: commands out, replies and pushes in. It never connects again, and
// never sends anything twice. decisions/015 says why it is not Boost.Redis'.
#pragma once

#include "address.hpp"
#include "pending.hpp"
#include "reply_builder.hpp"
#include "reply_limits.hpp"

#include "../core/close_on_fork.hpp"

#include <pawl/redis.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/redis/resp3/parser.hpp>
#include <boost/system/error_code.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pawl::redis {

// Used on one strand. At its end nobody may wait any more: see `fail_all` and `drop_all`.
class connection : public std::enable_shared_from_this<connection> {
public:
    // Throws errc::bad_option when TLS is not possible as asked for.
    connection(const options& where, boost::asio::any_io_executor strand);
    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    // Connects, and shakes hands where there is TLS.
    boost::asio::awaitable<boost::system::error_code> open(address to);
    [[nodiscard]] bool opened() const noexcept { return opened_; }
    // That of `open`.
    [[nodiscard]] const address& server() const noexcept { return server_; }
    // Something listens there, and has not answered the TLS handshake yet.
    [[nodiscard]] bool shakes_hands() const noexcept { return shakes_hands_; }
    // What the end of it says about TLS, where it does; `about` names the server.
    [[nodiscard]] std::optional<error> explain_end(const boost::system::error_code& why,
                                                   const std::string& about) const;
    // Completes who waits, in order, and gives pushes to `pushed`; says why it ended.
    boost::asio::awaitable<boost::system::error_code> read(
        std::function<void(const reply&)> pushed);
    // Ends both of the above. Where requests have no answer, the kernel forgets what it has not
    // sent of them: a network that is whole again after a minute would deliver them.
    void close() noexcept;
    [[nodiscard]] bool closed() const noexcept { return closed_; }

    // The handshake is over: larger replies may be asked for.
    void allow_large_replies() noexcept { checker_.set_limits(session_limits); }

    // `text` is commands that are answered by `replies` replies. An idle connection sends at once;
    // a busy one gathers what is asked for in one turn of the loop.
    void send(pending& one, std::string text, unsigned replies = 1);
    // (UN)SUBSCRIBE of one channel. Its confirmations are pushes, which may also come unasked, so
    // that they answer nothing: a PING behind it does.
    void send_subscription(pending& one, std::string text);
    // The same, where nobody waits for the answer.
    void tell_subscription(std::string text);

    // Who waits for an answer: null where the caller has gone.
    [[nodiscard]] std::vector<pending*> waiting() const;
    void fail_all(const std::string& why);
    // Destroys those who wait, when the event loop is no more.
    void drop_all() noexcept;

private:
    friend class pending;
    using socket = boost::asio::generic::stream_protocol::socket;
    struct secured {
        secured(const options& where, socket& over);
        boost::asio::ssl::context context;
        boost::asio::ssl::stream<socket&> stream;
    };
    struct asked {
        pending* by;
        unsigned replies;
        bool until_pong = false;  // the server's error, where it refuses, comes before the PING's
    };

    boost::system::error_code make_socket();
    boost::asio::awaitable<boost::system::error_code> connect();
    [[nodiscard]] bool awaits_answers() const noexcept;
    void close_socket() noexcept;
    void put(asked one, std::string text);
    void put_subscription(pending* by, std::string text);
    void flush();
    void flush_later();
    void wrote(boost::system::error_code ec);
    void make_room();
    [[nodiscard]] boost::system::error_code parse_node(std::string_view message, bool& more);
    boost::system::error_code parse(const std::function<void(const reply&)>& pushed);
    void deliver(reply message);
    void cancel(std::uint64_t number);
    void forget(std::uint64_t number) noexcept;

    const options& where_;
    const boost::asio::any_io_executor strand_;
    socket socket_;
    core::close_on_fork kept_from_forks_;
    std::unique_ptr<secured> tls_;
    address server_;
    bool opened_ = false;
    bool shakes_hands_ = false;
    bool closed_ = false;
    bool met_tls_ = false;  // a port that was to be without it answered so

    std::deque<asked> asked_;  // in the order of their replies
    std::uint64_t first_ = 0;  // the number of the front one

    std::string to_send_;
    std::string sending_;
    bool flushing_ = false;  // a write is under way, or will be at the end of this turn
    boost::system::error_code write_failed_;

    std::vector<char> read_;
    std::size_t begin_ = 0;  // of what was read and not yet understood
    std::size_t end_ = 0;
    boost::redis::resp3::parser parser_;
    bool in_body_ = false;  // of a string whose head was read
    reply_checker checker_{handshake_limits};
    reply_builder builder_;
};

}  // namespace pawl::redis
