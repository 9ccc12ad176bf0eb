// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Redisson's RCountDownLatch. docs/backends/redisson.md has the keys and messages.
#pragma once

#include "../common/latch_base.hpp"
#include "../common/redisson_names.hpp"

namespace pawl::redis::redisson {

// Such a latch has no generations, and a latch at 0 does not exist. A step has no request id, so
// the client sends it only once.
class java_latches final : public latch_base {
public:
    // All arguments must outlive the object.
    java_latches(const options& server_options, const backend_context& context,
                 const naming& key_naming, topology& servers, const limits& bounds);

    boost::asio::awaitable<bool> try_set(std::string_view name, std::uint32_t count,
                                         duration ttl) override;
    boost::asio::awaitable<step> count_down(std::string_view name, std::uint32_t steps) override;
    boost::asio::awaitable<step> arrive(std::string_view name, std::uint32_t parties,
                                        duration ttl) override;
    boost::asio::awaitable<latch_info> inspect(std::string_view name) override;
    boost::asio::awaitable<bool> reset(std::string_view name) override;

private:
    [[nodiscard]] latch_names latch_names_of(std::string_view name) const override;
    boost::asio::awaitable<bool> refresh(wait_state& state, time_point give_up_at) override;
    [[nodiscard]] latch_event classify(std::string_view message,
                                       std::uint64_t generation) const override;

    // Sends a request once. Throws the matching error for an error of the server, and
    // `latch_outcome_unknown` if the connection is lost.
    template <class Call>
    boost::asio::awaitable<reply> send_once(const Call& call, std::string_view name);
    // Before a request: a connection that is lost until then leaves no doubt about the outcome.
    boost::asio::awaitable<void> wait_for_connection(std::string_view name, std::string_view key);
    boost::asio::awaitable<std::uint64_t> query_count(const latch_names& names,
                                                      time_point give_up_at);

    const naming& naming_;
};

}  // namespace pawl::redis::redisson
