// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The header Idempotency-Key for servers with Boost.Beast: pawl/guard/idempotency_key.hpp has the
// promises, the answers and the errors. Request and response have string bodies.
#pragma once

#include <pawl/guard/async_idempotency_key.hpp>

#include <boost/beast/http/field.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace pawl::guard {

// The messages of Beast that these functions take and return.
using beast_request = boost::beast::http::request<boost::beast::http::string_body>;
using beast_response = boost::beast::http::response<boost::beast::http::string_body>;

// Handles the request; the attempt has no key if the request has none.
using beast_handler = std::function<beast_response(const beast_request&, const attempt&)>;
using async_beast_handler =
    std::function<boost::asio::awaitable<beast_response>(const beast_request&, const attempt&)>;

// The parts of the request that count, as in idempotent_request.
[[nodiscard]] inline idempotent_request to_idempotent(const beast_request& request,
                                                      std::string principal, std::string route) {
    idempotent_request result;
    result.principal = std::move(principal);
    result.method = std::string(request.method_string());
    result.route = std::move(route);
    result.target = std::string(request.target());
    result.body = request.body();
    const auto keys = request.equal_range("Idempotency-Key");
    for (auto each = keys.first; each != keys.second; ++each)
        result.key_header =
            (result.key_header ? *result.key_header + ", " : "") + std::string(each->value());
    return result;
}

// The response for an answer, with the version and keep-alive of the request.
[[nodiscard]] inline beast_response to_response(const http_answer& answer,
                                                const beast_request& request) {
    beast_response response(static_cast<boost::beast::http::status>(answer.status),
                            request.version(), answer.body);
    for (const auto& [name, content] : answer.headers)
        response.insert(name, content);
    response.keep_alive(request.keep_alive());
    response.prepare_payload();
    return response;
}

// The answer that a response gives, without the headers that belong to one connection or one
// moment.
[[nodiscard]] inline http_answer to_answer(const beast_response& response) {
    using boost::beast::http::field;
    http_answer answer{.status = response.result_int(), .body = response.body()};
    for (const auto& each : response) {
        switch (each.name()) {
        case field::connection:
        case field::keep_alive:
        case field::transfer_encoding:
        case field::content_length:
        case field::upgrade:
        case field::trailer:
        case field::date:
        case field::set_cookie: break;
        default:
            answer.headers.emplace_back(std::string(each.name_string()), std::string(each.value()));
        }
    }
    return answer;
}

// As `idempotent`. The route is the pattern that the server's router has matched.
[[nodiscard]] inline beast_response idempotent(const beast_request& request, std::string principal,
                                               std::string route,
                                               const idempotency_options& options,
                                               const http_once& run_once,
                                               const beast_handler& handler) {
    const http_handler handle = [&](const attempt& present) {
        return to_answer(handler(request, present));
    };
    const auto parts = to_idempotent(request, std::move(principal), std::move(route));
    return to_response(idempotent(parts, options, run_once, handle), request);
}

}  // namespace pawl::guard

namespace pawl::detail {

inline boost::asio::awaitable<guard::http_answer> handle_request(
    const guard::beast_request& request, const guard::async_beast_handler& handler,
    const guard::attempt& present) {
    const guard::beast_response response = co_await handler(request, present);
    co_return guard::to_answer(response);
}

}  // namespace pawl::detail

namespace pawl::guard {

// As `async_idempotent` of the other header. All references must outlive the operation.
[[nodiscard]] inline boost::asio::awaitable<beast_response> async_idempotent(
    const beast_request& request, std::string principal, std::string route,
    idempotency_options options, const async_http_once& run_once,
    const async_beast_handler& handler) {
    const async_http_handler handle = [&request, &handler](const attempt& present) {
        return detail::handle_request(request, handler, present);
    };
    auto parts = to_idempotent(request, std::move(principal), std::move(route));
    const http_answer answer =
        co_await async_idempotent(std::move(parts), options, run_once, handle);
    co_return to_response(answer, request);
}

}  // namespace pawl::guard
