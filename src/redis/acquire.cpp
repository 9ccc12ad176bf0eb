#include "visit.hpp"

#include "back_off.hpp"
#include "numbers.hpp"
#include "redis_scripts.hpp"
#include "server_errors.hpp"
#include "values.hpp"

#include "../core/chance.hpp"
#include "../core/permits.hpp"
#include "../core/wait_notice.hpp"

#include <array>
#include <span>

#if defined(__GNUC__) && !defined(__clang__)
// A false alarm of GCC 12 for the frame of a coroutine, whose delete it sees and whose new not.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {
namespace {

// {2, n}, {3, n}, {4}: see join.lua.
bool refuses_permits(const reply& answer) {
    return answer.what == reply::kind::array && !answer.items.empty() &&
           answer.items[0].what == reply::kind::integer && answer.items[0].number >= 2;
}

[[noreturn]] void refuse_permits(const reply& answer, claim what) {
    const auto kept = answer.items.size() > 1 ? number(answer.items[1]) : 0;
    if (answer.items[0].number != 3) what.of = 0;  // it was right when it was said
    static_cast<void>(core::permits_in_all(what, static_cast<std::uint32_t>(kept)));
    throw error(errc::protocol, what.name +
                                    ": an unexpected reply to a request for permits;"
                                    " run `pawl doctor` to see what kind of server this is.");
}

bool is_line(const reply& answer) {
    return answer.what == reply::kind::array && answer.items.size() >= 2;
}

error no_answer(const std::string& name, const std::string& why) {
    return {errc::unreachable, "The lock '" + name + "' could not be asked for: " + why +
                                   "; it was not acquired. Check that the server is up."};
}

// The message of a grant was lost, but the lock is ours; what is left of the window counts from the
// question. More than all of it means that the server's clock was set back.
grant grant_found(const waiter& here, const reply& found, time_point asked) {
    const auto left = milliseconds_of(number(found.items[3]));
    const auto rest = std::min<duration>(left, here.window);
    grant given;
    given.deadline = asked + rest - drift(rest);
    given.token = fencing_token(static_cast<std::uint64_t>(number(found.items[1])));
    given.proof = value_of(here.prefix, number(found.items[2]));
    given.confirm = true;
    return given;
}

// A server that goes on saying that a lease ends now, or that gives a lock and refuses it again, is
// not asked in a loop: the first of each is believed, since that is what a race looks like.
class patience {
public:
    patience(runtime& time, const limits& bounds) : time_(time), pauses_(time, bounds) {}

    // When to look again, `asked` being the look before.
    [[nodiscard]] time_point after(time_point asked, time_point look_at) noexcept {
        const auto soonest = asked + look_interval;
        hurried_ = look_at < soonest ? hurried_ + 1 : 0;
        return hurried_ > most_hurried ? soonest : look_at;
    }
    // It stands in line, as a race leaves it.
    void forgive() noexcept {
        refused_ = false;
        pauses_.reset();
    }
    // After a grant that was refused; another grant ends the pause.
    asio::awaitable<void> bear_refusal(waiter& here, time_point give_up_at) {
        if (!std::exchange(refused_, true)) co_return;
        const auto pause = std::min<duration>(pauses_.next(), look_at_least);
        co_await here.woken.wait_until(std::min(give_up_at, time_.now() + pause));
    }

private:
    static constexpr unsigned most_hurried = 2;
    static constexpr duration look_interval = 50ms;

    runtime& time_;
    back_off pauses_;
    unsigned hurried_ = 0;
    bool refused_ = false;
};

}  // namespace

asio::awaitable<std::optional<grant>> locks::acquire(const claim& what, time_point give_up_at) {
    if (!what.value.empty()) co_return co_await bid_for(what, false);
    const bool waits = give_up_at > now();
    back_off pauses(time(), bounds_);
    core::wait_notice notice(time(), context_.log);
    for (auto owner = what.owner;; owner = core::random_hex(time(), 16)) {
        std::optional<error> trouble;
        {
            visit mine(*this, what, owner);
            try {
                auto given = co_await ask(mine, what, waits ? give_up_at : time_point::min());
                if (given) given->owner = owner;
                co_return given;
            } catch (const connection_lost& e) {
                trouble = no_answer(what.name, e.what());
            } catch (const error& e) {
                if (e.reason() != errc::unavailable) throw;
                trouble = e;
            }
            if (mine.answered) pauses.reset();
        }
        if (now() >= give_up_at) throw *trouble;
        notice.say(trouble->what());
        core::alarm timer(time(), context_.strand);
        co_await timer.wait_until(std::min(give_up_at, now() + pauses.next()));
    }
}

