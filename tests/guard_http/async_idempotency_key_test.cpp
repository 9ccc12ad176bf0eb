// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "payment_server.hpp"

#include <pawl/guard/async_sqlite.hpp>
#include <support/eventually.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <future>

namespace {

using namespace guard_tests;
using boost::asio::awaitable;
using boost::beast::http::field;
namespace http = boost::beast::http;

// A server of coroutines on one thread, with a database connection for each client.
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

    std::atomic<int> waiting = 0;

private:
    awaitable<void> accept() {
        for (;;) {
            tcp::socket socket = co_await acceptor_.async_accept(boost::asio::use_awaitable);
            boost::asio::co_spawn(context_, serve(std::move(socket)), boost::asio::detached);
        }
    }
    // The event loop goes on while a request waits.
    awaitable<beast_response> handle(guard::connection& db, const beast_request& request) {
        if (request.body() == "wait") ++waiting;
        while (request.body() == "wait" && !bank_.may_go_on) {
            boost::asio::steady_timer timer(context_, std::chrono::milliseconds(2));
            co_await timer.async_wait(boost::asio::use_awaitable);
        }
        beast_response response = bank_.handle(db, request);
        co_return response;
    }
    awaitable<void> serve(tcp::socket socket) {
        const sqlite_handle handle_of_client = open_database(bank_.path());
        guard::async_sqlite_connection db(worker_.get_executor(), handle_of_client.get());
        guard::sqlite_connection blocking_db(handle_of_client.get());
        const guard::async_http_once once = [&db](guard::once_key key,
                                                  const guard::async_once_work& work) {
            guard::once_options options{};
            options.wait = {};
            return guard::async_once(db, std::move(key), options, work);
        };
        const guard::async_beast_handler handler =
            [this, &blocking_db](const beast_request& request, const guard::attempt&) {
                return handle(blocking_db, request);
            };
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

// Interleaving: the first request has claimed the key and begun its transaction when the second one
// comes. It must neither run nor wait for the database.
TEST(AsyncPayments, ThatStillRunAreAConflict) {
    coroutine_server server;
    const header_list key{{"Idempotency-Key", "a"}};
    auto first = std::async(std::launch::async,
                            [&] { return http_client(server.port()).post("wait", key); });
    ASSERT_TRUE(support::eventually([&] { return server.waiting == 1; }));
    http_client client(server.port());
    const auto second = client.post("wait", key);
    EXPECT_EQ(second.result_int(), 409U);
    EXPECT_NE(second.body().find("request_in_progress"), std::string::npos);
    EXPECT_GE(std::stoi(std::string(second[field::retry_after])), 1);
    server.bank().may_go_on = true;
    EXPECT_EQ(first.get().result_int(), 201U);
    EXPECT_EQ(client.post("wait", key)["Idempotent-Replayed"], "true");
    EXPECT_EQ(server.bank().count(), 1);
}

}  // namespace
