#include "latches.hpp"

#include "redisson_scripts.hpp"

#include "../../core/chance.hpp"
#include "../lock_base.hpp"
#include "../server_errors.hpp"

#include <pawl/options.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

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

std::uint64_t count_in(const reply& answer) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(number(answer), 0));
}

enum class news : std::uint8_t { none, open, look };

// "0": it came to 0. "1": it was set, or deleted. Empty: the connection is a new one.
news read_messages(std::vector<std::string>& messages) {
    auto found = news::none;
    for (const auto& one : std::exchange(messages, {})) {
        if (one == "0") return news::open;
        found = news::look;
    }
    return found;
}

}  // namespace

java_latches::java_latches(const options& where, const backend_context& context,
                           const naming& names, link& over)
    : where_(where),
      context_(context),
      names_(names),
      link_(over),
      scripts_(over),
      ears_(over, *context.time, context.strand) {}

// Unlike those of the locks, the channel's name always has braces of its own.
java_latches::place java_latches::place_of(std::string_view name) const {
    auto key = names_.of(name).lock;
    auto channel = "redisson_countdownlatch__channel__{" + key + "}";
    return {std::move(key), std::move(channel)};
}

asio::awaitable<void> java_latches::pause(duration at_least, duration at_most) const {
    core::alarm timer(*context_.time, context_.strand);
    co_await timer.wait_until(now() + core::random_between(*context_.time, at_least, at_most));
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
        throw error(errc::unreachable, "Nobody knows whether the latch '" + std::string(name) +
                                           "' was changed: " + e.what() +
                                           "; look at it when the server is up.");
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
    co_return count_in(answer);
}

asio::awaitable<bool> java_latches::wait(std::string_view name, std::uint64_t,
                                         time_point give_up_at) {
    const auto at = place_of(name);
    const bool waits = give_up_at > now();
    ears::ear mine(ears_, at.channel);
    for (;;) {
        std::optional<error> trouble;
        const auto until = waits ? std::max(give_up_at, now() + least_silence) : soon();
        try {
            if (waits && !mine.listens()) co_await mine.listen(until);
            const auto left = co_await count_of(at, until);
            if (left == 0) co_return true;
        } catch (const connection_lost& e) {
            trouble = error(errc::unreachable, "The latch '" + std::string(name) +
                                                   "' could not be asked for: " + e.what() +
                                                   "; check that the server is up.");
        } catch (const error& e) {
            if (e.reason() != errc::unavailable) throw;
            trouble = e;
        }
        if (now() >= give_up_at) {
            if (trouble) throw *trouble;
            co_return false;
        }
        if (trouble) {
            if (context_.log) context_.log(std::string(trouble->what()) + " Trying again.");
            co_await pause(50ms, 200ms);
            continue;
        }
        const auto look_at =
            now() + core::random_between(*context_.time, latch_look_at_least, latch_look_at_most);
        const bool rung = co_await mine.woken.wait_until(std::min(look_at, give_up_at));
        if (rung && read_messages(mine.messages) == news::open) co_return true;
        if (now() >= give_up_at) co_return false;
    }
}

asio::awaitable<latch_info> java_latches::inspect(std::string_view name) {
    const auto at = place_of(name);
    latch_info found;
    found.name = name;
    found.known = true;
    found.remaining = forever;
    found.count = co_await count_of(at, soon());
    const auto listeners = co_await ears_.count(at.channel, soon());
    refuse_errors(listeners, at.key);
    if (listeners.items.size() == 2)
        found.waiters = static_cast<std::uint64_t>(listeners.items[1].number);
    co_return found;
}

asio::awaitable<bool> java_latches::reset(std::string_view name) {
    const auto gone = co_await say(scripts::latch_reset, name, {});
    co_return gone == 1;
}

}  // namespace pawl::redis::redisson
