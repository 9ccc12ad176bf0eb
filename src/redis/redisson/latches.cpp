#include "latches.hpp"

#include "redisson_scripts.hpp"

#include "../lock_base.hpp"
#include "../server_errors.hpp"

#include <pawl/options.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace asio = boost::asio;

namespace pawl::redis::redisson {
namespace {

void refuse_latch(const reply& answer, const std::string& key) {
    if (of_another_type(answer))
        throw error(errc::wrong_type,
                    key +
                        ": holds something that is no RCountDownLatch of Redisson's; choose "
                        "another name, or leave out layout=redisson for a latch of Pawl's own.");
    refuse_errors(answer, key);
}

}  // namespace

java_latches::java_latches(const options& where, const backend_context& context,
                           const naming& names, link& over, const limits& bounds)
    : latch_base(where, context, over, bounds), names_(names) {}

// Unlike those of the locks, the channel's name always has braces of its own.
latch_base::place java_latches::place_of(std::string_view name) const {
    auto key = names_.of(name).lock;
    auto channel = "redisson_countdownlatch__channel__{" + key + "}";
    return {std::move(key), std::move(channel)};
}

// "0": it came to 0. "1": it was set, or deleted. A latch of that name in another database uses the
// same channel, so each is a reason to look, as it is for Java.
latch_base::news java_latches::read(std::string_view, std::uint64_t) const { return news::look; }

asio::awaitable<bool> java_latches::look(wish& what, time_point give_up_at) {
    const auto left = co_await count_of(what.at, give_up_at);
    co_return left == 0;
}

asio::awaitable<std::int64_t> java_latches::say(const script& what, std::string_view name,
                                                std::string argument) {
    const auto at = place_of(name);
    const std::array<std::string_view, 1> keys{at.key};
    try {
        const auto publish = co_await ears_.publish(soon());
        const std::array<std::string_view, 3> all{argument, at.channel, publish};
        const auto used = std::span(all).subspan(argument.empty() ? 1 : 0);
        const auto answer = co_await scripts_.run(what, keys, used, soon());
        refuse_latch(answer, at.key);
        co_return answer.number;
    } catch (const connection_lost& e) {
        throw not_known_whether(name, e.what());
    }
}

asio::awaitable<bool> java_latches::try_set(std::string_view name, std::uint32_t count, duration) {
    const auto set = co_await say(scripts::latch_set, name, std::to_string(count));
    co_return set == 1;
}

asio::awaitable<latches::step> java_latches::count_down(std::string_view name,
                                                        std::uint32_t steps) {
    const auto left = co_await say(scripts::latch_down, name, std::to_string(steps));
    co_return step{0, static_cast<std::uint64_t>(left)};
}

asio::awaitable<latches::step> java_latches::arrive(std::string_view, std::uint32_t, duration) {
    throw error(errc::unsupported,
                "Redisson's latches have no turns, and so there is no barrier with "
                "layout=redisson; use the native layout.");
    co_return step{};
}

asio::awaitable<std::uint64_t> java_latches::count_of(const place& at, time_point give_up_at) {
    const std::array<std::string_view, 2> words{"GET", at.key};
    const auto answer = co_await link_.exec(words, give_up_at);
    refuse_latch(answer, at.key);
    co_return static_cast<std::uint64_t>(std::max<std::int64_t>(number(answer), 0));
}

asio::awaitable<latch_info> java_latches::inspect(std::string_view name) {
    const auto at = place_of(name);
    latch_info found;
    found.name = name;
    found.known = true;
    found.remaining = forever;
    found.count = co_await count_of(at, soon());
    found.waiters = co_await waiters(at);
    co_return found;
}

asio::awaitable<bool> java_latches::reset(std::string_view name) {
    const auto gone = co_await say(scripts::latch_reset, name, {});
    co_return gone == 1;
}

}  // namespace pawl::redis::redisson
