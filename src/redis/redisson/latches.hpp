// Redisson's RCountDownLatch. docs/redisson.md has the keys and messages.
#pragma once

#include "../latch_base.hpp"
#include "names.hpp"

namespace pawl::redis::redisson {

// It has no generations: a latch at 0 is one that nobody has set. A step has no request id, so it
// is sent once.
class java_latches final : public latch_base {
public:
    // All of them must outlive it.
    java_latches(const options& where, const backend_context& context, const naming& names,
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
    [[nodiscard]] news read(std::string_view message, std::uint64_t generation) const override;

    boost::asio::awaitable<std::int64_t> say(const script& what, std::string_view name,
                                             std::string argument);
    boost::asio::awaitable<std::uint64_t> count_of(const place& at, time_point give_up_at);

    const naming& names_;
};

}  // namespace pawl::redis::redisson
