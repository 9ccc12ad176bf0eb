// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What sessions with user locks and those with locked rows have in common.
#pragma once

#include "session_connector.hpp"

#include "../sql/answers.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace pawl::mysql {

// Used on the strand.
class lock_connection : public sql::lock_session {
public:
    explicit lock_connection(lock_session_parts parts) : parts_(std::move(parts)) {}

    [[nodiscard]] bool is_over() const noexcept override { return parts_.link->is_over(); }
    boost::asio::awaitable<void> prove(time_point give_up_at) override;
    void close() noexcept override { parts_.link->close(); }
    boost::asio::awaitable<examination> examine(time_point give_up_at) override;

protected:
    [[nodiscard]] runtime& time() const noexcept { return *parts_.time; }
    [[nodiscard]] const lock_session_parts& parts() const noexcept { return parts_; }
    [[nodiscard]] const error_place& place() const noexcept { return parts_.link->place(); }
    [[nodiscard]] std::shared_ptr<pending_statement> send(std::string text,
                                                          bool may_take_long = false) {
        return parts_.link->send(std::move(text), may_take_long);
    }
    boost::asio::awaitable<std::vector<sql::row>> ask(std::string text, time_point give_up_at,
                                                      bool may_take_long = false);
    // The server ends the connection when it is idle for the ttl.
    boost::asio::awaitable<void> set_ttl(duration ttl, time_point give_up_at);
    // How long the server may be silent. A waiter holds nothing, and may notice it soon.
    void set_silence_limit(duration limit) {
        parts_.link->set_silence_limit(std::max<duration>(limit, least_silence_limit));
    }
    static constexpr duration least_silence_limit = std::chrono::seconds(5);
    // A waiter that was granted the lock, and has stopped, is passed over after this time.
    static constexpr duration claim_window = std::chrono::seconds(2);
    // How many connections run a statement that begins so, as far as this account may see them. For
    // displays.
    boost::asio::awaitable<std::uint64_t> count_statements(std::string begin,
                                                           time_point give_up_at);
    // Ends another connection. Throws errc::refused.
    boost::asio::awaitable<void> kill(std::int64_t id, time_point give_up_at);

    // Of the first row and column; for NULL, or without a row, the other number.
    [[nodiscard]] static std::int64_t number_of(const std::vector<sql::row>& rows,
                                                std::int64_t otherwise = 0) {
        return rows.empty() ? otherwise : sql::number_in(rows[0], 0, otherwise);
    }

private:
    const lock_session_parts parts_;
};

}  // namespace pawl::mysql
