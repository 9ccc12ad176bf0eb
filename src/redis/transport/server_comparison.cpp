// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "server_comparison.hpp"

#include "connection.hpp"
#include "handshake.hpp"

#include "../../core/util/wakeup.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace asio = boost::asio;

namespace pawl::redis {
namespace {

// The state of one call of `probe_servers`. The coroutines of that call share it.
struct server_probe {
    server_probe(const connection_settings& probe_settings, login probe_login,
                 const std::string& tls_name, const asio::any_io_executor& executor, runtime& time,
                 const net::addresses& candidates)
        : settings(probe_settings),
          used(std::move(probe_login)),
          strand(executor),
          left(candidates.size()),
          finished(time, executor) {
        for (const auto& each : candidates) {
            servers.push_back({each, false, {}, "it took the connection and did not answer"});
            connections.push_back(std::make_shared<connection>(settings, tls_name, strand));
        }
    }

    const connection_settings settings;
    const login used;
    const asio::any_io_executor strand;
    std::vector<probed_server> servers;
    std::vector<std::shared_ptr<connection>> connections;
    std::size_t left;       // the servers that are still being asked
    core::wakeup finished;  // notified when `left` is 0
};

// When reading ends, for any reason, the waiting requests fail. `probe` owns the settings, which
// must outlive the connection.
asio::awaitable<void> read_replies([[maybe_unused]] std::shared_ptr<server_probe> probe,
                                   std::shared_ptr<connection> probed_connection) {
    struct drop_guard {
        std::shared_ptr<connection> dropped;
        ~drop_guard() { dropped->drop_all(); }
    } const guard{probed_connection};
    std::function<void(const reply&)> ignored = [](const reply&) {};
    const auto reason = co_await probed_connection->read(std::move(ignored));
    probed_connection->fail_all(describe_connect_error(reason));
}

void parse_identity(const std::vector<reply>& replies, probed_server& server) {
    for (const auto& each : replies) {
        if (each.type == reply::kind::error) server.trouble = "it says \"" + each.text + "\"";
    }
    if (replies.back().type != reply::kind::string) return;
    server.run_id = info_field(replies.back().text, "run_id");
    if (server.run_id.empty()) server.trouble = "its INFO has no run_id";
}

asio::awaitable<void> query_identity(std::shared_ptr<server_probe> probe, std::size_t index) {
    const auto probed_connection = probe->connections[index];
    auto& server = probe->servers[index];
    const auto failure = co_await probed_connection->open(server.server_address);
    server.was_reached =
        probed_connection->was_opened() || probed_connection->is_in_tls_handshake();
    if (failure) {
        server.trouble = describe_connect_error(failure);
        co_return;
    }
    asio::co_spawn(probe->strand, read_replies(probe, probed_connection), asio::detached);
    const auto commands_sent = identity_commands(probe->used);
    pending_request request;
    probed_connection->send(&request, commands_sent.text, commands_sent.replies);
    co_await request.async_wait();
    try {
        request.throw_if_failed("it");
    } catch (const error&) {
        // A server that refuses a client says so once, and closes.
        if (request.earlier_replies.empty()) throw;
        request.last_reply = request.earlier_replies.back();
    }
    request.earlier_replies.push_back(std::move(request.last_reply));
    parse_identity(request.earlier_replies, server);
}

asio::awaitable<void> probe_server(std::shared_ptr<server_probe> probe, std::size_t index) {
    try {
        co_await query_identity(probe, index);
    } catch (const std::exception& e) {
        probe->servers[index].trouble = e.what();
    }
    probe->connections[index]->close();
    if (--probe->left == 0) probe->finished.notify();
}

}  // namespace

asio::awaitable<std::vector<probed_server>> probe_servers(const connection_settings& settings,
                                                          login used, std::string tls_name,
                                                          asio::any_io_executor strand,
                                                          runtime& time,
                                                          const net::addresses& candidates,
                                                          time_point give_up_at) {
    const auto probe = std::make_shared<server_probe>(settings, std::move(used), tls_name, strand,
                                                      time, candidates);
    for (std::size_t i = 0; i < candidates.size(); ++i)
        asio::co_spawn(strand, probe_server(probe, i), asio::detached);
    while (probe->left > 0 && time.now() < give_up_at)
        co_await probe->finished.wait_until(give_up_at);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const auto& probed_connection = *probe->connections[i];
        if (probed_connection.was_opened() || probed_connection.is_in_tls_handshake())
            probe->servers[i].was_reached = true;
    }
    auto servers = probe->servers;
    for (const auto& each : probe->connections)
        each->close();
    co_return servers;
}

void throw_if_several_servers(const std::string& subject, const net::address& server_address,
                              const std::string& run_id, const std::vector<probed_server>& others) {
    for (const auto& each : others) {
        if (!each.was_reached || (!run_id.empty() && each.run_id == run_id)) continue;
        const auto both_hosts =
            net::host_text(server_address) + " and " + net::host_text(each.server_address);
        if (!run_id.empty() && !each.run_id.empty())
            throw several_servers_error(
                subject + " has several servers behind it: " + both_hosts +
                " are two, and each would give the same lock; name one of them "
                "in the URL.");
        throw several_servers_error(
            subject + " has several addresses, and " + both_hosts + " may be two servers: " +
            (run_id.empty() ? "the user may not read the run_id with INFO"
                            : net::host_text(each.server_address) + " does not say its run_id, " +
                                  each.trouble) +
            "; name one of them in the URL, or allow INFO.");
    }
}

void throw_other_server(const std::string& subject, const net::address& known_address,
                        const net::address& server_address) {
    throw several_servers_error(
        subject + " has several servers behind it: it was " + net::host_text(known_address) +
        " so far, which does not answer, and " + net::host_text(server_address) +
        " is another one; name one of them in the URL.");
}

}  // namespace pawl::redis
