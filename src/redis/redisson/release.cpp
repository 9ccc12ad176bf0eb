#include "locks.hpp"

#include "redisson_scripts.hpp"

#include "../server_errors.hpp"

#include "../../core/chance.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis::redisson {

target locks::target_of(const hold& what) const {
    return {what.claim, kind_of(what.claim, where_.object), naming_.of(what.claim.name),
            what.grant.proof};
}

// The keys of a cluster's script must be of one slot, so of one lock. All are asked at once: leases
// do not wait for each other's answers.
asio::awaitable<void> locks::renew(std::span<renewal> batch) {
    if (!link_->current().cluster || batch.size() < 2) {
        co_await renew_together(batch);
        co_return;
    }
    using one_of_them = decltype(asio::co_spawn(context_.strand, renew_together(batch),  //
                                                asio::deferred));
    std::vector<one_of_them> all;
    for (std::size_t i = 0; i < batch.size(); ++i)
        all.push_back(asio::co_spawn(context_.strand, renew_together(batch.subspan(i, 1)),  //
                                     asio::deferred));
    auto group = asio::experimental::make_parallel_group(std::move(all));
    co_await group.async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
}

asio::awaitable<void> locks::renew_together(std::span<renewal> batch) {
    std::vector<target> all;
    std::vector<std::string> ttls;
    all.reserve(batch.size());
    ttls.reserve(batch.size());
    std::vector<std::string_view> keys;
    std::vector<std::string_view> arguments;
    for (const auto& one : batch) {
        const auto& mine = all.emplace_back(target_of(*one.what));
        keys.insert(keys.end(), {mine.keys.lock, mine.renewal_key()});
        arguments.insert(arguments.end(), {to_string(mine.what), mine.owner,
                                           ttls.emplace_back(milliseconds(one.ttl)), mine.permits});
    }
    co_await renew_by(scripts::renew, batch, keys, arguments);
}

asio::awaitable<reply> locks::send_release(const target& what, std::string latch,
                                           time_point give_up_at) {
    if (!link_->connected()) co_await connect(give_up_at);
    // It must outlive every attempt to say this release again.
    auto kept = 2 * (where_.reply_timeout + where_.connect_timeout);
    if (what.what == kind::semaphore) kept += what.ttl;
    const auto latch_ms = milliseconds(kept);
    const auto wait_ms = milliseconds(line_lease);
    auto keys = what.script_keys();
    if (!latch.empty()) keys.emplace_back(latch);
    const std::array<std::string_view, 7> arguments{what.owner,  publish(), what.release_channel(),
                                                    latch_ms,    wait_ms,   what.keys.tagged,
                                                    what.permits};
    auto answer = co_await scripts_.run(release_script(what.what), keys, arguments, give_up_at);
    co_return answer;
}

// Said again after a lost answer: the latch then says what the first one did.
asio::awaitable<release_result> locks::release(const hold& what) {
    const busy here(*this);
    const auto mine = target_of(what);
    const auto latch = mine.keys.latch(core::random_hex(time(), 16));
    const auto give_up_at =
        std::clamp(what.grant.deadline, now() + 50ms, now() + where_.reply_timeout);
    auto result = release_result::unknown;
    back_off pauses(time(), bounds_);
    short_pause sleep(*this);
    for (;;) {
        bool again = false;
        try {
            const auto answer = co_await send_release(mine, latch, give_up_at);
            result = found(answer);
        } catch (const connection_lost&) {
            again = !closing_;
        } catch (const error&) {}
        if (!again || now() >= give_up_at) break;
        const bool goes_on = co_await sleep.until(std::min(give_up_at, now() + pauses.next()));
        if (!goes_on) break;
    }
    // What stays behind answers also for a release that comes late: only a lease heals that.
    const bool leased = mine.what != kind::semaphore;
    if (result == release_result::released && leased)
        asio::co_spawn(context_.strand, forget(latch), asio::detached);
    else if (result == release_result::unknown && !closing_)
        asio::co_spawn(context_.strand, release_later(mine, latch), asio::detached);
    co_return result;
}

asio::awaitable<void> locks::forget(std::string latch) {
    const busy here(*this);
    try {
        const std::array<std::string_view, 2> words{"DEL", latch};
        co_await link_->exec(words, soon());
    } catch (const error&) {}  // it has an end of its own
}

asio::awaitable<void> locks::release_later(target what, std::string latch) {
    const busy here(*this);
    const saying say = [this, &what, &latch](time_point until) {
        return send_release(what, latch, until);
    };
    co_await release_later_by(say, what.owed());
    if (!closing_ && what.what != kind::semaphore) co_await forget(std::move(latch));
}

target locks::reader_of(const hold& what) const {
    auto shared = what;
    shared.claim.mode = lock_mode::shared;
    auto& owner = shared.grant.proof;
    if (owner.ends_with(":write")) owner.resize(owner.size() - 6);
    return target_of(shared);
}

asio::awaitable<std::optional<grant>> locks::downgrade(const hold& what) {
    const auto mine = reader_of(what);
    const auto give_up_at = what.grant.deadline;
    if (!link_->connected()) co_await connect(give_up_at);
    const std::array<std::string_view, 2> keys{mine.keys.lock, mine.own_key};
    const std::array<std::string_view, 5> arguments{what.grant.proof, mine.owner, mine.ttl_ms,
                                                    publish(), mine.channel};
    const auto asked = now();
    std::optional<grant> given;
    try {
        const auto answer = co_await scripts_.run(scripts::downgrade, keys, arguments, give_up_at);
        if (!of_another_type(answer)) refuse_errors(answer, mine.keys.lock);
        if (number(answer) != 1) co_return given;
    } catch (const connection_lost& e) {
        throw error(errc::unreachable, mine.keys.lock + ": " + e.what());
    }
    given = what.grant;
    given->deadline = asked + mine.ttl - drift(mine.ttl);
    given->proof = mine.owner;
    co_return given;
}

}  // namespace pawl::redis::redisson
