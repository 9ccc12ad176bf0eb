// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "outside_client.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <stdexcept>

namespace shop {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using http_request = http::request<http::string_body>;

asio::awaitable<answer> receive_answer(const outside_address& address,
                                       const http_request& request) {
    boost::beast::tcp_stream stream(co_await asio::this_coro::executor);
    stream.expires_after(address.limit);
    co_await stream.async_connect({asio::ip::address_v4::loopback(), address.port},
                                  asio::use_awaitable);
    co_await http::async_write(stream, request, asio::use_awaitable);
    boost::beast::flat_buffer buffer;
    http::response<http::string_body> response;
    co_await http::async_read(stream, buffer, response, asio::use_awaitable);
    co_return answer{response.result_int(), response.body()};
}

answer call(const outside_address& address, http_request request) {
    request.set(http::field::host, "127.0.0.1");
    request.prepare_payload();
    asio::io_context context;
    answer received;
    std::exception_ptr failure;
    asio::co_spawn(context, receive_answer(address, request),
                   [&](std::exception_ptr thrown, answer result) {
                       failure = thrown;
                       received = std::move(result);
                   });
    context.run();
    try {
        if (failure) std::rethrow_exception(failure);
    } catch (const boost::system::system_error& error) {
        return {504, "no answer: " + error.code().message()};
    }
    return received;
}

}  // namespace

answer outside_partner::post(const std::string& path, const std::string& body,
                             const header_list& headers) {
    http_request request(http::verb::post, path, 11, body);
    for (const auto& [name, content] : headers)
        request.set(name, content);
    return call(address_, std::move(request));
}

std::string outside_source::state(const std::string& order) {
    auto page = call(address_, http_request(http::verb::get, "/" + page_ + "/" + order, 11));
    if (page.status != 200)
        throw std::runtime_error("The state of " + order + " is not known: " + page.body);
    return page.body;
}

void outside_source::set_state(const std::string& order, const std::string& state) {
    const auto page =
        call(address_, http_request(http::verb::post, "/" + page_ + "/" + order, 11, state));
    if (page.status != 200)
        throw std::runtime_error("The state of " + order + " cannot be set: " + page.body);
}

}  // namespace shop
