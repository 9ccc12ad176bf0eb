// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A statement that does not fit into the socket, while the server sends much.
#include <pawl/guard/async_postgres.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <gtest/gtest.h>

#include <libpq-fe.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;
using namespace std::string_literals;

constexpr std::size_t large_size = std::size_t{48} << 20;

// Big-endian, as in the protocol.
std::string number_of(std::size_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8)
        bytes += static_cast<char>((value >> shift) & 0xff);
    return bytes;
}

std::string message(char type, const std::string& body) {
    return type + number_of(body.size() + 4) + body;
}

// A server that answers one statement. It reads nothing of it until its notices are sent.
class talkative_server {
public:
    talkative_server() : thread_([this] { run(); }) {}

    [[nodiscard]] std::string address() const {
        return "host=127.0.0.1 sslmode=disable gssencmode=disable user=x dbname=x port=" +
               std::to_string(acceptor_.local_endpoint().port());
    }

private:
    void run() {
        auto socket = acceptor_.accept();
        read_body(socket);
        const auto ready = message('Z', "I");
        send(socket, message('R', number_of(0)) + ready);
        const auto notice = message('N', "SNOTICE\0C00000\0M"s + std::string(8000, 'n') + "\0\0"s);
        for (std::size_t sent = 0; sent < large_size; sent += notice.size())
            send(socket, notice);
        std::array<char, 1> type{};
        do {
            asio::read(socket, asio::buffer(type));
            read_body(socket);
        } while (type[0] != 'S');
        send(socket, message('1', "") + message('2', "") + message('n', "") +
                         message('C', "SELECT 0\0"s) + ready);
        boost::system::error_code end;
        asio::read(socket, asio::buffer(type), end);  // the client's farewell
    }
    static void read_body(tcp::socket& socket) {
        std::array<unsigned char, 4> bytes{};
        asio::read(socket, asio::buffer(bytes));
        std::size_t length = 0;
        for (const auto each : bytes)
            length = (length << 8) | each;
        std::string body(length - 4, '\0');
        asio::read(socket, asio::buffer(body));
    }
    static void send(tcp::socket& socket, const std::string& bytes) {
        asio::write(socket, asio::buffer(bytes));
    }

    asio::io_context loop_;
    tcp::acceptor acceptor_{loop_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
    std::jthread thread_;
};

// Each side would wait for the other one to read.
TEST(GuardAsyncPostgres, ALargeStatementIsSentWhileTheServerSendsMuch) {
    const talkative_server server;
    const std::unique_ptr<PGconn, decltype(&::PQfinish)> handle(
        ::PQconnectdb(server.address().c_str()), &::PQfinish);
    ASSERT_EQ(::PQstatus(handle.get()), CONNECTION_OK) << ::PQerrorMessage(handle.get());
    ::PQsetNoticeReceiver(
        handle.get(), [](void*, const PGresult*) {}, nullptr);
    asio::io_context loop;
    pawl::guard::async_postgres_connection view(loop.get_executor(), handle.get());
    const pawl::guard::statement large{"SELECT $1", {std::string(large_size, 'x')}};
    bool has_ended = false;
    std::exception_ptr failure;
    asio::co_spawn(loop, view.execute(large),
                   [&](const std::exception_ptr& problem, const pawl::guard::rows&) {
                       failure = problem;
                       has_ended = true;
                   });
    loop.run_for(2min);
    EXPECT_TRUE(has_ended) << "both wait for the other one to read";
    if (!has_ended) ::shutdown(::PQsocket(handle.get()), SHUT_RDWR);
    if (failure) std::rethrow_exception(failure);
}

}  // namespace
