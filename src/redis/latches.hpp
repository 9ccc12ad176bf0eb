// Latches of the native layout. docs/redis.md has the keys, scripts and messages.
#pragma once

#include "ears.hpp"
#include "keys.hpp"
#include "script_runner.hpp"

#include <pawl/backend.hpp>
#include <pawl/redis.hpp>

#include <optional>

namespace pawl::redis {

class native_latches final : public latches {
public:
    // All of them must outlive it.
    native_latches(const options& where, const backend_context& context, const key_scheme& scheme,
                   link& over);

    boost::asio::awaitable<bool> try_set(std::string_view name, std::uint32_t count,
                                         duration ttl) override;
    boost::asio::awaitable<step> count_down(std::string_view name, std::uint32_t steps) override;
    boost::asio::awaitable<step> arrive(std::string_view name, std::uint32_t parties,
                                        duration ttl) override;
    boost::asio::awaitable<bool> wait(std::string_view name, std::uint64_t generation,
                                      time_point give_up_at) override;
    boost::asio::awaitable<latch_info> inspect(std::string_view name) override;
    boost::asio::awaitable<bool> reset(std::string_view name) override;

    void on_message(std::string_view channel, std::string_view payload) {
        ears_.on_message(channel, payload);
    }
    void on_connected() { ears_.on_connected(); }

private:
    struct wish {
        std::string_view name;
        std::uint64_t generation;
    };

    [[nodiscard]] time_point now() const noexcept { return context_.time->now(); }
    [[nodiscard]] time_point soon() const { return now() + where_.reply_timeout; }
    [[nodiscard]] std::string key_of(std::string_view name) const;
    boost::asio::awaitable<void> pause(duration at_least, duration at_most) const;
    // Throws what the server's error means for that latch.
    boost::asio::awaitable<void> refuse(const reply& answer, const std::string& key);
    // Sends it until it is answered: the server knows a request that it has carried out.
    boost::asio::awaitable<reply> say(const script& what, std::string_view name,
                                      std::vector<std::string> arguments);
    boost::asio::awaitable<step> send_step(std::string_view name, std::uint32_t steps,
                                           std::uint32_t parties, duration ttl);
    // Whether that generation is over. The first look learns which one is wished for.
    boost::asio::awaitable<bool> look(const std::string& key, wish& what, time_point give_up_at);
    [[nodiscard]] std::string remember_ms() const;

    const options& where_;
    const backend_context& context_;
    const key_scheme& scheme_;
    script_runner scripts_;
    ears ears_;
    link& link_;
};

}  // namespace pawl::redis
