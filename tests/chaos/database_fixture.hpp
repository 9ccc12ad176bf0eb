// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the fixtures of databases have in common: a private server with a database for Pawl, and
// clients whose log is captured.
#pragma once

#include "redis_fixture.hpp"  // log_capture, failure, loss_recorder and others

#include <pawl/service.hpp>

#include <cstdint>

namespace chaos {

// Of one attempt: granted, busy, or why not.
enum class try_result { granted, busy, failed };

// Makes clients whose log is captured.
class logged_clients {
public:
    [[nodiscard]] client client_at(const std::string& url, pawl::duration try_limit = 10s) {
        pawl::client_options options;
        options.try_limit = try_limit;
        options.log = [this](std::string_view line) { client_log.write(line); };
        return client(pawl::from_url(url), options);
    }
    // The failure of the call; its message is logged too.
    [[nodiscard]] std::optional<failure> failure_of(const std::function<void()>& call) {
        try {
            call();
        } catch (const pawl::error& thrown) {
            client_log.write(thrown.what());
            return failure{thrown.reason(), thrown.what()};
        }
        return std::nullopt;
    }
    [[nodiscard]] static try_result result_of_try(client& locks, const std::string& name) {
        try {
            const bool is_granted = locks.try_acquire(name, {.ttl = 2s}).owns_lock();
            return is_granted ? try_result::granted : try_result::busy;
        } catch (const pawl::error&) {
            return try_result::failed;
        }
    }
    [[nodiscard]] static bool is_taken(client& locks, const std::string& name) {
        return result_of_try(locks, name) == try_result::busy;
    }

    log_capture client_log;
};

// The virtual functions are what the cases of database_cases.hpp need of a database.
class database_fixture : public logged_clients {
public:
    database_fixture() = default;
    database_fixture(const database_fixture&) = delete;
    database_fixture& operator=(const database_fixture&) = delete;
    virtual ~database_fixture() = default;

    virtual void kill9() = 0;
    virtual void freeze() = 0;
    virtual void thaw() = 0;
    virtual void start() = 0;
    // The superuser's, in the test's database.
    [[nodiscard]] virtual std::int64_t number(const std::string& sql) const = 0;
    // Of the server's clock, in s since 1970.
    [[nodiscard]] virtual std::int64_t server_time() const = 0;
    // In s, compared with the clock of this program.
    [[nodiscard]] std::int64_t server_ahead() const {
        const auto here = std::chrono::system_clock::now().time_since_epoch();
        return server_time() - here / 1s;
    }

    // Of the test's database; `suffix` is its end.
    [[nodiscard]] virtual std::string url_with(const std::string& suffix) const = 0;
    // For the locks of the test.
    [[nodiscard]] virtual client new_client() { return client_with(); }
    // Ends the sessions of all clients. Returns their number.
    virtual std::int64_t end_sessions() = 0;
    // Some of their connections. It is another choice in each round.
    virtual void end_connections(int round) = 0;
    // Without a new session, the server is another one from now on, as behind a proxy.
    virtual void require_hello() = 0;
    [[nodiscard]] virtual pawl::loss_reason reason_of_ended_session() const = 0;
    [[nodiscard]] virtual std::int64_t waiters(const std::string& name) const {
        return number("SELECT count(*) FROM pawl.waiter WHERE name = '" + name + "'");
    }
    // Waits until no lock is held and nobody waits.
    [[nodiscard]] virtual bool becomes_clean() const = 0;

    [[nodiscard]] client client_with(const std::string& suffix = {}) {
        return client_at(url_with(suffix));
    }
    // Of an acquire that would wait for long, as the error says whether waiting helps.
    [[nodiscard]] std::optional<failure> failure_at(const std::string& url) {
        client locks = client_at(url);
        return failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = patience}); });
    }
    // Acquires and releases the lock, and expects that each token is larger than the one before.
    static void expect_pairs(client& locks, const std::string& name, int count) {
        pawl::fencing_token newest;
        for (int i = 0; i < count; ++i) {
            auto lock = locks.acquire(name, {.ttl = long_ttl, .wait = patience});
            EXPECT_GT(lock.token(), newest);
            newest = lock.token();
            EXPECT_EQ(lock.release(), release_result::released);
        }
    }
};

template <class Server>
class served_database : public database_fixture {
public:
    template <class Settings>
    explicit served_database(Settings settings) : server(std::move(settings)) {}

    void kill9() override { server.kill9(); }
    void freeze() override { server.freeze(); }
    void thaw() override { server.thaw(); }
    void start() override { server.start(); }

    Server server;
};

}  // namespace chaos
