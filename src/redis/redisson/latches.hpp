// Redisson's RCountDownLatch. docs/redisson.md has the keys and messages.
#pragma once

#include "../ears.hpp"
#include "../script_runner.hpp"
#include "names.hpp"

#include <pawl/backend.hpp>
#include <pawl/redis.hpp>

namespace pawl::redis::redisson {

// It has no generations: a latch at 0 is one that nobody has set. A step has no request id, so it
// is sent once.
class java_latches final : public latches {
public:
    // All of them must outlive it.
    java_latches(const options& where, const backend_context& context, const naming& names,
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
    struct place {
        std::string key;
        std::string channel;
    };

    [[nodiscard]] time_point now() const noexcept { return context_.time->now(); }
    [[nodiscard]] time_point soon() const { return now() + where_.reply_timeout; }
    [[nodiscard]] place place_of(std::string_view name) const;
    boost::asio::awaitable<void> pause(duration at_least, duration at_most) const;
    boost::asio::awaitable<std::int64_t> say(const script& what, std::string_view name,
                                             std::string argument);
    boost::asio::awaitable<std::uint64_t> count_of(const place& at, time_point give_up_at);

    const options& where_;
    const backend_context& context_;
    const naming& names_;
    link& link_;
    script_runner scripts_;
    ears ears_;
};

}  // namespace pawl::redis::redisson
