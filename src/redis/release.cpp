#include "locks.hpp"

#include "redis_scripts.hpp"
#include "server_errors.hpp"
#include "values.hpp"
#include "wrong_type.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {
asio::awaitable<void> locks::renew(std::span<renewal> batch) {
    const auto alone = [](const renewal& one) {
        return one.what->claim.mode == lock_mode::exclusive;
    };
    if (std::ranges::all_of(batch, alone)) {
        co_await renew_some(batch, false);
        co_return;
    }
    std::vector<renewal> some;
    std::vector<renewal> beside;
    for (const auto& one : batch)
        (alone(one) ? some : beside).push_back(one);
    if (!some.empty()) co_await renew_some(some, false);
    co_await renew_some(beside, true);
    auto next = some.begin();
    auto next_beside = beside.begin();
    for (auto& one : batch)
        one = alone(one) ? *next++ : *next_beside++;
}

asio::awaitable<void> locks::renew_some(std::span<renewal> batch, bool beside) {
    std::vector<keys> where;
    std::vector<std::string> ttls;
    std::vector<std::string_view> names;
    std::vector<std::string_view> arguments;
    where.reserve(batch.size());
    ttls.reserve(batch.size());
    names.reserve(batch.size() * (beside ? 3 : 1));
    arguments.reserve(batch.size() * 2);
    for (const auto& one : batch) {
        where.push_back(scheme_.of(one.what->claim.name));
        ttls.push_back(milliseconds(one.ttl));
        names.emplace_back(where.back().lock);
        if (beside) names.insert(names.end(), {where.back().holders, where.back().details});
        arguments.insert(arguments.end(), {one.what->grant.proof, ttls.back()});
    }
    const auto& script = beside ? scripts::renew_beside : scripts::renew;
    co_await renew_by(script, batch, names, arguments);
}

asio::awaitable<reply> locks::send_release(const keys& where, const std::string& proof,
                                           const heir& to, bool turn, time_point give_up_at) {
    const auto lowest = floor();
    const auto value = to.member.empty() ? std::string() : value_of(to.prefix, to.since);
    const auto ttl = to.member.empty() ? std::string() : milliseconds(to.ttl);
    const auto names = where.all();
    const auto run = link_->current().run_id;
    const std::array<std::string_view, 8> arguments{
        proof, lowest, scheme_.channel_prefix(), to.member, value, ttl, turn ? "1" : "0", run};
    auto answer = co_await scripts_.run(scripts::release, names, arguments, give_up_at);
    co_return answer;
}

asio::awaitable<reply> locks::send_part(const keys& where, const std::string& proof,
                                        time_point give_up_at) {
    const auto lowest = floor();
    const auto names = where.all();
    const auto run = link_->current().run_id;
    const std::array<std::string_view, 4> arguments{proof, lowest, scheme_.channel_prefix(), run};
    auto answer = co_await scripts_.run(scripts::part, names, arguments, give_up_at);
    co_return answer;
}

asio::awaitable<reply> locks::give_back(const hold& what, const heir& to, bool turn,
                                        time_point give_up_at) {
    const auto where = scheme_.of(what.claim.name);
    const auto& proof = what.grant.proof;
    if (what.claim.mode != lock_mode::exclusive) {
        auto parted = co_await send_part(where, proof, give_up_at);
        co_return parted;
    }
    auto answer = co_await send_release(where, proof, to, turn, give_up_at);
    co_return answer;
}

asio::awaitable<release_result> locks::overwritten(const hold& what, const keys& where,
                                                   time_point give_up_at) {
    const bool alone = what.claim.mode == lock_mode::exclusive;
    for (const auto& one : typed(where)) {
        const bool holds =
            one.key == where.lock || one.key == where.holders || one.key == where.details;
        if (!holds || (alone && one.key != where.lock)) continue;
        const std::array<std::string_view, 2> question{"TYPE", one.key};
        const auto type = co_await link_->exec(question, give_up_at);
        if (type.what == reply::kind::error) co_return release_result::unknown;
        if (type.text != one.type && type.text != "none") co_return release_result::taken_over;
    }
    log(where.lock +
        ": could not be given back, since a key beside it holds something else; it "
        "ends with its lease.");
    co_return release_result::unknown;
}

asio::awaitable<release_result> locks::release(const hold& what) {
    const busy here(*this);
    const auto where = scheme_.of(what.claim.name);
    const auto give_up_at =
        std::clamp(what.grant.deadline, now() + 50ms, now() + where_.reply_timeout);
    auto result = release_result::unknown;
    try {
        // The heir is chosen when there is nothing left to wait for: it may leave at any time.
        if (!link_->connected()) co_await connect(give_up_at);
        const auto to = heir_of(what.claim);
        const auto passed = passes_.find(what.claim.name);
        const bool turn = passed != passes_.end() && passed->second >= bounds_.local_passes;
        prepared_leave leaving;
        if (!to.member.empty()) {
            leaving = prepare_leave(where.lock);
            *leaving.from = {where, to.member, to.prefix, {}};
        }
        const auto asked = now();
        const auto answer = co_await give_back(what, to, turn, give_up_at);
        result = found(answer);
        if (of_another_type(answer)) result = co_await overwritten(what, where, give_up_at);
        inherit(what.claim.name, to, std::move(leaving), answer, asked);
    } catch (const error&) {}
    if (result == release_result::unknown && !closing_)
        asio::co_spawn(context_.strand, release_later(what), asio::detached);
    co_return result;
}

// A waiter of this process inherits at once; after some turns the others come first.
locks::heir locks::heir_of(const claim& from) const {
    if (from.mode != lock_mode::exclusive) return {};
    const auto* first = waiters_.first_for(from.name);
    if (first == nullptr) return {};
    return {first->owner, first->member, first->prefix, first->ttl, wall_ms()};
}

// Without memory for the gift its waiter looks at once, and finds it at the server.
void locks::inherit(const std::string& name, const heir& to, prepared_leave leaving,
                    const reply& answer, time_point asked) noexcept {
    auto* next = waiters_.by_owner(to.owner);
    try {
        if (answer.items.size() < 2) {
            passes_.erase(name);
            return;
        }
        // Its leaving may have come before the gift, where the script had to be sent twice.
        if (next == nullptr)
            undo_later(std::move(leaving.undo), to.ttl, link_->current().generation);
        ++passes_[name];
        if (next != nullptr && !next->given) pass_to(*next, to, answer, asked);
    } catch (const std::bad_alloc&) {
        if (next != nullptr) next->woken.ring();
    }
}

void locks::pass_to(waiter& next, const heir& to, const reply& answer, time_point asked) {
    grant given;
    given.deadline = asked + next.ttl - drift(next.ttl);
    given.token = fencing_token(static_cast<std::uint64_t>(number(answer.items[1])));
    given.proof = value_of(next.prefix, to.since);
    next.given = std::move(given);
    next.woken.ring();
}

asio::awaitable<void> locks::release_later(hold what) {
    const heir nobody;
    const saying say = [&](time_point until) { return give_back(what, nobody, false, until); };
    co_await release_later_by(say, what.claim.ttl);
}

}  // namespace pawl::redis
