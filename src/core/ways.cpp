#include "ways.hpp"

#include "chance.hpp"
#include "validate.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>

namespace asio = boost::asio;

namespace pawl::core {
namespace {

asio::awaitable<taken> take_as(engine::ptr home, std::shared_ptr<owner> who, std::string name,
                               request how);

asio::awaitable<taken> ask_once(const engine::ptr& home, const std::shared_ptr<owner>& who,
                                const std::string& name, const request& how) {
    if (how.value) return home->acquire_as(name, *how.value, how.options, how.adopting);
    if (who) return take_as(home, who, name, {.options = how.options, .once = polling{}});
    return home->acquire(name, how.options, true);
}

// Nobody else asks again for who waits so: also a service that is there and cannot serve, or is
// still undoing an earlier request under the same value, is ridden out.
asio::awaitable<void> outlast(absence& away, error trouble, bool waits) {
    if (waits && trouble.reason() == errc::unavailable) {
        try {
            error as_away(errc::unreachable, trouble.what());
            co_await away.ride_out(std::move(as_away));
            co_return;
        } catch (const error&) {}  // no time is left
        throw trouble;
    }
    co_await away.ride_out(std::move(trouble));
}

// As often as `how.once` says, or until `options.wait` is over.
asio::awaitable<taken> poll(engine::ptr home, std::shared_ptr<owner> who, std::string name,
                            request how) {
    const auto retry = how.once.value_or(polling{});
    check_polling(retry);
    const auto give_up_at =
        how.once ? time_point::max() : plus(home->time().now(), how.options.wait);
    alarm pause(home->time(), home->strand());
    duration longest = retry.interval;
    auto away = home->absence_until(how.once ? time_point::min() : give_up_at);
    for (std::uint32_t tried = 1;; ++tried) {
        taken one;
        std::optional<error> trouble;
        try {
            one = co_await ask_once(home, who, name, how);
        } catch (const error& e) {
            trouble = e;
        }
        if (trouble) {
            co_await outlast(away, *trouble, !how.once);
            continue;
        }
        if (one.what || (how.once && tried >= retry.tries)) co_return one;
        const auto now = home->time().now();
        if (now >= give_up_at) throw home->not_in_time(name);
        const auto chosen = random_between(home->time(), longest / 2, longest);
        co_await pause.wait_until(std::min(give_up_at, plus(now, chosen)));
        const auto grown = static_cast<double>(longest.count()) * retry.growth;
        longest = grown < static_cast<double>(retry.longest.count())
                      ? duration(static_cast<duration::rep>(grown))
                      : retry.longest;
    }
}

// One of the owner asks at a time, so that the others find what it got.
asio::awaitable<taken> take_as(engine::ptr home, std::shared_ptr<owner> who, std::string name,
                               request how) {
    check_name(name);
    check_options(how.options);
    const auto began = home->time().now();
    waiting_room::place mine(who->room(), name);
    if (!mine.is_first()) {
        if (how.once) co_return taken{};
        const bool first = co_await mine.until_first(plus(began, how.options.wait));
        if (!first) throw home->not_in_time(name);
    }
    auto again = who->enter_again(name, how.options);
    if (again.what) co_return again;
    if (how.options.wait != forever)
        how.options.wait = std::max(duration{}, how.options.wait - (home->time().now() - began));
    auto fresh = co_await take(home, nullptr, name, how);
    if (fresh.what) who->remember(name, fresh.what);
    co_return fresh;
}

void check_names(const std::vector<std::string>& names) {
    if (names.empty())
        throw error(errc::bad_option, "There are no locks to take; name at least one.");
    if (names.size() > 256)
        throw error(errc::bad_option, "These are " + std::to_string(names.size()) +
                                          " locks at once; name at most 256.");
    for (const auto& each : names)
        check_name(each);
}

// The later ones, or a slow answer, may have kept us waiting for longer than the first one's luck.
std::optional<error> loss_among(const std::vector<taken>& mine) {
    for (const auto& each : mine)
        if (each.what->state() == lock_state::lost)
            return error(errc::lost, "The lock '" + each.what->what().claim.name +
                                         "' was lost before the last of all was ours; try again.");
    return std::nullopt;
}

// Waits for the next of several. The loss of one that is ours already ends that.
asio::awaitable<taken> take_next(engine::ptr home, std::shared_ptr<owner> who, std::string name,
                                 request how, const std::vector<taken>& mine) {
    const auto end = std::make_shared<asio::cancellation_signal>();
    const auto give_up = [end, strand = home->strand()] {
        asio::post(strand, [end] { end->emit(asio::cancellation_type::terminal); });
    };
    std::list<std::stop_callback<decltype(give_up)>> told;
    for (const auto& each : mine)
        told.emplace_back(each.what->lost(), give_up);
    const auto state = co_await asio::this_coro::cancellation_state;
    if (auto callers = state.slot(); callers.is_connected())
        callers.assign([end](asio::cancellation_type how_much) { end->emit(how_much); });
    auto one = co_await asio::co_spawn(
        home->strand(), take(home, std::move(who), std::move(name), std::move(how)),
        asio::bind_cancellation_slot(end->slot(), asio::use_awaitable));
    co_return one;
}

// In the background, and the last one first.
void give_back(engine& home, std::vector<taken>& mine) {
    for (auto each = mine.rbegin(); each != mine.rend(); ++each)
        home.release({std::move(each->what), each->handle}, {});
}

// Where one request can: all that are free now. Empty: not all of them are, or it is not known and
// there is time to ask again.
asio::awaitable<std::vector<taken>> take_at_once(engine::ptr home,
                                                 const std::vector<std::string>& names, request how,
                                                 time_point give_up_at) {
    std::vector<taken> mine;
    try {
        mine = co_await home->acquire_several(names, how.options, give_up_at);
    } catch (const error& e) {
        if (!may_pass(e) || home->time().now() >= give_up_at) throw;
    }
    co_return mine;
}

// An owner may have some of them already.
bool may_be_at_once(const engine& home, const std::shared_ptr<owner>& who, std::size_t names,
                    const request& how) {
    const bool plain = how.options.mode == lock_mode::exclusive && !how.options.fair;
    return !who && names > 1 && plain && (!how.once || how.once->tries == 1) &&
           home.takes_several();
}

}  // namespace

request to_request(const try_options& options) {
    return {.options = once(options), .once = options.retry};
}

owner::owner(const engine& home) : room_(home.time(), home.strand()) {}

taken owner::enter_again(const std::string& name, const lock_options& wanted) const {
    const auto found = held_.find(name);
    const auto one = found == held_.end() ? nullptr : found->second.lock();
    if (!one || !one->has_handles()) return {};
    if (one->state() == lock_state::lost)
        throw error(errc::lost, "The lock '" + name +
                                    "' was lost while this owner held it; let go of its handles "
                                    "before it asks again.");
    const auto& has = one->what().claim;
    if (has.mode != lock_mode::exclusive && has.mode != wanted.mode)
        throw error(errc::bad_option,
                    "This owner holds '" + name +
                        "' beside others, and would wait for itself to have it otherwise; release "
                        "it first.");
    if (has.mode == lock_mode::permits && wanted.permits > has.permits)
        throw error(errc::bad_option, "This owner holds " + std::to_string(has.permits) +
                                          " permits of '" + name + "' and asks for " +
                                          std::to_string(wanted.permits) +
                                          "; release it first, or ask as another owner.");
    return taken(one, one->add_handle());
}

void owner::remember(const std::string& name, const std::shared_ptr<lease>& one) {
    std::erase_if(held_, [](const auto& each) { return each.second.expired(); });
    held_[name] = one;
}

asio::awaitable<taken> take(engine::ptr home, std::shared_ptr<owner> who, std::string name,
                            request how) {
    if (how.value || (how.once && how.once->tries != 1))
        return poll(std::move(home), std::move(who), std::move(name), std::move(how));
    if (who) return take_as(std::move(home), std::move(who), std::move(name), how);
    return home->acquire(std::move(name), how.options, how.once.has_value());
}

asio::awaitable<std::vector<taken>> take_all(engine::ptr home, std::shared_ptr<owner> who,
                                             std::vector<std::string> names, request how) {
    check_names(names);
    check_options(how.options);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    const auto give_up_at = plus(home->time().now(), how.options.wait);
    // Who waits goes on to do so when the time is over: a mere try may be silent for longer.
    const auto least = std::min<duration>(how.options.wait, std::chrono::milliseconds(1));
    const auto ended = co_await asio::this_coro::cancellation_state;
    std::vector<taken> mine;
    if (may_be_at_once(*home, who, names.size(), how)) {
        mine = co_await take_at_once(home, names, how, give_up_at);
        if (mine.empty() && how.once) co_return mine;
    }
    mine.reserve(names.size());
    try {
        while (mine.size() < names.size()) {
            if (give_up_at != time_point::max())
                how.options.wait = std::max(least, give_up_at - home->time().now());
            const auto& name = names[mine.size()];
            taken one;
            if (mine.empty())
                one = co_await take(home, who, name, how);
            else
                one = co_await take_next(home, who, name, how, mine);
            if (!one.what) {
                give_back(*home, mine);
                co_return std::vector<taken>{};
            }
            mine.push_back(std::move(one));
        }
        if (const auto lost = loss_among(mine)) throw error(*lost);
    } catch (...) {
        const auto lost = loss_among(mine);
        give_back(*home, mine);
        if (lost && ended.cancelled() == asio::cancellation_type::none) throw error(*lost);
        throw;
    }
    co_return mine;
}

asio::awaitable<lock_info> wait_change(engine::ptr home, std::string name, fencing_token seen,
                                       duration interval) {
    if (interval < std::chrono::milliseconds(1))
        throw error(errc::bad_option, "The interval between two looks must be 1 ms or more.");
    alarm pause(home->time(), home->strand());
    for (;;) {
        auto found = co_await home->inspect(name);
        const auto now = found.held_by ? found.held_by->token : fencing_token{};
        if (now != seen) co_return found;
        co_await pause.wait_until(plus(home->time().now(), interval));
    }
}

}  // namespace pawl::core
