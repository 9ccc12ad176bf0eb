// One multiplexed connection to one server, as the rest of the Redis backend sees it. The real one
// is boost_link; the simulation has another.
#pragma once

#include <pawl/error.hpp>
#include <pawl/types.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

struct reply {
    enum class kind : std::uint8_t { nil, integer, string, array, error };
    kind what = kind::nil;
    std::int64_t number = 0;
    std::string text;  // of a string or an error
    std::vector<reply> items;
};

// What a connection knows of its server since it was made.
struct session {
    std::uint64_t generation = 0;  // 1, 2, … one more for every connection
    std::string run_id;
    std::string version;       // "7.0.15"
    std::string server;        // "redis" or "valkey"
    std::int64_t time_us = 0;  // the server's clock when it was made, µs since 1970
    // A node of a cluster that keeps channels in slots: `subscribe` does so there with SSUBSCRIBE,
    // and who publishes must use SPUBLISH.
    bool sharded = false;
    bool cluster = false;
};

class link {
public:
    // Called on the strand, in the order of arrival among replies.
    struct listener {
        virtual ~listener() = default;
        virtual void on_message(std::string_view channel, std::string_view payload) = 0;
        virtual void on_invalidate(std::string_view key) = 0;  // empty: every key
        virtual void on_connected(const session& now) = 0;
    };

    virtual ~link() = default;

    // Sends one command when connected and answers with the server's reply, errors included.
    // `words` need to live only until the call suspends. Throws
    //   errc::unreachable  nothing was sent before `give_up_at`
    //   connection_lost    it was sent, and may or may not have been carried out
    // Commands are carried out in the order of the calls. Cancellation completes at once; the
    // command may have been sent.
    virtual boost::asio::awaitable<reply> exec(std::span<const std::string_view> words,
                                               time_point give_up_at) = 0;

    // The same, and the server tells of the next change of any key that the command read
    // (`on_invalidate`).
    virtual boost::asio::awaitable<reply> exec_tracked(std::span<const std::string_view> words,
                                                       time_point give_up_at) {
        return exec(words, give_up_at);
    }

    // From its answer on, messages of `channel` reach the listener; every later connection
    // subscribes again before `on_connected`. Counted: `unsubscribe` as often as this answered.
    // Throws as `exec` does, and what the server refuses; then there is nothing to unsubscribe.
    virtual boost::asio::awaitable<void> subscribe(std::string channel, time_point give_up_at);
    virtual void unsubscribe(const std::string& channel) noexcept;

    // Of the connection that is up, or was last.
    [[nodiscard]] virtual const session& current() const noexcept = 0;
    [[nodiscard]] virtual bool connected() const noexcept = 0;
    // Why the newest attempt at a connection failed; empty while there is one, or none was made.
    [[nodiscard]] virtual std::string absence() const { return {}; }

    // Waits for what was sent, at most until `give_up_at`, then ends the connection for good.
    virtual boost::asio::awaitable<void> close(time_point give_up_at) = 0;
};

// Thrown by `exec` when the outcome is unknown; carries the reason as a sentence.
class connection_lost : public error {
public:
    explicit connection_lost(const std::string& why) : error(errc::unreachable, why) {}
};

}  // namespace pawl::redis
