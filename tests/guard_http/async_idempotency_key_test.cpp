// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "payment_server.hpp"

#include <pawl/guard/async_sqlite.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <gtest/gtest.h>

namespace {

using namespace guard_tests;
using boost::asio::awaitable;
using boost::beast::http::field;
namespace http = boost::beast::http;

// A server of coroutines on one thread, with one database connection.
class coroutine_server {
public:
    coroutine_server() {
        boost::asio::co_spawn(context_, accept(), boost::asio::detached);
        thread_ = std::jthread([this] { context_.run(); });
    }
    ~coroutine_server() {
        context_.stop();
        thread_.join();
        worker_.join();
    }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] payments& bank() noexcept { return bank_; }

private:
    awaitable<void> accept() {
        for (;;) {
            tcp::socket socket = co_await acceptor_.async_accept(boost::asio::use_awaitable);
            boost::asio::co_spawn(context_, serve(std::move(socket)), boost::asio::detached);
        }
    }
    awaitable<guard::once_result> run_once(guard::once_key key,
                                           const guard::async_once_work& work) {
        guard::once_options options{};
        options.wait = {};
        return guard::async_once(db_, std::move(key), options, work);
    }
    awaitable<beast_response> handle(const beast_request& request) {
        beast_response response = bank_.handle(blocking_db_, request);
        co_return response;
    }
    awaitable<void> serve(tcp::socket socket) {
        const guard::async_http_once once = [this](guard::once_key key,
                                                   const guard::async_once_work& work) {
            return run_once(std::move(key), work);
        };
        const guard::async_beast_handler handler =
            [this](const beast_request& request, const guard::attempt&) { return handle(request); };
        boost::beast::flat_buffer buffer;
        for (;;) {
            beast_request request;
            co_await http::async_read(socket, buffer, request, boost::asio::use_awaitable);
            const beast_response response = co_await guard::async_idempotent(
                request, std::string(request["Account"]), "/payments", {}, once, handler);
            co_await http::async_write(socket, response, boost::asio::use_awaitable);
        }
    }

    support::temp_folder folder_;
    payments bank_{folder_.file("payments.db")};
    boost::asio::thread_pool worker_{1};
    sqlite_handle handle_ = open_database(bank_.path());
    guard::async_sqlite_connection db_{worker_.get_executor(), handle_.get()};
    guard::sqlite_connection blocking_db_{handle_.get()};
    boost::asio::io_context context_;
    tcp::acceptor acceptor_{context_, {boost::asio::ip::address_v4::loopback(), 0}};
    std::uint16_t port_ = acceptor_.local_endpoint().port();
    std::jthread thread_;
};

TEST(AsyncPayments, RunOnceAndAreReplayed) {
    coroutine_server server;
    http_client client(server.port());
    const auto first = client.post("pay", {{"Idempotency-Key", "a"}});
    EXPECT_EQ(first.result_int(), 201U);
    EXPECT_EQ(first.count("Idempotent-Replayed"), 0U);
    const auto second = client.post("pay", {{"Idempotency-Key", "\"a\""}});
    EXPECT_EQ(second["Idempotent-Replayed"], "true");
    EXPECT_EQ(second.body(), first.body());
    EXPECT_EQ(second[field::location], first[field::location]);
    EXPECT_EQ(server.bank().count(), 1);
}

TEST(AsyncPayments, AnswerEachMistake) {
    coroutine_server server;
    http_client client(server.port());
    EXPECT_EQ(client.post("pay", {}).result_int(), 400U);
    EXPECT_EQ(client.post("refuse", {{"Idempotency-Key", "r"}}).result_int(), 402U);
    EXPECT_EQ(client.post("refuse", {{"Idempotency-Key", "r"}})["Idempotent-Replayed"], "true");
    EXPECT_EQ(client.post("pay", {{"Idempotency-Key", "r"}}).result_int(), 422U);
    EXPECT_EQ(client.post("busy", {{"Idempotency-Key", "b"}}).result_int(), 503U);
    EXPECT_EQ(client.post("busy", {{"Idempotency-Key", "b"}}).result_int(), 503U);
    const auto large = client.post("large", {{"Idempotency-Key", "l"}});
    EXPECT_EQ(large.result_int(), 500U);
    EXPECT_NE(large.body().find("answer_too_large"), std::string::npos);
    EXPECT_EQ(server.bank().count(), 0);
}

}  // namespace
