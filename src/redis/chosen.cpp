// Holds under a value of the caller's own, as other libraries have them.
#include "locks.hpp"

#include "redis_scripts.hpp"
#include "server_errors.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <array>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {

// One question about it. Unless it is answered, what it may have taken is given back.
class locks::bid {
public:
    bid(locks& home, const claim& what)
        : where(home.scheme_.of(what.name)), value(what.value), ttl(what.ttl), home_(home) {
        if (home.undoing_.contains({where.lock, value}))
            throw error(errc::unavailable,
                        "An earlier acquire of '" + what.name +
                            "' under this value is still being undone; choose another value.");
    }
    ~bid() {
        if (!to_undo) return;
        home_.undoing_.emplace(where.lock, value);
        asio::co_spawn(home_.context_.strand,
                       home_.undo(std::move(where), std::move(value), ttl, generation),
                       asio::detached);
    }
    bid(const bid&) = delete;
    bid& operator=(const bid&) = delete;

    keys where;
    std::string value;
    duration ttl;
    std::uint64_t generation = 0;
    bool to_undo = false;

private:
    locks& home_;
};

asio::awaitable<std::optional<grant>> locks::bid_for(const claim& what, bool adopting) {
    bid mine(*this, what);
    const auto until = soon();
    const auto ttl = milliseconds(what.ttl);
    try {
        if (!link_->connected()) co_await connect(until);
        const auto lowest = what.fenced ? floor() : std::string();
        const std::array<std::string_view, 4> names{mine.where.lock, mine.where.fence,
                                                    mine.where.queue, mine.where.waiters};
        const std::array<std::string_view, 7> arguments{mine.value, ttl, lowest, "", "", "", ""};
        mine.generation = link_->current().generation;
        mine.to_undo = !adopting;
        const auto asked = now();
        const auto& script = adopting ? scripts::adopt : scripts::acquire;
        const auto answer =
            co_await scripts_.run(script, std::span(names).first(adopting ? 2 : 4),
                                  std::span(arguments).first(adopting ? 3 : 7), until);
        if (answer.what == reply::kind::error) co_await refuse(answer, mine.where);
        if (answer.items.empty())
            throw error(errc::protocol, mine.where.lock + ": an answer that makes no sense.");
        mine.to_undo = false;
        if (answer.items[0].number != 1) co_return std::nullopt;
        const auto token = static_cast<std::uint64_t>(number(answer.items.back()));
        grant given{.deadline = asked + what.ttl - drift(what.ttl),
                    .token = fencing_token(token),
                    .proof = what.value};
        co_return given;
    } catch (const connection_lost& e) {
        throw error(errc::unreachable, "The lock '" + what.name + "' could not be asked for: " +
                                           e.what() + "; check that the server is up.");
    }
}

asio::awaitable<std::optional<grant>> locks::adopt(const claim& what) {
    return bid_for(what, true);
}

asio::awaitable<void> locks::undo(keys where, std::string value, duration ttl,
                                  std::uint64_t generation) {
    const heir nobody;
    const saying say = [&](time_point until) {
        return send_release(where, value, nobody, false, until);
    };
    co_await undo_by(say, ttl, generation);
    undoing_.erase({where.lock, value});
}

}  // namespace pawl::redis