asio::awaitable<std::optional<grant>> locks::ask(visit& mine, const claim& what,
                                                 time_point give_up_at) {
    const bool waits = give_up_at != time_point::min();
    if (waits) mine.list();
    auto& here = mine.here;
    const auto until = waits ? std::max(give_up_at, now() + least_silence) : soon();
    if (!link_->connected()) co_await connect(until);
    check_room_for_undo();
    mine.about_to_send();
    here.asked = now();
    const auto value = value_of(here.prefix, wall_ms());
    auto answer = co_await send_acquire(here, what, value, waits, until);
    if (answer.what == reply::kind::error) {
        // A release of this process may have named us meanwhile.
        mine.settled = changed_nothing(answer.text) && !here.given;
        co_await refuse(answer, here.where);
    }
    mine.settled = refuses_permits(answer);
    if (mine.settled) refuse_permits(answer, what);
    if (!is_line(answer))
        throw error(errc::protocol, here.where.lock +
                                        ": an unexpected reply to the acquire script;"
                                        " run `pawl doctor` to see what kind of server this is.");
    mine.answered = true;
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
    co_return co_await stand_in_line(mine, what, std::move(answer), give_up_at);
}

// Who wants it alone, and may be quick, asks the shorter script.
asio::awaitable<reply> locks::send_acquire(const waiter& here, const claim& what,
                                           const std::string& value, bool waits, time_point until) {
    const auto names = here.where.all();
    const auto ttl = milliseconds(what.ttl);
    const auto window = milliseconds(here.window);
    const auto lease = std::to_string(bounds_.waiter_lease_ms);
    const auto known = floor();
    const auto run = link_->current().run_id;
    const std::array<std::string_view, 12> arguments{value,
                                                     ttl,
                                                     what.fenced ? std::string_view(known) : "",
                                                     waits ? std::string_view(here.member) : "",
                                                     here.prefix,
                                                     window,
                                                     lease,
                                                     scheme_.channel_prefix(),
                                                     known,
                                                     here.want,
                                                     here.of,
                                                     run};
    const std::span all_names(names);
    const std::span all_arguments(arguments);
    const auto& script = here.inherits ? scripts::acquire : scripts::join;
    const auto some_names = here.inherits ? all_names.first(4) : all_names;
    const auto some_arguments = here.inherits ? all_arguments.first(7) : all_arguments;
    auto answer = co_await scripts_.run(script, some_names, some_arguments, until);
    co_return answer;
}

// Who is near the front is there when a holder's lease or a dead one's place ends, in `ends_in_ms`
// (-1: nobody knows), one after the other.
time_point locks::next_look(std::int64_t ends_in_ms, std::int64_t rank) const {
    const auto at = now() + core::random_between(time(), look_at_least, look_at_most);
    if (ends_in_ms < 0 || rank < 0 || rank >= 3) return at;
    return std::min(at, now() + milliseconds_of(ends_in_ms) + 2ms + rank * 50ms);
}

asio::awaitable<std::optional<grant>> locks::stand_in_line(visit& mine, const claim& what,
                                                           reply line, time_point give_up_at) {
    auto& here = mine.here;
    auto asked = here.asked;
    bool armed = false;
    patience left(time(), bounds_);
    // Inherited before the server knew us: the script had to be sent twice, and found our own lock.
    mine.stands_again = here.given && here.granted_server_ms < 0;
    for (;;) {
        // Not so where the look found the lock to be ours: its grant is older than the look.
        const bool in_line = line.items.size() >= 4 && line.items[0].number == 0;
        if (in_line) {
            here.asked = asked;
            here.asked_server_ms = number(line.items[2]);
            left.forgive();
        }
        const auto rank = in_line ? number(line.items[3]) : 0;
        const auto look_at =
            left.after(asked, next_look(in_line ? number(line.items[1]) : -1, rank));
        // Tracking is armed by a look: the first in line looks at once where others may free the
        // lock.
        const bool arm = scheme_.shared_with_others() && rank == 0 && !std::exchange(armed, true);
        if (!here.given && !arm) co_await rest(here, std::min(look_at, give_up_at));
        if (here.given) {
            auto given = co_await claim_given(mine);
            if (given) {
                ++context_.count->hand_offs;
                co_return given;
            }
            co_await left.bear_refusal(here, give_up_at);
        }
        if (now() >= give_up_at) co_return std::nullopt;
        line = co_await look(mine, rank == 0, give_up_at, asked);
        mine.looked = true;
        mine.settled = refuses_permits(line);
        if (mine.settled) refuse_permits(line, what);
        mine.stands_again = here.given && is_line(line) && line.items[0].number == 0;
        if (!here.given && line.items.size() == 4 && line.items[0].number == 1)
            here.given = grant_found(here, line, asked);
    }
}

// Until there is a grant, or a reason to look. A changed key is one only so many times a second.
asio::awaitable<void> locks::rest(waiter& here, time_point look_at) {
    bool told = false;
    for (;;) {
        const bool rung = co_await here.woken.wait_until(look_at);
        const bool only_told = std::exchange(here.told, false) && rung && !here.given;
        told = told || only_told;
        if (!only_told || now() >= here.rests_until) break;
        look_at = std::min(look_at, here.rests_until);
    }
    if (told) here.rests_until = now() + bounds_.told_look_pause;
}

