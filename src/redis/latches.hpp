// Latches of the native layout. docs/redis.md has the keys, scripts and messages.
#pragma once

#include "keys.hpp"
#include "latch_base.hpp"

namespace pawl::redis {

class native_latches final : public latch_base {
public:
    // All of them must outlive it.
    native_latches(const options& where, const backend_context& context, const key_scheme& scheme,
                   link& over, const limits& bounds);

    boost::asio::awaitable<bool> try_set(std::string_view name, std::uint32_t count,
                                         duration ttl) override;
    boost::asio::awaitable<step> count_down(std::string_view name, std::uint32_t steps) override;
    boost::asio::awaitable<step> arrive(std::string_view name, std::uint32_t parties,
                                        duration ttl) override;
    boost::asio::awaitable<latch_info> inspect(std::string_view name) override;
    boost::asio::awaitable<bool> reset(std::string_view name) override;

private:
    [[nodiscard]] place place_of(std::string_view name) const override;
    boost::asio::awaitable<bool> look(wish& what, time_point give_up_at) override;
    // Whether the step that the message names did open that generation, and is remembered: where
    // the latch itself was reset since.
    boost::asio::awaitable<bool> was_opened(const wish& what, time_point give_up_at);
    [[nodiscard]] news read(std::string_view message, std::uint64_t generation) const override;

    // Throws what the server's error means for that latch.
    boost::asio::awaitable<void> refuse(const reply& answer, const std::string& key);
    // Sends it until it is answered, with the last moment, by the server's clock, at which it may
    // be carried out. The server knows until then a request that it has carried out, and refuses it
    // afterwards: so a step is taken once or not at all, however long this program or a message is
    // held up.
    boost::asio::awaitable<reply> say(const script& what, std::string_view name,
                                      std::vector<std::string> arguments);
    boost::asio::awaitable<step> send_step(std::string_view name, std::uint32_t steps,
                                           std::uint32_t parties, duration ttl);
    boost::asio::awaitable<void> learn_clock(time_point give_up_at);
    [[nodiscard]] std::string server_ms(time_point when) const;

    // The server's clock, asked for on that connection at that moment.
    struct server_clock {
        std::uint64_t generation = 0;
        time_point asked{};
        std::int64_t ms = 0;
    };

    const key_scheme& scheme_;
    server_clock clock_;
};

}  // namespace pawl::redis
