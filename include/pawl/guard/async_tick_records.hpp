// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a database knows of the ticks of schedules, for coroutines: as
// pawl/guard/tick_records.hpp.
#pragma once

#include <pawl/guard/async_connection.hpp>
#include <pawl/guard/tick_records.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pawl::guard {

// As tick_records. Used by one coroutine at a time. Arguments must outlive the call: name them
// before the co_await.
//
// Cancellation: that of the connection.
class async_tick_records {
public:
    virtual ~async_tick_records() = default;

    // As in tick_records.
    virtual boost::asio::awaitable<schedule_state> look(const std::string& name) = 0;
    // As in tick_records.
    virtual boost::asio::awaitable<claim_answer> claim(const tick_claim& wanted,
                                                       store_time not_before, duration lease) = 0;
    // As in tick_records.
    virtual boost::asio::awaitable<bool> begin(const tick_claim& claimed, fencing_token token,
                                               store_time latest, duration lease) = 0;
    // As in tick_records.
    virtual boost::asio::awaitable<bool> begin_again(const tick_claim& claimed,
                                                     const std::string& crashed,
                                                     fencing_token token, duration lease) = 0;
    // As in tick_records.
    virtual boost::asio::awaitable<bool> withdraw(const tick_claim& claimed) = 0;
    // As in tick_records.
    virtual boost::asio::awaitable<bool> finish(const tick_claim& claimed, tick_state state,
                                                int status, const std::string& reason) = 0;
    // As in tick_records.
    virtual boost::asio::awaitable<bool> skip(const tick_claim& claimed, const std::string& reason,
                                              store_time settled, std::uint32_t missed) = 0;
    // As in tick_records.
    virtual boost::asio::awaitable<void> renew(const tick_claim& claimed, duration lease) = 0;
    // As in tick_records.
    virtual boost::asio::awaitable<std::vector<tick_record>> history(const std::string& name,
                                                                     std::uint32_t most) = 0;
    // As in tick_records.
    virtual boost::asio::awaitable<void> purge(const std::string& name, duration keep) = 0;
};

// As sql_tick_records, with the same table.
class async_sql_tick_records final : public async_tick_records {
public:
    // Sends nothing.
    explicit async_sql_tick_records(async_connection& db) noexcept : db_(db) {}

    // As sql_tick_records::make_schema.
    boost::asio::awaitable<void> make_schema();

    // As in tick_records.
    boost::asio::awaitable<schedule_state> look(const std::string& name) override;
    // As in tick_records.
    boost::asio::awaitable<claim_answer> claim(const tick_claim& wanted, store_time not_before,
                                               duration lease) override;
    // As in tick_records.
    boost::asio::awaitable<bool> begin(const tick_claim& claimed, fencing_token token,
                                       store_time latest, duration lease) override;
    // As in tick_records.
    boost::asio::awaitable<bool> begin_again(const tick_claim& claimed, const std::string& crashed,
                                             fencing_token token, duration lease) override;
    // As in tick_records.
    boost::asio::awaitable<bool> withdraw(const tick_claim& claimed) override;
    // As in tick_records.
    boost::asio::awaitable<bool> finish(const tick_claim& claimed, tick_state state, int status,
                                        const std::string& reason) override;
    // As in tick_records.
    boost::asio::awaitable<bool> skip(const tick_claim& claimed, const std::string& reason,
                                      store_time settled, std::uint32_t missed) override;
    // As in tick_records.
    boost::asio::awaitable<void> renew(const tick_claim& claimed, duration lease) override;
    // As in tick_records.
    boost::asio::awaitable<std::vector<tick_record>> history(const std::string& name,
                                                             std::uint32_t most) override;
    // As in tick_records.
    boost::asio::awaitable<void> purge(const std::string& name, duration keep) override;

private:
    boost::asio::awaitable<std::optional<tick_record>> find(const tick_claim& claimed);
    boost::asio::awaitable<bool> change(const statement& update, const tick_claim& claimed,
                                        tick_state expected);

    async_connection& db_;
};

}  // namespace pawl::guard
