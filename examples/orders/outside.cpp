// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "outside.hpp"

#include "outside_memory.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <csignal>
#include <cstdio>
#include <map>

namespace shop {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using http_request = http::request<http::string_body>;

// One thread serves all connections.
class outside_service {
public:
    outside_service(const std::string& log, const outside_options& options)
        : memory_(log), options_(options) {}

    asio::awaitable<void> accept(tcp::acceptor& acceptor) {
        for (;;) {
            auto socket = co_await acceptor.async_accept(asio::use_awaitable);
            asio::co_spawn(acceptor.get_executor(), serve(std::move(socket)), asio::detached);
        }
    }

private:
    // An exception ends the connection: the client has closed it, or sent no HTTP.
    asio::awaitable<void> serve(tcp::socket socket) {
        boost::beast::flat_buffer buffer;
        http_request request;
        co_await http::async_read(socket, buffer, request, asio::use_awaitable);
        bool is_lost = false;
        const auto result = is_page(request.target()) ? page(request) : apply(request, is_lost);
        if (is_lost) co_return;
        if (options_.delay.count() > 0) {
            asio::steady_timer timer(socket.get_executor(), options_.delay);
            co_await timer.async_wait(asio::use_awaitable);
        }
        http::response<http::string_body> response(static_cast<http::status>(result.status), 11,
                                                   result.body);
        response.keep_alive(false);
        response.prepare_payload();
        co_await http::async_write(socket, response, asio::use_awaitable);
    }

    static bool is_page(std::string_view target) {
        return target.starts_with("/channel/") || target.starts_with("/platform/");
    }

    answer page(const http_request& request) {
        auto& state = states_.try_emplace(std::string(request.target()), "paid").first->second;
        if (request.method() == http::verb::post) state = request.body();
        return {200, state};
    }

    answer apply(const http_request& request, bool& is_lost) {
        if (request.method() != http::verb::post) return {404, "There is no such page."};
        effect wanted{.key = std::string(request["Idempotency-Key"]),
                      .resource = std::string(request.target()),
                      .body = request.body()};
        if (const std::string_view header = request[guard::fencing_token_field]; !header.empty()) {
            const auto token = guard::parse_fencing_token(header);
            if (!token) return {400, "The Fencing-Token is no token."};
            wanted.token = token->value();
        }
        bool is_first = false;
        auto result = memory_.apply(wanted, is_first);
        is_lost = is_first && is_unanswered(wanted.resource, options_);
        return result;
    }

    outside_memory memory_;
    outside_options options_;
    std::map<std::string, std::string> states_;  // by page
};

}  // namespace

// The hash is FNV-1a: the same in every process.
bool is_unanswered(const std::string& resource, const outside_options& options) {
    std::uint32_t hash = 2166136261;
    for (const char each : resource)
        hash = (hash ^ static_cast<unsigned char>(each)) * 16777619;
    return (hash >> 8) % 1000 < options.unanswered_of_1000;
}

void run_outside(std::uint16_t port, const std::string& log, const outside_options& options) {
    asio::io_context context;
    tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), port});
    outside_service service(log, options);
    asio::signal_set ending(context, SIGTERM);
    ending.async_wait([&](const boost::system::error_code&, int) { context.stop(); });
    asio::co_spawn(context, service.accept(acceptor), [](std::exception_ptr thrown) {
        if (thrown) std::rethrow_exception(thrown);
    });
    std::printf("listening %u\n", static_cast<unsigned>(acceptor.local_endpoint().port()));
    std::fflush(stdout);
    context.run();
}

}  // namespace shop
