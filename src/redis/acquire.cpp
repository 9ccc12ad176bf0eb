#include "locks.hpp"

#include "redis_scripts.hpp"
#include "server_errors.hpp"
#include "values.hpp"

#include "../core/chance.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <array>
#include <charconv>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {
namespace {

std::string milliseconds(duration d) {
    return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(d).count());
}

std::int64_t number(const reply& from) {
    if (from.what == reply::kind::integer) return from.number;
    std::int64_t value = -1;
    std::from_chars(from.text.data(), from.text.data() + from.text.size(), value);
    return value;
}

bool is_line(const reply& answer) {
    return answer.what == reply::kind::array && answer.items.size() >= 2;
}

error no_answer(const std::string& name, const std::string& why) {
    return {errc::unreachable, "The lock '" + name + "' could not be asked for: " + why +
                                   "; it was not acquired. Check that the server is up."};
}

}  // namespace

// One owner's stay at the server. Whatever ends it without a grant, the server is told to forget
// it.
class locks::visit {
public:
    visit(locks& home, const claim& what, unsigned attempt)
        : home_(home), here(home.time(), home.context_.strand) {
        // A fresh owner for every send: a request that was lost may still be carried out.
        static constexpr char digits[] = "0123456789abcdef";
        here.owner = what.owner;
        here.owner[here.owner.size() - 2] = digits[attempt / 16 % 16];
        here.owner[here.owner.size() - 1] = digits[attempt % 16];
        here.name = what.name;
        here.member.reserve(home.client_.size() + 1 + here.owner.size());
        here.member += home.client_;
        here.member += ':';
        here.member += here.owner;
        here.prefix.reserve(here.owner.size() + home.value_end_.size());
        here.prefix += here.owner;
        here.prefix += home.value_end_;
        here.where = home.scheme_.of(what.name);
        here.ttl = what.ttl;
        here.window = std::min<duration>(claim_window, what.ttl);
    }
    ~visit() {
        if (listed_) home_.waiters_.remove(here);
        if (settled || !asked_) return;
        asio::co_spawn(home_.context_.strand,
                       home_.leave(std::move(here.where), std::move(here.member),
                                   std::move(here.prefix), here.ttl, generation_),
                       asio::detached);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

    void about_to_send() noexcept {
        asked_ = true;
        generation_ = home_.link_->current().generation;
    }
    void list() {
        home_.waiters_.add(here);
        listed_ = true;
    }

private:
    locks& home_;
    bool listed_ = false;
    bool asked_ = false;
    std::uint64_t generation_ = 0;

public:
    waiter here;
    bool settled = false;  // granted, or the server said that we hold and wait for nothing
};

asio::awaitable<std::optional<grant>> locks::acquire(const claim& what, time_point give_up_at) {
    if (!what.value.empty()) co_return co_await bid_for(what, false);
    const bool waits = give_up_at > now();
    for (unsigned attempt = 0;; ++attempt) {
        std::optional<error> trouble;
        {
            visit mine(*this, what, attempt);
            try {
                co_return co_await ask(mine, what, waits ? give_up_at : time_point::min());
            } catch (const connection_lost& e) {
                trouble = no_answer(what.name, e.what());
            } catch (const error& e) {
                if (e.reason() != errc::unavailable) throw;
                trouble = e;
            }
        }
        if (now() >= give_up_at) throw *trouble;
        if (context_.log) context_.log(std::string(trouble->what()) + " Trying again.");
        co_await pause(50ms, 200ms);
    }
}

asio::awaitable<std::optional<grant>> locks::ask(visit& mine, const claim& what,
                                                 time_point give_up_at) {
    const bool waits = give_up_at != time_point::min();
    if (waits) mine.list();
    auto& here = mine.here;
    const auto until = waits ? std::max(give_up_at, now() + least_silence) : soon();
    if (!link_->connected()) co_await connect(until);
    mine.about_to_send();
    here.asked = now();
    const auto value = value_of(here.prefix, wall_ms());
    const auto ttl = milliseconds(what.ttl);
    const auto window = milliseconds(here.window);
    const auto lease = std::to_string(waiter_lease_ms);
    const auto lowest = what.fenced ? floor() : std::string();
    const std::array<std::string_view, 4> names{here.where.lock, here.where.fence, here.where.queue,
                                                here.where.waiters};
    const std::array<std::string_view, 7> arguments{
        value, ttl, lowest, waits ? std::string_view(here.member) : "", here.prefix, window, lease};
    auto answer = co_await scripts_.run(scripts::acquire, names, arguments, until);
    refuse_errors(answer, here.where.lock);
    if (!is_line(answer))
        throw error(errc::protocol, here.where.lock + ": an answer that makes no sense.");
    if (answer.items[0].number == 1) {
        mine.settled = true;
        grant given;
        given.deadline = here.asked + what.ttl - drift(what.ttl);
        given.token = fencing_token(static_cast<std::uint64_t>(number(answer.items[1])));
        given.proof = value;
        co_return given;
    }
    if (!waits) {
        mine.settled = true;
        co_return std::nullopt;
    }
    co_return co_await stand_in_line(mine, std::move(answer), give_up_at);
}

asio::awaitable<std::optional<grant>> locks::stand_in_line(visit& mine, reply line,
                                                           time_point give_up_at) {
    auto& here = mine.here;
    auto asked = here.asked;
    bool armed = false;
    for (;;) {
        // Not so where the look found the lock to be ours: its grant is older than the look.
        const bool in_line = line.items.size() >= 4 && line.items[0].number == 0;
        if (in_line) {
            here.asked = asked;
            here.asked_server_ms = number(line.items[2]);
        }
        auto look_at = now() + core::random_between(time(), look_at_least, look_at_most);
        // Who is near the front is there when the present holder's lease ends, one after the other.
        const auto left = in_line ? number(line.items[1]) : -1;
        const auto rank = in_line ? number(line.items[3]) : 0;
        if (left >= 0 && rank < 3)
            look_at = std::min(look_at, now() + std::chrono::milliseconds(left + 2 + rank * 50));
        // Tracking is armed by a look: the first in line looks at once where others may free the
        // lock.
        const bool arm = scheme_.shared_with_others() && rank == 0 && !std::exchange(armed, true);
        if (!here.given && !arm) co_await here.woken.wait_until(std::min(look_at, give_up_at));
        if (here.given) {
            auto given = co_await claim_given(mine);
            if (given) {
                ++context_.count->hand_offs;
                co_return given;
            }
        }
        if (now() >= give_up_at) co_return std::nullopt;
        line = co_await look(mine, rank == 0, give_up_at, asked);
        if (!here.given && line.items.size() == 4 && line.items[0].number == 1) {
            // The message was lost, but the lock is ours; what is left of the window counts from
            // the question.
            const auto rest = std::chrono::milliseconds(number(line.items[3]));
            grant given;
            given.deadline = asked + rest - drift(rest);
            given.token = fencing_token(static_cast<std::uint64_t>(number(line.items[1])));
            given.proof = value_of(here.prefix, number(line.items[2]));
            given.confirm = true;
            here.given = std::move(given);
        }
    }
}

asio::awaitable<reply> locks::look(visit& mine, bool first_in_line, time_point give_up_at,
                                   time_point& asked) {
    auto& here = mine.here;
    const auto window = milliseconds(here.window);
    const auto lease = std::to_string(waiter_lease_ms);
    for (;;) {
        std::string trouble;
        try {
            if (!link_->connected()) co_await connect(give_up_at);
            asked = now();
            const auto lowest = floor();
            const std::array<std::string_view, 4> names{here.where.lock, here.where.fence,
                                                        here.where.queue, here.where.waiters};
            const std::array<std::string_view, 6> arguments{
                lowest, scheme_.channel_prefix(), here.member, here.prefix, window, lease};
            // Whoever shares the key with us frees it without a word to our waiters: the server
            // tells us.
            const bool tracked = scheme_.shared_with_others() && first_in_line;
            const auto until = std::max(give_up_at, asked + least_silence);
            auto answer = co_await scripts_.run(scripts::look, names, arguments, until, tracked);
            if (answer.what != reply::kind::error && is_line(answer)) co_return answer;
            if (!worth_retrying(answer.text)) refuse_errors(answer, here.where.lock);
            trouble = answer.text;
        } catch (const connection_lost& e) {
            trouble = e.what();
        }
        // The place in line outlives a short absence of the server; the next look finds it, or a
        // new one.
        if (here.given) {
            reply nothing;
            nothing.items.resize(2);
            co_return nothing;
        }
        if (now() >= give_up_at) throw no_answer(here.name, trouble);
        co_await pause(50ms, 200ms);
    }
}

// A grant whose window is nearly over, or whose instant is not known well, is renewed before it is
// believed.
asio::awaitable<std::optional<grant>> locks::claim_given(visit& mine) {
    auto given = std::move(*mine.here.given);
    if (!given.confirm || given.deadline > now() + mine.here.window / 4) {
        mine.settled = true;
        co_return given;
    }
    const auto asked = now();
    const auto ttl = milliseconds(mine.here.ttl);
    const std::array<std::string_view, 1> names{mine.here.where.lock};
    const std::array<std::string_view, 2> arguments{given.proof, ttl};
    const auto answer = co_await scripts_.run(scripts::renew, names, arguments, soon());
    if (answer.items.size() == 1 && answer.items[0].number == 1) {
        given.deadline = asked + mine.here.ttl - drift(mine.here.ttl);
        given.confirm = false;
        mine.settled = true;
        co_return given;
    }
    mine.here.given.reset();
    co_return std::nullopt;
}

// Until the server has confirmed it, for the ttl at the longest. What was sent over another
// connection may still be carried out after this: then it is said again.
asio::awaitable<void> locks::leave(keys where, std::string member, std::string prefix, duration ttl,
                                   std::uint64_t generation) {
    const busy here(*this);
    const auto until = now() + ttl + where_.reply_timeout;
    for (auto again = 0; again < 3 && now() < until;) {
        try {
            if (!link_->connected()) co_await connect(until);
            const auto lowest = floor();
            const std::array<std::string_view, 4> names{where.lock, where.fence, where.queue,
                                                        where.waiters};
            const std::array<std::string_view, 4> arguments{lowest, scheme_.channel_prefix(),
                                                            member, prefix};
            const auto answer = co_await scripts_.run(scripts::leave, names, arguments, until);
            if (answer.what != reply::kind::error) {
                if (link_->current().generation == generation) break;
                ++again;
            } else if (!worth_retrying(answer.text)) {
                break;
            }
        } catch (const connection_lost&) {
        } catch (const error&) {}
        if (closing_) break;
        co_await pause(100ms, 400ms);
    }
}

}  // namespace pawl::redis
