// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The client of HTTP, against a server that answers as it should not.
#include "http/client.hpp"

#include <support/eventually.hpp>
#include <support/http_server.hpp>
#include <support/resp.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace http = pawl::http;
using namespace std::chrono_literals;
using support::http_answer;
using support::http_request;
using support::http_server;

constexpr auto long_limit = 60s;

class HttpClient : public testing::Test {
protected:
    ~HttpClient() override {
        if (client) asio::post(strand, [this] { client->close(); });
        work.reset();
        thread.join();
    }

    void make_client(const std::vector<std::uint16_t>& ports) {
        http::client_settings settings;
        settings.product = "Store";
        for (const auto port : ports)
            settings.servers.push_back({"127.0.0.1", port, {}, {}});
        pawl::spi::backend_context context;
        context.strand = strand;
        context.time = &pawl::spi::real_runtime();
        client = std::make_shared<http::client>(std::move(settings), context);
    }
    static http::request request_of(const std::string& method, const std::string& target) {
        http::request sent;
        sent.method = method;
        sent.target = target;
        return sent;
    }
    std::future<http::response> begin(http::request sent, pawl::duration limit = long_limit) {
        const auto give_up_at = pawl::boot_clock::now() + limit;
        return asio::co_spawn(strand, client->send(std::move(sent), give_up_at), asio::use_future);
    }
    http::response send(const std::string& method, const std::string& target,
                        pawl::duration limit = long_limit) {
        return begin(request_of(method, target), limit).get();
    }
    // What the error says; empty without one.
    std::string failure_of(const std::string& method, const std::string& target,
                           pawl::duration limit = long_limit) {
        try {
            (void)send(method, target, limit);
        } catch (const http::no_response& failed) {
            return std::string("no response: ") + failed.what();
        } catch (const pawl::error& failed) {
            return failed.what();
        }
        return {};
    }

    asio::io_context loop;
    asio::executor_work_guard<asio::io_context::executor_type> work{loop.get_executor()};
    asio::any_io_executor strand = asio::make_strand(loop);
    std::thread thread{[this] { loop.run(); }};
    std::shared_ptr<http::client> client;
};

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST_F(HttpClient, RequestsShareAConnection) {
    http_server server([](const http_request& received) {
        return http_answer(200, received.method + received.target + received.body, "X-A: b\r\n");
    });
    make_client({server.port()});
    for (int i = 0; i < 5; ++i) {
        auto sent = request_of("PUT", "/a?b");
        sent.body = "body";
        const auto received = begin(sent).get();
        EXPECT_EQ(received.status, 200U);
        EXPECT_EQ(received.body, "PUT/a?bbody");
        EXPECT_EQ(received.header("x-a"), "b");
    }
    EXPECT_EQ(server.connections(), 1U);
}

TEST_F(HttpClient, ABodyMayComeInChunks) {
    http_server server([](const http_request&) {
        return "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
               "chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
    });
    make_client({server.port()});
    EXPECT_EQ(send("GET", "/").body, "abc");
    EXPECT_EQ(send("GET", "/").body, "abc");
    EXPECT_EQ(server.connections(), 1U);
}

TEST_F(HttpClient, AnAnswerThatClosesIsRead) {
    http_server server(
        [](const http_request&) { return http_answer(200, "x", "Connection: close\r\n"); });
    make_client({server.port()});
    EXPECT_EQ(send("GET", "/").body, "x");
    EXPECT_EQ(send("GET", "/").body, "x");
    EXPECT_EQ(server.connections(), 2U);
}

TEST_F(HttpClient, WhatIsNoHttpIsAnErrorThatLasts) {
    http_server server([](const http_request&) { return "SSH-2.0-OpenSSH_9\r\n"; });
    make_client({server.port()});
    EXPECT_TRUE(has(failure_of("GET", "/"), "sent what is no response of HTTP"));
}

TEST_F(HttpClient, LargeAnswersAreRefused) {
    http_server server([](const http_request& received) {
        if (received.target == "/body") return http_answer(200, std::string(1100000, 'x'));
        return http_answer(200, "", "X: " + std::string(20000, 'x') + "\r\n");
    });
    make_client({server.port()});
    EXPECT_TRUE(has(failure_of("GET", "/body"), "no response of HTTP"));
    EXPECT_TRUE(has(failure_of("GET", "/head"), "no response of HTTP"));
}

TEST_F(HttpClient, AnEndWithoutAnAnswerIsUnknown) {
    http_server server([](const http_request&) { return std::string(); });
    make_client({server.port()});
    EXPECT_TRUE(has(failure_of("PUT", "/"), "no response: Store at 127.0.0.1"));
    EXPECT_EQ(server.requests(), 1U);
}

