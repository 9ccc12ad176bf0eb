// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "query.hpp"

#include "../transport/handshake.hpp"
#include "../transport/numbers.hpp"
#include "../transport/server_errors.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace asio = boost::asio;

namespace pawl::redis {
namespace {

template <class Number>
Number number_of(const reply& map, std::string_view name) {
    return parse_number<Number>(field_of(map, name));
}

bool is_unknown_master(const reply& answer) {
    return answer.type == reply::kind::error &&
           answer.text.find("No such master") != std::string::npos;
}

asio::awaitable<std::string> known_masters(link& sentinel_link, time_point give_up_at) {
    const std::array<std::string_view, 2> words{"SENTINEL", "MASTERS"};
    const auto masters = co_await sentinel_link.exec(words, give_up_at);
    std::string names;
    for (const auto& each : masters.items)
        names.append(names.empty() ? "" : ", ").append(field_of(each, "name"));
    co_return names;
}

// The reply to `SENTINEL MASTER name` or `SENTINEL SENTINELS name`.
asio::awaitable<reply> ask(link& sentinel_link, std::string_view command, const std::string& name,
                           const std::string& subject, time_point give_up_at) {
    const std::array<std::string_view, 3> words{"SENTINEL", command, name};
    auto answer = co_await sentinel_link.exec(words, give_up_at);
    if (is_unknown_master(answer)) {
        const auto names = co_await known_masters(sentinel_link, give_up_at);
        throw error(errc::bad_option, subject + " knows no master '" + name + "'; " +
                                          (names.empty() ? "it monitors none."
                                                         : "give one of these: " + names + "."));
    }
    throw_if_error(answer, subject);
    co_return answer;
}

asio::awaitable<std::string> query_id(link& sentinel_link, const std::string& subject,
                                      time_point give_up_at) {
    const std::array<std::string_view, 2> words{"SENTINEL", "MYID"};
    const auto answer = co_await sentinel_link.exec(words, give_up_at);
    throw_if_error(answer, subject);
    co_return answer.text;
}

net::endpoint endpoint_at(std::string_view host, std::string_view port, const tls_options& tls) {
    return net::make_endpoint(std::string(host), parse_number<std::uint16_t>(port), tls);
}

}  // namespace

// The Sentinel that leads a failover has the new epoch before MASTER shows the new address, and
// gives the new address to GET-MASTER-ADDR-BY-NAME. Between two commands another failover may come:
//   MASTER: A, epoch 1 | the failover: B, epoch 2 | GET-MASTER-ADDR-BY-NAME: B
// B with epoch 1 would issue tokens like those of A. So the epoch is asked before and after.
asio::awaitable<sentinel_view> query_sentinel(std::shared_ptr<link> sentinel_link,
                                              const options& monitored, std::string subject,
                                              time_point give_up_at) {
    const auto& set = std::get<sentinels>(monitored.where);
    const auto& name = set.master_name;
    sentinel_view view;
    view.id = co_await query_id(*sentinel_link, subject, give_up_at);
    const auto before = co_await ask(*sentinel_link, "MASTER", name, subject, give_up_at);
    const auto address =
        co_await ask(*sentinel_link, "GET-MASTER-ADDR-BY-NAME", name, subject, give_up_at);
    const auto after = co_await ask(*sentinel_link, "MASTER", name, subject, give_up_at);
    const auto others = co_await ask(*sentinel_link, "SENTINELS", name, subject, give_up_at);
    view.master.epoch = number_of<std::uint64_t>(before, "config-epoch");
    if (view.master.epoch != number_of<std::uint64_t>(after, "config-epoch") ||
        address.items.size() != 2)
        throw error(errc::unavailable, subject + ": a failover is in progress; ask again.");
    view.master.server = endpoint_at(address.items[0].text, address.items[1].text, monitored.tls);
    view.quorum = number_of<std::size_t>(after, "quorum");
    view.replicas = number_of<std::size_t>(after, "num-slaves");
    view.is_down = field_of(after, "flags").find("_down") != std::string_view::npos;
    for (const auto& each : others.items)
        view.peers.push_back({std::string(field_of(each, "runid")),
                              endpoint_at(field_of(each, "ip"), field_of(each, "port"), set.tls)});
    co_return view;
}

}  // namespace pawl::redis
