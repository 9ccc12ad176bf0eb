// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "member_requests.hpp"

#include "node_request.hpp"

#include "../transport/numbers.hpp"
#include "../transport/server_errors.hpp"

#include "../../core/util/random.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace asio = boost::asio;

namespace pawl::redlock {

asio::awaitable<void> member_requests::ask_standing(std::size_t node, reports& into) {
    try {
        const standing_call call{nodes_.set()};
        const auto asked_at = nodes_.now();
        const auto answer = co_await ask_node(nodes_.link_of(node), call, reply_deadline(), always,
                                              &known_scripts_);
        timing_.note_round_trip(node, nodes_.now() - asked_at);
        redis::throw_if_error(answer, nodes_.name_of(node));
        into[node] = call.read(answer);
    } catch (const error& e) {
        nodes_.note_trouble(node, e.what());
    }
}

asio::awaitable<member_requests::reports> member_requests::prepare_all() {
    reports result(nodes_.size());
    std::vector<asio::awaitable<void>> requests;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (nodes_[i].state != standing::unsuitable) requests.push_back(prepare_one(i, result));
    co_await client_.join(std::move(requests));
    co_return result;
}

std::string member_requests::new_nonce(std::size_t node) {
    return make_nonce(core::random_hex(*context_.time, 16), nodes_.link_of(node).current().epoch);
}

asio::awaitable<void> member_requests::prepare_one(std::size_t node, reports& into) {
    try {
        const auto nonce = new_nonce(node);
        const prepare_call call{nodes_.set(), nonce};
        const auto answer = co_await ask_node(nodes_.link_of(node), call, reply_deadline(), always,
                                              &known_scripts_);
        redis::throw_if_error(answer, nodes_.name_of(node));
        auto report = call.read(answer);
        nodes_.adopt(node, report);
        if (nodes_[node].state != standing::unsuitable) into[node] = std::move(report);
    } catch (const error& e) {
        nodes_.note_trouble(node, e.what());
    }
}

asio::awaitable<void> member_requests::read_clock(std::size_t node, clocks& into) {
    const std::array<std::string_view, 1> ask{"TIME"};
    if (!nodes_.link_of(node).connected()) co_return;
    try {
        const auto answer = co_await nodes_.link_of(node).exec(ask, reply_deadline());
        redis::throw_if_error(answer, nodes_.name_of(node));
        if (answer.items.size() != 2) co_return;
        const auto seconds =
            std::clamp<std::int64_t>(redis::parse_number(answer.items[0]), 0, 1LL << 40);
        const std::chrono::microseconds shown(seconds * 1'000'000 +
                                              redis::parse_number(answer.items[1]) % 1'000'000);
        into[node] = shown - std::chrono::duration_cast<std::chrono::microseconds>(
                                 nodes_.now().time_since_epoch());
    } catch (const error& e) {
        nodes_.note_trouble(node, e.what());
    }
}

asio::awaitable<member_requests::clocks> member_requests::read_clocks() {
    clocks result(nodes_.size());
    std::vector<asio::awaitable<void>> requests;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        requests.push_back(read_clock(i, result));
    co_await client_.join(std::move(requests));
    co_return result;
}

asio::awaitable<member_requests::mark_answers> member_requests::mark_at_others(
    std::size_t node, std::string nonce, std::int64_t incarnation) {
    const mark_call call{nodes_.set(), std::to_string(node), std::to_string(incarnation), nonce};
    mark_answers answers(nodes_.size());
    std::vector<asio::awaitable<void>> requests;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (i != node && nodes_[i].is_member()) requests.push_back(mark_at(i, call, answers[i]));
    co_await client_.join(std::move(requests));
    co_return answers;
}

asio::awaitable<void> member_requests::mark_at(std::size_t node, const mark_call& call,
                                               std::optional<mark_call::answer>& into) {
    try {
        const auto reply = co_await ask_node(nodes_.link_of(node), call, reply_deadline());
        redis::throw_if_error(reply, nodes_.name_of(node));
        auto answer = call.read(reply);
        if (answer.is_marked && is_sound(answer.member, answer.highest, nodes_.size()))
            into = std::move(answer);
    } catch (const error& e) {
        nodes_.note_trouble(node, e.what());
    }
}

asio::awaitable<bool> member_requests::install(std::size_t node, install_call call) {
    try {
        const auto answer = co_await ask_node(nodes_.link_of(node), call, reply_deadline(), always,
                                              &known_scripts_);
        redis::throw_if_error(answer, nodes_.name_of(node));
        co_return call.read(answer);
    } catch (const error& e) {
        nodes_.note_trouble(node, e.what());
        co_return false;
    }
}

asio::awaitable<void> member_requests::install_if_new(std::size_t node, install_call call,
                                                      bool& into) {
    const bool is_installed = co_await install(node, std::move(call));
    into = into || is_installed;
}

asio::awaitable<bool> member_requests::forget(std::size_t node, std::string only) {
    const auto nonce = new_nonce(node);
    const forget_call call{nodes_.set(), nonce, only};
    const auto answer = co_await ask_node(nodes_.link_of(node), call, reply_deadline());
    redis::throw_if_error(answer, nodes_.name_of(node));
    co_return call.read(answer);
}

asio::awaitable<void> member_requests::leave_server(std::size_t node) {
    const std::array<std::string_view, 1> quit{"QUIT"};
    try {
        static_cast<void>(co_await nodes_.link_of(node).exec(quit, reply_deadline()));
    } catch (const error&) {}  // the connection has ended by itself
}

asio::awaitable<void> member_requests::end_quarantine(std::size_t node, const std::string& nonce) {
    const end_quarantine_call call{nodes_.set(), nonce};
    const auto answer = co_await ask_node(nodes_.link_of(node), call, reply_deadline());
    redis::throw_if_error(answer, nodes_.name_of(node));
}

}  // namespace pawl::redlock
