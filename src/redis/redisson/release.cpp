#include "locks.hpp"

#include "redisson_scripts.hpp"

#include "../server_errors.hpp"

#include "../../core/chance.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis::redisson {
namespace {

release_result found(const reply& answer) {
    if (of_another_type(answer)) return release_result::taken_over;
    if (answer.what != reply::kind::integer) return release_result::unknown;
    switch (answer.number) {
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
        owned.push_back(naming_.of(one.what->claim.name).lock);
        owned.push_back(milliseconds(one.ttl));
        give_up_at = std::max(give_up_at, one.what->grant.deadline);
    }
    std::vector<std::string_view> keys;
    std::vector<std::string_view> arguments;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        keys.emplace_back(owned[2 * i]);
        arguments.emplace_back(batch[i].what->grant.proof);
        arguments.emplace_back(owned[2 * i + 1]);
    }
    // The connection may have to be made first: what counts is when the request can have been sent.
    const auto asked = now();
    try {
        const auto answer = co_await scripts_.run(scripts::renew, keys, arguments, give_up_at);
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

asio::awaitable<reply> locks::send_release(const names& keys, const std::string& owner,
                                           const std::string& latch, time_point give_up_at) {
    // It must outlive every attempt to say this release again.
    const auto latch_ms = milliseconds(2 * (where_.reply_timeout + where_.connect_timeout));
    const std::array<std::string_view, 2> both{keys.lock, latch};
    const std::array<std::string_view, 3> arguments{owner, keys.channel, latch_ms};
    const auto used = std::span(both).first(latch.empty() ? 1 : 2);
    auto answer = co_await scripts_.run(scripts::release, used, arguments, give_up_at);
    co_return answer;
}

// Said again after a lost answer: the latch then says what the first one did.
asio::awaitable<release_result> locks::release(const hold& what) {
    const busy here(*this);
    const auto keys = naming_.of(what.claim.name);
    const auto latch = keys.latch(core::random_hex(time(), 16));
    const auto give_up_at =
        std::clamp(what.grant.deadline, now() + 50ms, now() + where_.reply_timeout);
    auto result = release_result::unknown;
    for (;;) {
        bool again = false;
        try {
            const auto answer = co_await send_release(keys, what.grant.proof, latch, give_up_at);
            result = found(answer);
        } catch (const connection_lost&) {
            again = !closing_;
        } catch (const error&) {}
        if (!again || now() >= give_up_at) break;
        co_await pause(20ms, 60ms);
    }
    if (result == release_result::released)
        asio::co_spawn(context_.strand, forget(latch), asio::detached);
    else if (result == release_result::unknown && !closing_)
        asio::co_spawn(context_.strand,
                       release_later(keys, what.grant.proof, latch, what.claim.ttl),
                       asio::detached);
    co_return result;
}

asio::awaitable<void> locks::forget(std::string latch) {
    const busy here(*this);
    try {
        const std::array<std::string_view, 2> words{"DEL", latch};
        co_await link_->exec(words, soon());
    } catch (const connection_lost&) {
    } catch (const error&) {}  // it has an end of its own
}

asio::awaitable<void> locks::release_later(names keys, std::string owner, std::string latch,
                                           duration ttl) {
    const busy here(*this);
    const auto until = now() + ttl;
    while (now() < until && !closing_) {
        co_await pause(50ms, 200ms);
        try {
            const auto answer = co_await send_release(keys, owner, latch, until);
            if (found(answer) != release_result::unknown || !worth_retrying(answer.text)) {
                co_await forget(std::move(latch));
                co_return;
            }
        } catch (const connection_lost&) {
        } catch (const error&) {}
    }
}

}  // namespace pawl::redis::redisson
