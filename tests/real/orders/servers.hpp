// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The services of the shop: a lock server, a database with a streaming standby, and the partners
// outside; and what can happen to them.
#pragma once

#include <orders/outside.hpp>

#include <support/postgres_proxy.hpp>
#include <support/postgres_server.hpp>
#include <support/redis_server.hpp>
#include <support/temp_folder.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace real::orders {

// Of each 1000 resources outside, the answers to the first effects at so many are dropped.
inline constexpr shop::outside_options outside_faults{.delay = {}, .unanswered_of_1000 = 50};

struct server_options {
    bool is_unique = true;       // the tables have their unique constraints
    bool is_synchronous = true;  // a commit waits for the standby
    std::size_t stripes = 1;
    std::int64_t items = 0;  // of each stripe
};

// Not thread-safe. The workers reach the database through a man in the middle.
class order_servers {
public:
    explicit order_servers(const server_options& options);

    [[nodiscard]] std::string lock_url() const { return locks_.url(); }
    // Both servers: a worker finds the primary.
    [[nodiscard]] std::string database_url(const std::string& session) const;
    // The primary, without the man in the middle.
    [[nodiscard]] std::string primary_url() const;
    [[nodiscard]] std::uint16_t outside_port() const noexcept { return outside_port_; }
    [[nodiscard]] std::string outside_log() const { return folder_.file("outside.log"); }
    [[nodiscard]] const support::temp_folder& folder() const noexcept { return folder_; }
    [[nodiscard]] std::int64_t number(const std::string& query) const;
    // A transaction of this session keeps another one waiting. The name is that in the URL.
    [[nodiscard]] bool blocks_others(const std::string& session) const;

    void empty_locks();     // FLUSHALL
    void restart_locks();   // the server is killed, and is empty when it is back
    void crash_database();  // the primary is killed, and comes back with its data
    void fail_over();       // the primary is killed, and its standby is promoted
    // From now on the standby gets nothing: the next failover loses what is committed.
    void stop_replication() { standby().stop_replication(); }

private:
    [[nodiscard]] support::postgres_server& primary() const { return *databases_[primary_]; }
    [[nodiscard]] support::postgres_server& standby() const { return *databases_[1 - primary_]; }
    [[nodiscard]] support::postgres_options options_with(
        const support::postgres_server* standby_of) const;
    void wait_for_standby();
    void start_outside();

    const server_options options_;
    support::temp_folder folder_;
    support::redis_server locks_;
    std::array<std::unique_ptr<support::postgres_server>, 2> databases_;
    std::array<std::unique_ptr<support::postgres_proxy>, 2> middle_;
    std::size_t primary_ = 0;
    std::string database_;
    std::optional<pawl::conformance::child> outside_;
    std::uint16_t outside_port_ = 0;
};

}  // namespace real::orders
