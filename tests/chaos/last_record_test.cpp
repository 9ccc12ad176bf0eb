// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A server that closes a TLS connection right after a push and a reply, each in a record of its
// own: the client receives all at once, decrypts the reply after it has noticed the end, and still
// reads the reply.
#include "redis_fixture.hpp"

#include <support/scripted_server.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <string_view>
#include <utility>

namespace {

using namespace chaos;
namespace asio = boost::asio;
using asio::ip::tcp;
using support::lock_is_busy;

constexpr std::string_view push = ">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n";
constexpr std::string_view begin_of_record("\x16\x03\x03\x04\x00\x02", 6);

class tls_server {
public:
    explicit tls_server(const support::temp_folder& certificates) {
        context_.use_certificate_chain_file(certificates.file("server.crt"));
        context_.use_private_key_file(certificates.file("server.key"), asio::ssl::context::pem);
        thread_ = std::jthread([this] { accept_all(); });
    }
    ~tls_server() { ::shutdown(acceptor_.native_handle(), SHUT_RDWR); }
    tls_server(const tls_server&) = delete;
    tls_server& operator=(const tls_server&) = delete;

    [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
    [[nodiscard]] int connections() const noexcept { return connections_; }

private:
    using tls_stream = asio::ssl::stream<tcp::socket>;

    void accept_all() {
        for (;;) {
            boost::system::error_code ec;
            auto socket = acceptor_.accept(ec);
            if (ec) return;
            ++connections_;
            tls_stream stream(std::move(socket), context_);
            stream.handshake(asio::ssl::stream_base::server, ec);
            if (!ec) serve(stream);
        }
    }

    static void serve(tls_stream& stream) {
        std::string unread;
        boost::system::error_code ec;
        for (;;) {
            std::array<char, 4096> received;
            unread.append(received.data(), stream.read_some(asio::buffer(received), ec));
            if (ec) return;
            while (const auto size = support::resp_length(unread)) {
                support::command_words words;
                for (auto& each : support::parse_resp(unread.substr(0, size)).items)
                    words.push_back(std::move(each.text));
                unread.erase(0, size);
                const auto reply = support::handshake_reply(words);
                if (reply.empty()) return end(stream);
                asio::write(stream, asio::buffer(reply), ec);
            }
        }
    }

    // The kernel sends both records and the end together.
    static void end(tls_stream& stream) {
        const int on = 1;
        ::setsockopt(stream.next_layer().native_handle(), IPPROTO_TCP, TCP_CORK, &on, sizeof on);
        boost::system::error_code ignored;
        asio::write(stream, asio::buffer(push), ignored);
        asio::write(stream, asio::buffer(lock_is_busy), ignored);
        stream.next_layer().close(ignored);
    }

    asio::io_context loop_;
    asio::ssl::context context_{asio::ssl::context::tls_server};
    tcp::acceptor acceptor_{loop_, {asio::ip::address_v4::loopback(), 0}};
    std::atomic<int> connections_ = 0;
    std::jthread thread_;
};

TEST(LastRecord, IsReadBeforeTheEndOfTheConnection) {
    const support::redis_server certified({.tls = true});
    const tls_server server(certified.folder());
    pawl::blocking::client locks(
        pawl::from_url("rediss://127.0.0.1:" + std::to_string(server.port()) +
                       "?ca=" + certified.folder().file("ca.crt")));
    const auto lock = locks.try_acquire("it");
    EXPECT_FALSE(lock);
    EXPECT_TRUE(eventually([&] { return server.connections() > 1; }));
}

// The client connects again, long before the time for the handshake is over.
TEST(LastRecord, TheEndOfTheConnectionComesInTheTlsHandshake) {
    asio::io_context loop;
    tcp::acceptor acceptor(loop, {asio::ip::address_v4::loopback(), 0});
    std::atomic<int> connections = 0;
    std::jthread server([&] {
        boost::system::error_code ec;
        for (auto socket = acceptor.accept(ec); !ec; socket = acceptor.accept(ec)) {
            ++connections;
            std::array<char, 4096> hello;
            (void)socket.read_some(asio::buffer(hello), ec);
            const int on = 1;
            ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_CORK, &on, sizeof on);
            asio::write(socket, asio::buffer(begin_of_record), ec);
            socket.close(ec);
        }
    });
    {
        pawl::blocking::client locks(pawl::from_url(
            "rediss://127.0.0.1:" + std::to_string(acceptor.local_endpoint().port()) +
            "?connect_timeout=600000&reply_timeout=600000"));
        EXPECT_THROW((void)locks.acquire("it", {.wait = 1s}), pawl::error);
        EXPECT_TRUE(eventually([&] { return connections > 1; }));
    }
    ::shutdown(acceptor.native_handle(), SHUT_RDWR);
}

}  // namespace
