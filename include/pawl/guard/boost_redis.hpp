// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Redis over a connection of Boost.Redis, for coroutines. As Boost.Redis requires, one source of
// the program includes boost/redis/src.hpp.
#pragma once

#include <pawl/error.hpp>
#include <pawl/guard/async_redis.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/redis/connection.hpp>

#include <charconv>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace pawl::guard {

// A view of a running connection, which must outlive it: the caller has started its async_run.
// Several coroutines may use it at the same time, on the connection's executor.
class boost_redis_connection final : public async_redis_connection {
public:
    // Nothing is sent yet.
    explicit boost_redis_connection(boost::redis::connection& connection) noexcept
        : connection_(connection) {}

    // Throws errc::unreachable if no answer came, and errc::cancelled if it was cancelled. Waits
    // for a connection if there is none, and never sends a command twice.
    boost::asio::awaitable<redis_reply> execute(const redis_command& command) override {
        boost::redis::request request;  // by default never sent again after a lost connection
        if (command.size() == 1)
            request.push(command.front());
        else
            request.push_range(command.front(), command.begin() + 1, command.end());
        boost::redis::generic_response response;
        const auto completion = co_await connection_.async_exec(
            request, response, boost::asio::as_tuple(boost::asio::deferred));
        const boost::system::error_code failure = std::get<0>(completion);
        // Boost.Redis also aborts an operation whose connection was lost.
        const auto cancellation = co_await boost::asio::this_coro::cancellation_state;
        if (failure && cancellation.cancelled() != boost::asio::cancellation_type::none)
            throw pawl::error(errc::cancelled,
                              "The command was cancelled; Redis may have executed it.");
        if (failure)
            throw pawl::error(errc::unreachable, "There is no answer from Redis (" +
                                                     failure.message() +
                                                     "); it may have executed the command.");
        if (response.has_error()) {
            redis_reply refusal{.type = redis_reply::kind::error};
            refusal.text = response.error().diagnostic;
            co_return refusal;
        }
        co_return convert(response.value());
    }

private:
    // The nodes of the reply's tree, each before those inside it.
    template <class Nodes>
    static redis_reply convert(const Nodes& nodes) {
        redis_reply root;
        std::vector<redis_reply*> around;  // the arrays around the present node
        for (const auto& node : nodes) {
            around.resize(node.depth);
            redis_reply& item = around.empty() ? root : around.back()->items.emplace_back();
            set(item, node.data_type, std::string(node.value));
            around.push_back(&item);
        }
        return root;
    }
    static void set(redis_reply& item, boost::redis::resp3::type kind, std::string text) {
        using boost::redis::resp3::type;
        switch (kind) {
        case type::array:
        case type::map:
        case type::set:
        case type::push:
        case type::attribute: item.type = redis_reply::kind::array; return;
        case type::null: return;
        case type::number:
            item.type = redis_reply::kind::integer;
            std::from_chars(text.data(), text.data() + text.size(), item.integer);
            return;
        case type::boolean:
            item.type = redis_reply::kind::integer;
            item.integer = text == "t" ? 1 : 0;
            return;
        default: item.type = redis_reply::kind::bytes; item.text = std::move(text);
        }
    }

    boost::redis::connection& connection_;
};

}  // namespace pawl::guard