TEST_F(HttpClient, HalfAnAnswerIsUnknown) {
    http_server server([](const http_request&) {
        return "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nabc";
    });
    make_client({server.port()});
    EXPECT_TRUE(has(failure_of("GET", "/", 1s), "no response"));
}

TEST_F(HttpClient, ASilentServerHasALimit) {
    std::binary_semaphore may_end(0);
    {
        http_server server([&](const http_request&) {
            may_end.acquire();
            return std::string();
        });
        make_client({server.port()});
        EXPECT_TRUE(has(failure_of("PUT", "/", 300ms), "no answer within"));
        EXPECT_TRUE(has(client->failure(), "no answer within"));
        may_end.release();
    }
}

// The server ends connections that nobody uses. A request that changes data must not be repeated.
TEST_F(HttpClient, AConnectionThatWasEndedIsReplaced) {
    http_server server([](const http_request&) { return http_answer(200, "x"); });
    make_client({server.port()});
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(send("PUT", "/").body, "x");
        server.end_connections();
        EXPECT_TRUE(support::eventually([&] { return server.open_connections() == 0; }));
    }
    EXPECT_EQ(server.requests(), 5U);
}

TEST_F(HttpClient, TheNextServerIsUsedIfOneIsAway) {
    http_server server([](const http_request&) { return http_answer(200, "x"); });
    make_client({support::free_port(), server.port()});
    EXPECT_EQ(send("GET", "/").body, "x");
    EXPECT_EQ(client->server_name(), "127.0.0.1:" + std::to_string(server.port()));
    client->leave_server("127.0.0.1:1");
    EXPECT_EQ(client->server_name(), "127.0.0.1:" + std::to_string(server.port()));
}

TEST_F(HttpClient, NoServerIsAnErrorThatChangesNothing) {
    make_client({support::free_port(), support::free_port()});
    const auto failure = failure_of("PUT", "/");
    EXPECT_TRUE(has(failure, "cannot be reached: Connection refused; check")) << failure;
    EXPECT_FALSE(has(failure, "no response"));
}

// Five requests at a time have four connections; a request that waits has one of its own.
TEST_F(HttpClient, ConnectionsHaveABound) {
    std::counting_semaphore<64> may_answer(0);
    http_server server([&](const http_request& received) {
        may_answer.acquire();
        return http_answer(200, received.target);
    });
    make_client({server.port()});
    std::vector<std::future<http::response>> pending;
    for (int i = 0; i < 10; ++i)
        pending.push_back(begin(request_of("GET", "/" + std::to_string(i))));
    EXPECT_TRUE(support::eventually([&] { return server.requests() == 4; }));
    auto waits = request_of("GET", "/long");
    waits.is_long = true;
    auto long_answer = begin(waits);
    EXPECT_TRUE(support::eventually([&] { return server.requests() == 5; }));
    may_answer.release(11);
    for (std::size_t i = 0; i < pending.size(); ++i)
        EXPECT_EQ(pending[i].get().body, "/" + std::to_string(i));
    EXPECT_EQ(long_answer.get().body, "/long");
    EXPECT_LE(server.connections(), 11U);
}

TEST_F(HttpClient, ACancelledRequestEndsItsConnection) {
    std::binary_semaphore may_end(0);
    {
        http_server server([&](const http_request&) {
            may_end.acquire();
            return std::string();
        });
        make_client({server.port()});
        asio::cancellation_signal cancellation;
        std::promise<bool> was_cancelled;
        const auto on_end = [&](const std::exception_ptr& thrown, const http::response&) {
            try {
                if (thrown) std::rethrow_exception(thrown);
                was_cancelled.set_value(false);
            } catch (const boost::system::system_error& failed) {
                was_cancelled.set_value(failed.code() == asio::error::operation_aborted);
            }
        };
        asio::co_spawn(strand,
                       client->send(request_of("GET", "/"), pawl::boot_clock::now() + long_limit),
                       asio::bind_cancellation_slot(cancellation.slot(), on_end));
        EXPECT_TRUE(support::eventually([&] { return server.requests() == 1; }));
        asio::post(strand, [&] { cancellation.emit(asio::cancellation_type::terminal); });
        EXPECT_TRUE(was_cancelled.get_future().get());
        may_end.release();
    }
}

TEST_F(HttpClient, AClosedClientEndsItsRequests) {
    std::binary_semaphore may_end(0);
    {
        http_server server([&](const http_request&) {
            may_end.acquire();
            return std::string();
        });
        make_client({server.port()});
        auto pending = begin(request_of("GET", "/"));
        EXPECT_TRUE(support::eventually([&] { return server.requests() == 1; }));
        asio::post(strand, [this] { client->close(); });
        EXPECT_THROW((void)pending.get(), pawl::error);
        EXPECT_EQ(failure_of("GET", "/"), "The client is closed.");
        may_end.release();
    }
}

}  // namespace
