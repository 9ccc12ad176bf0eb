#include "locks.hpp"

#include "refusals.hpp"

#include "../back_off.hpp"
#include "../numbers.hpp"
#include "../server_errors.hpp"

#include "../../core/chance.hpp"
#include "../../core/wait_notice.hpp"

#include <algorithm>
#include <array>
#include <memory>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis::redisson {

locks::attempt::attempt(locks& home, const claim& what)
    : to_(std::make_shared<const target>(home.target_of(what))),
      to(*to_),
      woken(home.time(), home.context_.strand),
      home_(home),
      here_(home.waiting_.emplace(to.channel, this)) {}

locks::attempt::~attempt() {
    home_.waiting_.erase(here_);
    if (listens_) home_.link_->unsubscribe(to.channel);
    if (asked_ || in_line_) home_.undo_later(std::move(undo_), to.owed(), generation_);
}

void locks::attempt::about_to_send() {
    if (undo_.empty()) undo_ = home_.prepare_undo(to_);
    asked_ = true;
    generation_ = home_.link_->current().generation;
}

void locks::attempt::answered(bool more) noexcept {
    asked_ = false;
    in_line_ = more;
}

asio::awaitable<void> locks::attempt::listen(time_point give_up_at) {
    co_await home_.link_->subscribe(to.channel, give_up_at);
    listens_ = true;
}

// Java's threads have no minus: it tells those who stand in a fair line, and those who read and
// count. What follows is a writer's own name for its field.
std::string locks::new_owner(kind what, bool fenced) {
    if (what == kind::permits) {
        std::string bytes(12, '\0');
        time().random(std::as_writable_bytes(std::span(bytes)));
        return bytes;
    }
    const bool readwrite = what == kind::read || what == kind::write;
    const bool marked = what == kind::fair || (readwrite && fenced);
    return client_ + (marked ? ":-" : ":") + std::to_string(++threads_) +
           (what == kind::write ? ":write" : "");
}

target locks::target_of(const claim& what) {
    const auto as = kind_of(what, where_.object);
    refuse_huge_count(std::max(what.permits, what.of));
    if (as == kind::permits) refuse_many_entries(what);
    return {what, as, naming_.of(what.name), new_owner(as, what.fenced)};
}

asio::awaitable<std::optional<grant>> locks::acquire(const claim& what, time_point give_up_at) {
    const bool waits = give_up_at > now();
    std::unique_ptr<attempt> mine;
    back_off pauses(time(), bounds_);
    core::wait_notice notice(time(), context_.log);
    for (;;) {
        if (!mine) mine = std::make_unique<attempt>(*this, what);
        std::optional<error> trouble;
        auto look_at = give_up_at;
        try {
            const auto until = waits ? std::max(give_up_at, now() + least_silence) : soon();
            auto answer = co_await ask(*mine, what, waits, until);
            if (answer.given || !waits) co_return std::move(answer.given);
            pauses.reset();
            // What was released before the server heard of us was told to others only: ask again.
            if (!mine->listens() && now() < give_up_at) {
                co_await mine->listen(give_up_at);
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
            if (mine->unanswered()) mine.reset();
            notice.say(trouble->what());
            core::alarm timer(time(), context_.strand);
            co_await timer.wait_until(std::min(give_up_at, now() + pauses.next()));
            continue;
        }
        co_await mine->woken.wait_until(look_at);
        if (now() >= give_up_at) co_return std::nullopt;
    }
}

// When the holder's lease ends if it is not renewed, and about once a second.
time_point locks::look_after(duration left) const {
    const auto look = core::random_between(time(), look_at_least, look_at_most);
    if (left < duration{}) return now() + look;
    return now() + std::min(look, left + core::random_between(time(), 1ms, 20ms));
}

asio::awaitable<locks::outcome> locks::ask(attempt& mine, const claim& what, bool waits,
                                           time_point give_up_at) {
    const auto& to = mine.to;
    if (!link_->connected()) co_await connect(give_up_at);
    check_room_for_undo();
    mine.about_to_send();
    const auto asked = now();
    const bool stands = waits && to.what == kind::fair;
    const auto wait = stands ? milliseconds(line_lease) : std::string("0");
    auto keys = to.script_keys();
    if (to.fenced) keys.emplace_back(to.keys.counter);
    const auto seen = milliseconds(seen_lease);
    const std::array<std::string_view, 8> arguments{
        to.owner, to.ttl_ms, publish(), to.release_channel(), to.permits, to.of, wait, seen};
    auto answer = co_await scripts_.run(acquire_script(to.what), keys, arguments, give_up_at);
    // What the script refuses, it refuses before it writes; a later line might have thrown the
    // rest.
    if (refused_by_script(answer)) mine.answered(stands);
    // What the server refuses leaves it as it was.
    if (answer.what == reply::kind::error && changed_nothing(answer.text))
        mine.answered(mine.stands_in_line());
    refuse_count(answer, what);
    refuse(answer, to.keys);
    if (answer.items.size() != 2)
        throw error(errc::protocol, to.keys.lock +
                                        ": an unexpected reply to the acquire script;"
                                        " run `pawl doctor` to see what kind of server this is.");
    outcome found;
    if (number(answer.items[0]) == 1) {
        mine.answered(false);
        grant given;
        given.deadline = asked + to.ttl - drift(to.ttl);
        given.token = fencing_token(static_cast<std::uint64_t>(number(answer.items[1])));
        given.proof = to.owner;
        found.given = std::move(given);
    } else {
        mine.answered(stands);
        found.left = milliseconds_of(number(answer.items[1]));
    }
    co_return found;
}

undo_queue::prepared locks::prepare_undo(std::shared_ptr<const target> what) {
    undo_queue::undo made;
    made.lock = what->keys.lock;
    made.request = [this, by = std::move(what)](time_point until) {
        return send_release(*by, "", until);
    };
    return undo_queue::prepare(std::move(made));
}

}  // namespace pawl::redis::redisson
