// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The requests of Consul's HTTP API that locks need.
#pragma once

#include "answers.hpp"

#include "../core/util/spi.hpp"
#include "../http/client.hpp"
#include "../net/credential_source.hpp"

#include <pawl/consul.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/json/value.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::consul {

// Used on one strand, by shared_ptr. All functions throw http::no_response if there was no answer;
// errc::unavailable for what passes, errc::refused for a lack of rights, and errc::protocol for
// answers that Consul does not give. They may be cancelled.
class api : public std::enable_shared_from_this<api> {
public:
    api(const options& settings, const backend_context& context);

    // Carries out all operations, or none. At most 64.
    boost::asio::awaitable<transaction_result> transact(std::vector<operation> operations,
                                                        time_point give_up_at);
    // As the leader has it now.
    boost::asio::awaitable<reading> read(std::string key, time_point give_up_at);
    // Waits until the key is no longer as it was at `index`, or `wait` is over.
    boost::asio::awaitable<reading> wait_for_change(std::string key, std::uint64_t index,
                                                    duration wait);
    // All keys with this beginning.
    boost::asio::awaitable<std::vector<entry>> list(std::string prefix, time_point give_up_at);

    // Returns the new session's id.
    boost::asio::awaitable<std::string> create_session(std::string name, duration ttl,
                                                       time_point give_up_at);
    // False: there is no such session.
    boost::asio::awaitable<bool> renew_session(std::string id, time_point give_up_at);
    boost::asio::awaitable<void> destroy_session(std::string id, time_point give_up_at);
    // Empty: there is no such session.
    boost::asio::awaitable<std::optional<session_info>> describe_session(std::string id,
                                                                         time_point give_up_at);
    // The JSON at this path, for `doctor`. Null if the token may not read it.
    boost::asio::awaitable<boost::json::value> examine(std::string path, time_point give_up_at);

    [[nodiscard]] http::client& client() noexcept { return *client_; }
    [[nodiscard]] duration lock_delay() const noexcept { return lock_delay_; }
    void close();

private:
    boost::asio::awaitable<http::response> send(http::request sent, time_point give_up_at);
    boost::asio::awaitable<void> update_token(time_point give_up_at);
    [[nodiscard]] reading to_reading(const http::response& received, const std::string& key) const;

    const backend_context context_;
    const duration lock_delay_;
    net::credential_source credentials_;
    const std::shared_ptr<http::client> client_;
    std::optional<login> login_;
    std::uint64_t token_of_connections_ = 0;  // how many there were when the token was read
    bool is_closed_ = false;
};

// The path of a request with this key: percent-encoded, with its slashes.
[[nodiscard]] std::string encode_key(std::string_view key);

}  // namespace pawl::consul
