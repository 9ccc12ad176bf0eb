// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Latches of the native layout. docs/backends/redis.md has the keys, scripts and messages.
#pragma once

#include "../common/keys.hpp"
#include "../common/latch_base.hpp"

#include <map>

namespace pawl::redis::native {

class native_latches final : public latch_base {
public:
    // All arguments must outlive the object.
    native_latches(const options& server_options, const backend_context& context,
                   const key_scheme& scheme, topology& servers, const limits& bounds);

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
    // True: the server remembers that the step in `state.open_message` opened the generation of the
    // wait. Needed when the latch itself was reset or forgotten since.
    boost::asio::awaitable<bool> was_opened(const wait_state& state, time_point give_up_at);
    [[nodiscard]] latch_event classify(std::string_view message,
                                       std::uint64_t generation) const override;

    // If the reply is an error, throws the matching error for that latch.
    boost::asio::awaitable<void> throw_if_latch_error(const reply& reply, const std::string& key);
    // Sends the request until the server replies. The request has a limit by the server's clock:
    // until then the server remembers an executed request, and afterwards it refuses the request.
    // So a step is taken once or not at all, however long this program or a message is delayed.
    template <class Call>
    boost::asio::awaitable<decltype(std::declval<Call>().read(reply()))> send_until_answered(
        Call& call, std::string_view name);
    boost::asio::awaitable<step> send_step(std::string_view name, std::uint32_t steps,
                                           std::uint32_t parties, duration ttl);
    // A server's clock showed `ms` at `sent_at` or later, on this connection.
    struct server_clock {
        std::uint64_t connection_number = 0;
        time_point sent_at{};
        std::int64_t ms = 0;

        [[nodiscard]] std::string time_at(time_point instant) const;
    };
    boost::asio::awaitable<void> learn_clock(link& server_link, time_point give_up_at);

    const key_scheme& scheme_;
    std::map<const link*, server_clock> clocks_;
};

}  // namespace pawl::redis::native
