// What the layouts have in common: the link, renewals, and requests that are said until they are
// answered. docs/redis.md and docs/redisson.md have the protocols.
#pragma once

#include "boost_link.hpp"
#include "numbers.hpp"
#include "script_runner.hpp"
#include "undo_queue.hpp"

#include "../core/alarm.hpp"
#include "../core/fork_mark.hpp"

#include <pawl/backend.hpp>
#include <pawl/redis.hpp>

#include <list>
#include <memory>
#include <string>
#include <vector>

namespace pawl::redis {

class locks;
namespace redisson {
class locks;
}

// A waiter looks this often, the last resort where a message was lost or never sent.
inline constexpr duration look_at_least = std::chrono::milliseconds(950);
inline constexpr duration look_at_most = std::chrono::milliseconds(1200);
// A wait that ends during a question still gets the answer: only a longer silence says something
// about the server.
inline constexpr duration least_silence = std::chrono::milliseconds(300);

class lock_base : public backend, protected link::listener {
public:
    boost::asio::awaitable<void> close(time_point give_up_at) override;
    std::string absence() const override { return link_->absence(); }
    std::size_t renewals_at_once() const noexcept override { return bounds_.renewals; }

protected:
    // `channel` as in link_factory.
    lock_base(const options& where, backend_context context, const link_factory& connect,
              const std::string& channel, const limits& bounds);

    runtime& time() const noexcept { return *context_.time; }
    time_point now() const noexcept { return context_.time->now(); }
    time_point soon() const { return now() + where_.reply_timeout; }
    // What is known of the server is known of a connection: first there must be one.
    boost::asio::awaitable<void> connect(time_point give_up_at);
    boost::asio::awaitable<void> pause(duration at_least, duration at_most);
    void log(const std::string& line) const {
        if (context_.log) context_.log(line);
    }

    // Asks for the whole batch with one script, which answers 1 (extended), 0 (refused) or -1 (not
    // known) for each line.
    boost::asio::awaitable<void> renew_by(const script& what, std::span<renewal> batch,
                                          std::span<const std::string_view> keys,
                                          std::span<const std::string_view> arguments);
    // In the background, for the ttl at the longest: see undo_queue. `generation` is that of the
    // connection over which went what is undone.
    void undo_later(undo_queue::prepared what, duration ttl, std::uint64_t generation) noexcept;
    // Before a request that may have to be undone. Throws errc::unavailable.
    void check_room_for_undo() const;
    // A release without an answer: until there is one, for the ttl at the longest.
    boost::asio::awaitable<void> release_later_by(const saying& say, duration ttl);

    // All keys of that type whose names match. Throws errc::protocol where the list has no end.
    boost::asio::awaitable<std::vector<std::string>> scan(std::string glob, std::string type);

    // Counts what `close` waits for.
    class busy {
    public:
        explicit busy(lock_base& home) noexcept : home_(home) { ++home_.busy_; }
        ~busy() { --home_.busy_; }
        busy(const busy&) = delete;
        busy& operator=(const busy&) = delete;

    private:
        lock_base& home_;
    };

    // A pause of what `close` waits for: it ends it.
    class short_pause {
    public:
        explicit short_pause(lock_base& home)
            : home_(home),
              timer_(home.time(), home.context_.strand),
              at_(home.pauses_.insert(home.pauses_.end(), &timer_)) {}
        ~short_pause() { home_.pauses_.erase(at_); }
        short_pause(const short_pause&) = delete;
        short_pause& operator=(const short_pause&) = delete;
        // False: the backend closes.
        boost::asio::awaitable<bool> until(time_point when) {
            if (!home_.closing_) co_await timer_.wait_until(when);
            co_return !home_.closing_;
        }

    private:
        lock_base& home_;
        core::alarm timer_;
        const std::list<core::alarm*>::iterator at_;
    };

private:
    friend class locks;
    friend class redisson::locks;

    const core::fork_mark made_in_;
    const options where_;
    const backend_context context_;
    const limits bounds_;
    std::unique_ptr<link> link_;
    script_runner scripts_;
    const std::shared_ptr<undo_queue> undos_;
    core::alarm tick_;   // of `close`, made early: closing must need nothing that may be missing
    unsigned busy_ = 0;  // releases under way
    std::list<core::alarm*> pauses_;
    bool closing_ = false;
};

// As the scripts want it: whole, and not shorter than it is.
[[nodiscard]] std::string milliseconds(duration d);
// True: the key holds something of another type. Redis 6 puts the name of the script before what a
// command said in it.
[[nodiscard]] bool of_another_type(const reply& answer);
// What a release script's answer says: 1 released, 0 gone, else somebody else's; alone or first in
// a list.
[[nodiscard]] release_result found(const reply& answer);

}  // namespace pawl::redis
