// What the layouts' latches have in common: the wait for a push, with a look from time to time.
// docs/redis.md and docs/redisson.md have the keys, scripts and messages.
#pragma once

#include "ears.hpp"
#include "limits.hpp"
#include "script_runner.hpp"

#include <pawl/backend.hpp>
#include <pawl/redis.hpp>

#include <string>
#include <string_view>

namespace pawl::redis {

namespace redisson {
class java_latches;
}

class latch_base : public latches {
public:
    boost::asio::awaitable<bool> wait(std::string_view name, std::uint64_t generation,
                                      time_point give_up_at) override;

    void on_message(std::string_view channel, std::string_view payload) {
        ears_.on_message(channel, payload);
    }
    void on_connected() { ears_.on_connected(); }

protected:
    struct place {
        std::string key;
        std::string channel;
    };
    struct wish {
        std::string_view name;
        const place& at;
        std::uint64_t generation;
        std::string opening;  // the last message that said that it is over
    };
    enum class news : std::uint8_t { none, open, look };

    // All of them must outlive it.
    latch_base(const options& where, const backend_context& context, link& over,
               const limits& bounds);

    [[nodiscard]] virtual place place_of(std::string_view name) const = 0;
    // Whether what is wished for is over. The first look may learn which generation that is.
    virtual boost::asio::awaitable<bool> look(wish& what, time_point give_up_at) = 0;
    // What a message says of that generation. An empty one: the connection is new.
    [[nodiscard]] virtual news read(std::string_view message, std::uint64_t generation) const = 0;

    [[nodiscard]] time_point now() const noexcept { return context_.time->now(); }
    [[nodiscard]] time_point soon() const { return now() + where_.reply_timeout; }
    boost::asio::awaitable<void> pause(duration at_least, duration at_most) const;
    // How many listen to its channel.
    boost::asio::awaitable<std::uint64_t> waiters(const place& at);

private:
    friend class native_latches;
    friend class redisson::java_latches;

    // Until there is something to do: a message about that generation, or the time for a look.
    boost::asio::awaitable<news> hear(ears::ear& mine, wish& what, time_point give_up_at) const;

    const options& where_;
    const backend_context& context_;
    link& link_;
    const limits& bounds_;
    script_runner scripts_;
    ears ears_;
};

[[nodiscard]] error no_answer(std::string_view name, std::string_view why);
[[nodiscard]] error not_known_whether(std::string_view name, std::string_view why);

}  // namespace pawl::redis
