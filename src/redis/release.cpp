#include "locks.hpp"

#include "redis_scripts.hpp"
#include "server_errors.hpp"
#include "values.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {
namespace {

std::string milliseconds(duration d) {
    return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(d).count());
}

release_result found(const reply& answer) {
    if (answer.what == reply::kind::error)
        return answer.text.starts_with("WRONGTYPE") ? release_result::taken_over
                                                    : release_result::unknown;
    if (answer.items.empty()) return release_result::unknown;
    switch (answer.items[0].number) {
    case 1: return release_result::released;
    case 0: return release_result::expired;
    default: return release_result::taken_over;
    }
}

}  // namespace

asio::awaitable<void> locks::renew(std::span<renewal> batch) {
    std::vector<std::string> owned;
    owned.reserve(batch.size() * 2);
    auto give_up_at = now();
    for (const auto& one : batch) {
        owned.push_back(scheme_.of(one.what->claim.name).lock);
        owned.push_back(milliseconds(one.ttl));
        give_up_at = std::max(give_up_at, one.what->grant.deadline);
    }
    std::vector<std::string_view> names;
    std::vector<std::string_view> arguments;
    names.reserve(batch.size());
    arguments.reserve(batch.size() * 2);
    for (std::size_t i = 0; i < batch.size(); ++i) {
        names.emplace_back(owned[2 * i]);
        arguments.emplace_back(batch[i].what->grant.proof);
        arguments.emplace_back(owned[2 * i + 1]);
    }
    // The connection may have to be made first: what counts is when the request can have been sent.
    const auto asked = now();
    try {
        const auto answer = co_await scripts_.run(scripts::renew, names, arguments, give_up_at);
        if (answer.items.size() != batch.size()) co_return;
        for (std::size_t i = 0; i < batch.size(); ++i) {
            if (answer.items[i].number == 1) {
                batch[i].result = renewal::outcome::extended;
                batch[i].deadline = asked + batch[i].ttl - drift(batch[i].ttl);
            } else {
                batch[i].result = renewal::outcome::refused;
            }
        }
    } catch (const std::exception& e) {
        if (context_.log) context_.log(std::string("a renewal was not answered: ") + e.what());
    }
}

asio::awaitable<reply> locks::send_release(const keys& where, const std::string& proof,
                                           const heir& to, bool turn, time_point give_up_at) {
    const auto lowest = floor();
    const auto value = to.member.empty() ? std::string() : value_of(to.prefix, to.since);
    const auto ttl = to.member.empty() ? std::string() : milliseconds(to.ttl);
    const std::array<std::string_view, 4> names{where.lock, where.fence, where.queue,
                                                where.waiters};
    const std::array<std::string_view, 7> arguments{
        proof, lowest, scheme_.channel_prefix(), to.member, value, ttl, turn ? "1" : "0"};
    auto answer = co_await scripts_.run(scripts::release, names, arguments, give_up_at);
    co_return answer;
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
        const auto to = heir_of(what.claim.name);
        const auto passed = passes_.find(what.claim.name);
        const bool turn = passed != passes_.end() && passed->second >= local_passes;
        const auto asked = now();
        const auto answer = co_await send_release(where, what.grant.proof, to, turn, give_up_at);
        result = found(answer);
        inherit(what.claim.name, where, to, answer, asked);
    } catch (const connection_lost&) {
    } catch (const error&) {}
    if (result == release_result::unknown && !closing_)
        asio::co_spawn(context_.strand, release_later(where, what.grant.proof, what.claim.ttl),
                       asio::detached);
    co_return result;
}

// A waiter of this process inherits at once; after some turns the others come first.
locks::heir locks::heir_of(const std::string& name) const {
    const auto* first = waiters_.first_for(name);
    if (first == nullptr) return {};
    return {first->owner, first->member, first->prefix, first->ttl, wall_ms()};
}

void locks::inherit(const std::string& name, const keys& where, const heir& to, const reply& answer,
                    time_point asked) {
    if (answer.items.size() < 2) {
        passes_.erase(name);
        return;
    }
    ++passes_[name];
    auto* next = waiters_.by_owner(to.owner);
    if (next == nullptr) {
        // Its leaving may have come before the gift, where the script had to be sent twice.
        asio::co_spawn(context_.strand,
                       leave(where, to.member, to.prefix, to.ttl, link_->current().generation),
                       asio::detached);
        return;
    }
    if (next->given) return;
    std::uint64_t token = 0;
    const auto& text = answer.items[1].text;
    std::from_chars(text.data(), text.data() + text.size(), token);
    grant given;
    given.deadline = asked + next->ttl - drift(next->ttl);
    given.token = fencing_token(token);
    given.proof = value_of(next->prefix, to.since);
    next->given = std::move(given);
    next->woken.ring();
}

asio::awaitable<void> locks::release_later(keys where, std::string proof, duration ttl) {
    const busy here(*this);
    const auto until = now() + ttl;
    const heir nobody;
    while (now() < until && !closing_) {
        co_await pause(50ms, 200ms);
        try {
            if (!link_->connected()) co_await connect(until);
            const auto answer = co_await send_release(where, proof, nobody, false, until);
            if (found(answer) != release_result::unknown || !worth_retrying(answer.text)) co_return;
        } catch (const connection_lost&) {
        } catch (const error&) {}
    }
}

}  // namespace pawl::redis
