// Holds under a value of the caller's own, as other libraries have them.
#include "locks.hpp"

#include "redis_scripts.hpp"
#include "server_errors.hpp"

#include <array>
#include <memory>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {

// One question about it. Unless it is answered, what it may have taken is given back.
class locks::bid {
public:
    bid(locks& home, const claim& what)
        : where(home.scheme_.of(what.name)), value(what.value), ttl(what.ttl), home_(home) {
        if (home.undos_->contains(where.lock, value))
            throw error(errc::unavailable,
                        "An earlier acquire of '" + what.name +
                            "' under this value is still being undone; choose another value.");
    }
    ~bid() {
        if (to_undo) home_.undo_later(std::move(undo_), ttl, generation);
    }
    bid(const bid&) = delete;
    bid& operator=(const bid&) = delete;

    // From here on it is undone, which needs no memory.
    void about_to_take() {
        const auto by = std::make_shared<const std::pair<keys, std::string>>(where, value);
        undo_queue::undo what;
        what.lock = where.lock;
        what.value = value;
        what.request = [&home = home_, by](time_point until) {
            return home.send_undo(by->first, by->second, until);
        };
        undo_ = undo_queue::prepare(std::move(what));
        to_undo = true;
    }

    keys where;
    std::string value;
    duration ttl;
    std::uint64_t generation = 0;
    bool to_undo = false;

private:
    locks& home_;
    undo_queue::prepared undo_;
};

asio::awaitable<std::optional<grant>> locks::bid_for(const claim& what, bool adopting) {
    bid mine(*this, what);
    const auto until = soon();
    const auto ttl = milliseconds(what.ttl);
    try {
        if (!adopting) check_room_for_undo();
        if (!link_->connected()) co_await connect(until);
        const auto lowest = what.fenced ? floor() : std::string();
        const std::array<std::string_view, 4> names{mine.where.lock, mine.where.fence,
                                                    mine.where.queue, mine.where.waiters};
        const std::array<std::string_view, 7> arguments{mine.value, ttl, lowest, "", "", "", ""};
        mine.generation = link_->current().generation;
        if (!adopting) mine.about_to_take();
        const auto asked = now();
        const auto& script = adopting ? scripts::adopt : scripts::acquire;
        const auto answer =
            co_await scripts_.run(script, std::span(names).first(adopting ? 2 : 4),
                                  std::span(arguments).first(adopting ? 3 : 7), until);
        if (answer.what == reply::kind::error) {
            if (changed_nothing(answer.text)) mine.to_undo = false;
            co_await refuse(answer, mine.where);
        }
        if (answer.items.empty())
            throw error(errc::protocol,
                        mine.where.lock +
                            ": an unexpected reply to the acquire or adopt script;"
                            " run `pawl doctor` to see what kind of server this is.");
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

asio::awaitable<reply> locks::send_undo(const keys& where, const std::string& value,
                                        time_point give_up_at) {
    const heir nobody;
    auto answer = co_await send_release(where, value, nobody, false, give_up_at);
    co_return answer;
}

}  // namespace pawl::redis