asio::awaitable<reply> locks::look(visit& mine, bool first_in_line, time_point give_up_at,
                                   time_point& asked) {
    auto& here = mine.here;
    const auto window = milliseconds(here.window);
    const auto lease = std::to_string(bounds_.waiter_lease_ms);
    back_off pauses(time(), bounds_);
    for (;;) {
        std::string trouble;
        try {
            if (!link_->connected()) co_await connect(give_up_at);
            asked = now();
            const auto lowest = floor();
            const auto names = here.where.all();
            const auto run = link_->current().run_id;
            const std::array<std::string_view, 9> arguments{lowest,      scheme_.channel_prefix(),
                                                            here.member, here.prefix,
                                                            window,      lease,
                                                            here.want,   here.of,
                                                            run};
            // Whoever shares the key with us frees it without a word to our waiters: the server
            // tells us.
            const bool tracked = scheme_.shared_with_others() && first_in_line;
            here.tracks = tracked;
            const auto until = std::max(give_up_at, asked + least_silence);
            auto answer = co_await scripts_.run(scripts::look, names, arguments, until, tracked);
            if (answer.what != reply::kind::error && is_line(answer)) co_return answer;
            if (!worth_retrying(answer.text)) co_await refuse(answer, here.where);
            trouble = answer.text;
        } catch (const connection_lost& e) {
            trouble = e.what();
        }
        // The place in line outlives a short absence of the server; the next look finds it, or a
        // new one. A new connection, or a grant, ends the pause.
        if (!here.given && now() < give_up_at)
            co_await here.woken.wait_until(std::min(give_up_at, now() + pauses.next()));
        if (here.given) {
            reply nothing;
            nothing.items.resize(2);
            co_return nothing;
        }
        if (now() >= give_up_at) throw no_answer(here.name, trouble);
    }
}

// A grant whose time is nearly over is renewed before it is believed. One whose message comes after
// a later look that found us in line was taken back in between.
asio::awaitable<std::optional<grant>> locks::claim_given(visit& mine) {
    auto given = std::move(*mine.here.given);
    const auto granted = std::exchange(mine.here.granted_server_ms, -1);
    const bool dated = mine.looked && granted >= 0 && mine.here.asked_server_ms >= 0;
    // In the same millisecond it may be the look's own grant, or one that was taken back before it:
    // both have the same value, and another token. The next look tells.
    if (dated && granted <= mine.here.asked_server_ms) {
        mine.stands_again = granted == mine.here.asked_server_ms;
        mine.here.given.reset();
        co_return std::nullopt;
    }
    if (granted >= 0 && !is_plausible(mine.here, given.token, granted, now())) {
        mine.here.given.reset();
        mine.stands_again = false;
        // Looked up at once, but not as often as somebody can say it.
        if (std::exchange(mine.here.misled, true))
            co_await pause(bounds_.first_pause / 2, bounds_.first_pause);
        co_return std::nullopt;
    }
    if (given.deadline > now() + mine.here.window / 4) {
        mine.settled = true;
        mine.kept = given.proof;
        co_return given;
    }
    const auto asked = now();
    const auto ttl = milliseconds(mine.here.ttl);
    const auto& where = mine.here.where;
    const std::array<std::string_view, 3> names{where.lock, where.holders, where.details};
    const std::array<std::string_view, 2> arguments{given.proof, ttl};
    const bool alone = mine.here.want == "x";
    const auto& script = alone ? scripts::renew : scripts::renew_beside;
    const auto some_names = std::span(names).first(alone ? 1 : 3);
    const auto answer = co_await scripts_.run(script, some_names, arguments, soon());
    if (answer.items.size() == 1 && answer.items[0].number == 1) {
        given.deadline = asked + mine.here.ttl - drift(mine.here.ttl);
        given.confirm = false;
        mine.settled = true;
        mine.kept = given.proof;
        co_return given;
    }
    mine.here.given.reset();
    mine.stands_again = false;  // where it stands, it goes on waiting
    // A look may find the grant again at once.
    if (answer.what == reply::kind::error)
        co_await pause(bounds_.first_pause / 2, bounds_.first_pause);
    co_return std::nullopt;
}

locks::prepared_leave locks::prepare_leave(const std::string& lock) {
    auto from = std::make_shared<departure>();
    undo_queue::undo what;
    what.lock = lock;
    what.request = [this, from](time_point until) { return send_leave(*from, until); };
    return {std::move(from), undo_queue::prepare(std::move(what))};
}

// It names one owner, and so nothing but what its requests have done.
void locks::leave_later(prepared_leave how, departure from, duration ttl,
                        std::uint64_t generation) noexcept {
    *how.from = std::move(from);
    undo_later(std::move(how.undo), ttl, generation);
}

asio::awaitable<reply> locks::send_leave(const departure& what, time_point give_up_at) {
    const auto lowest = floor();
    const auto run = link_->current().run_id;
    const auto names = what.where.all();
    const std::array<std::string_view, 6> arguments{
        lowest, scheme_.channel_prefix(), what.member, what.prefix, what.kept, run};
    auto answer = co_await scripts_.run(scripts::leave, names, arguments, give_up_at);
    co_return answer;
}

}  // namespace pawl::redis
