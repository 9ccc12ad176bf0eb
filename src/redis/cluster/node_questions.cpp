// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "node_questions.hpp"

#include "cluster_view.hpp"

#include "../transport/handshake.hpp"
#include "../transport/server_errors.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace asio = boost::asio;

namespace pawl::redis {
namespace {

// Of the replication id, in its hexadecimal digits. Each acquire and release has them. A promotion
// that no question noticed is missed once in 2^32 cases.
constexpr std::size_t replication_size = 8;

}  // namespace

asio::awaitable<std::string> query_replication_id(std::shared_ptr<link> asked, std::string name,
                                                  time_point give_up_at) {
    const std::array<std::string_view, 2> words{"INFO", "replication"};
    const auto answer = co_await asked->exec(words, give_up_at);
    throw_if_error(answer, name);
    const auto id = info_field("\n" + answer.text, "master_replid");
    if (id.size() < replication_size ||
        id.find_first_not_of("0123456789abcdef") != std::string::npos)
        throw error(errc::protocol, name +
                                        ": an unexpected reply to INFO replication; run `pawl "
                                        "doctor` to see what kind of server this is.");
    co_return id.substr(0, replication_size);
}

asio::awaitable<std::vector<listed_node>> query_view(std::shared_ptr<link> asked, std::string name,
                                                     bool uses_tls, time_point give_up_at) {
    const std::array<std::string_view, 2> words{"CLUSTER", "NODES"};
    const auto answer = co_await asked->exec(words, give_up_at);
    if (answer.type == reply::kind::error &&
        answer.text.find("cluster support disabled") != std::string::npos)
        throw error(errc::unsupported, name + " is no node of a cluster; write " +
                                           (uses_tls ? "rediss://" : "redis://") + name +
                                           " for this server alone.");
    throw_if_error(answer, name);
    auto view = parse_node_list(answer.text);
    if (view.empty())
        throw error(errc::protocol, name +
                                        ": an unexpected reply to CLUSTER NODES; run `pawl doctor` "
                                        "to see what kind of server this is.");
    co_return view;
}

std::exception_ptr slots_objection(const std::vector<listed_node>& view, const std::string& seed) {
    const auto has_slots = [](const listed_node& each) { return !each.slots.empty(); };
    if (std::ranges::any_of(view, has_slots)) return nullptr;
    return std::make_exception_ptr(
        error(errc::unavailable,
              seed + " knows no node with slots; join it to the cluster with CLUSTER MEET and "
                     "assign the slots, or give a node of the right cluster."));
}

void throw_if_replaced(const std::vector<listed_node>& view, const seed& asked) {
    const auto& myself = find_myself(view);
    if (!asked.node_id.empty() && myself.id != asked.node_id)
        throw error(errc::unavailable,
                    "The node " + text_of(asked.server) + " is another one by now");
}

error with_node_advice(const error& refusal) {
    std::string sentence = refusal.what();
    const bool is_about_user = sentence.find("\"WRONGPASS") != std::string::npos ||
                               sentence.find("\"NOAUTH") != std::string::npos;
    if (!is_about_user) return refusal;
    if (sentence.ends_with('.')) sentence.pop_back();
    return {refusal.reason(),
            sentence + ", and set the same user at all nodes: each node has users of its own."};
}

}  // namespace pawl::redis
