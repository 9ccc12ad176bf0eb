#include "latch_base.hpp"

#include "lock_base.hpp"
#include "server_errors.hpp"

#include "../core/chance.hpp"
#include "../core/latch.hpp"
#include "../core/wait_notice.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {

latch_base::latch_base(const options& where, const backend_context& context, link& over,
                       const limits& bounds)
    : where_(where),
      context_(context),
      link_(over),
      bounds_(bounds),
      scripts_(over),
      ears_(over, *context.time, context.strand, bounds.messages) {}

asio::awaitable<void> latch_base::pause(duration at_least, duration at_most) const {
    core::alarm timer(*context_.time, context_.strand);
    co_await timer.wait_until(now() + core::random_between(*context_.time, at_least, at_most));
}

asio::awaitable<std::uint64_t> latch_base::waiters(const place& at) {
    const auto answer = co_await ears_.count(at.channel, soon());
    refuse_errors(answer, at.key);
    if (answer.items.size() != 2) co_return 0;
    co_return static_cast<std::uint64_t>(answer.items[1].number);
}

asio::awaitable<latch_base::news> latch_base::hear(ears::ear& mine, wish& what,
                                                   time_point give_up_at) const {
    const auto look_at =
        now() + core::random_between(*context_.time, latch_look_at_least, latch_look_at_most);
    for (;;) {
        const bool rung = co_await mine.woken.wait_until(std::min(look_at, give_up_at));
        if (!rung) co_return news::look;
        auto heard = news::none;
        const auto messages = std::exchange(mine.messages, {});
        for (const auto& one : messages) {
            const auto said = read(one, what.generation);
            if (said == news::open) what.opening = one;
            if (said == news::open) co_return said;
            if (said == news::look) heard = said;
        }
        if (heard == news::look) co_return heard;
    }
}

asio::awaitable<bool> latch_base::wait(std::string_view name, std::uint64_t generation,
                                       time_point give_up_at) {
    const auto at = place_of(name);
    const bool waits = give_up_at > now();
    wish what{name, at, generation, {}};
    ears::ear mine(ears_, at.channel);
    back_off pauses(*context_.time, bounds_);
    core::wait_notice notice(*context_.time, context_.log);
    for (;;) {
        std::optional<error> trouble;
        const auto until = waits ? std::max(give_up_at, now() + least_silence) : soon();
        try {
            // First the ear, then the look: what comes between is heard.
            if (waits && !mine.listens()) co_await mine.listen(until);
            const bool over = co_await look(what, until);
            if (over) co_return true;
        } catch (const connection_lost& e) {
            trouble = no_answer(name, e.what());
        } catch (const error& e) {
            if (e.reason() != errc::unavailable && e.reason() != errc::unreachable) throw;
            trouble = e;
        }
        if (now() >= give_up_at) {
            if (trouble) throw *trouble;
            co_return false;
        }
        if (trouble) {
            notice.say(trouble->what());
            core::alarm timer(*context_.time, context_.strand);
            co_await timer.wait_until(std::min(give_up_at, now() + pauses.next()));
            continue;
        }
        pauses.reset();
        const bool misled = !what.opening.empty();
        const auto heard = co_await hear(mine, what, give_up_at);
        // Any user that may publish can forge it: the look tells. The next one waits for its look.
        if (heard == news::open && misled)
            co_await pause(bounds_.first_pause / 2, bounds_.first_pause);
        if (heard == news::open || now() < give_up_at) continue;
        const auto away = link_.absence();
        if (!away.empty()) throw no_answer(name, away);
        co_return false;
    }
}

error no_answer(std::string_view name, std::string_view why) {
    return {errc::unreachable, "The latch '" + std::string(name) + "' could not be asked for: " +
                                   std::string(why) + "; check that the server is up."};
}

error not_known_whether(std::string_view name, std::string_view why) {
    return {errc::unreachable, "Nobody knows whether the latch '" + std::string(name) +
                                   "' was changed: " + std::string(why) +
                                   "; look at it when the server is up."};
}

}  // namespace pawl::redis
