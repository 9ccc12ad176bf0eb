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

locks::ear::ear(locks& home, const std::string& channel)
    : woken(home.time(), home.context_.strand),
      home_(home),
      channel_(channel),
      here_(home.ears_.emplace(channel, this)) {}

locks::ear::~ear() {
    home_.ears_.erase(here_);
    if (listens_) home_.link_->unsubscribe(channel_);
}

asio::awaitable<void> locks::ear::listen(time_point give_up_at) {
    co_await home_.link_->subscribe(channel_, give_up_at);
    listens_ = true;
}

// One owner, sent once: a request without an answer may still be carried out, and is then undone.
class locks::attempt {
public:
    attempt(locks& home, const names& keys, duration ttl)
        : owner(home.client_ + ":" + std::to_string(++home.threads_)),
          home_(home),
          keys_(keys),
          ttl_(ttl) {}
    ~attempt() {
        if (settled || !asked_) return;
        asio::co_spawn(home_.context_.strand, home_.undo(keys_, owner, ttl_, generation_),
                       asio::detached);
    }
    attempt(const attempt&) = delete;
    attempt& operator=(const attempt&) = delete;

    void about_to_send() noexcept {
        asked_ = true;
        generation_ = home_.link_->current().generation;
    }

    const std::string owner;
    bool settled = false;  // granted, or the server said that it is not

private:
    locks& home_;
    const names& keys_;
    const duration ttl_;
    bool asked_ = false;
    std::uint64_t generation_ = 0;
};

asio::awaitable<std::optional<grant>> locks::acquire(const claim& what, time_point give_up_at) {
    const bool waits = give_up_at > now();
    const auto keys = naming_.of(what.name);
    ear mine(*this, keys.channel);
    for (;;) {
        std::optional<error> trouble;
        auto look_at = give_up_at;
        try {
            auto answer = co_await ask(
                what, keys, waits ? std::max(give_up_at, now() + least_silence) : soon());
            if (answer.given || !waits) co_return std::move(answer.given);
            // What was released before the server heard of us was told to others only: ask again.
            if (!mine.listens() && now() < give_up_at) {
                co_await mine.listen(give_up_at);
                continue;
            }
            look_at = std::min(give_up_at, look_after(answer.left));
        } catch (const connection_lost& e) {
            trouble = error(errc::unreachable, "The lock '" + what.name +
                                                   "' could not be asked for: " + e.what() +
                                                   "; it was not acquired. Check that the server "
                                                   "is up.");
        } catch (const error& e) {
            if (e.reason() != errc::unavailable) throw;
            trouble = e;
        }
        if (now() >= give_up_at) {
            if (trouble) throw *trouble;
            co_return std::nullopt;
        }
        if (trouble) {
            if (context_.log) context_.log(std::string(trouble->what()) + " Trying again.");
            co_await pause(50ms, 200ms);
            continue;
        }
        co_await mine.woken.wait_until(look_at);
        if (now() >= give_up_at) co_return std::nullopt;
    }
}

// When the holder's lease ends if it is not renewed, and about once a second.
time_point locks::look_after(duration left) const {
    const auto look = core::random_between(time(), look_at_least, look_at_most);
    if (left < duration{}) return now() + look;
    return now() + std::min(look, left + core::random_between(time(), 1ms, 20ms));
}

asio::awaitable<locks::outcome> locks::ask(const claim& what, const names& keys,
                                           time_point give_up_at) {
    attempt mine(*this, keys, what.ttl);
    if (!link_->connected()) co_await connect(give_up_at);
    mine.about_to_send();
    const auto asked = now();
    const auto ttl = milliseconds(what.ttl);
    const std::array<std::string_view, 2> both{keys.lock, keys.counter};
    const std::array<std::string_view, 2> arguments{mine.owner, ttl};
    const auto used = std::span(both).first(what.fenced ? 2 : 1);
    auto answer = co_await scripts_.run(scripts::acquire, used, arguments, give_up_at);
    // An error says that nothing was written, but for those that a later line might have thrown.
    if (of_another_type(answer)) mine.settled = true;
    refuse(answer, keys.lock);
    if (answer.items.size() != 2)
        throw error(errc::protocol, keys.lock + ": an answer that makes no sense.");
    mine.settled = true;
    outcome found;
    if (number(answer.items[0]) == 1) {
        grant given;
        given.deadline = asked + what.ttl - drift(what.ttl);
        given.token = fencing_token(static_cast<std::uint64_t>(number(answer.items[1])));
        given.proof = mine.owner;
        found.given = std::move(given);
    } else {
        found.left = std::chrono::milliseconds(number(answer.items[1]));
    }
    co_return found;
}

// Until the server has confirmed it, for the ttl at the longest. What was sent over another
// connection may still be carried out after this: then it is said again.
asio::awaitable<void> locks::undo(names keys, std::string owner, duration ttl,
                                  std::uint64_t generation) {
    const busy here(*this);
    const auto until = now() + ttl + where_.reply_timeout;
    for (auto again = 0; again < 3 && now() < until;) {
        try {
            if (!link_->connected()) co_await connect(until);
            const auto answer = co_await send_release(keys, owner, "", until);
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

}  // namespace pawl::redis::redisson
