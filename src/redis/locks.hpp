// The Redis backend. acquire.cpp, release.cpp and tools.cpp have its members; docs/redis.md the
// protocol.
#pragma once

#include "backend.hpp"
#include "latches.hpp"
#include "script_runner.hpp"
#include "server_errors.hpp"
#include "waiters.hpp"

#include <pawl/error.hpp>

#include <map>
#include <set>

namespace pawl::redis {

// The first waiter keeps its place by looking this often, which is also the last resort where a
// push was lost; a place lives three times as long.
inline constexpr duration look_at_least = std::chrono::milliseconds(1000);
inline constexpr duration look_at_most = std::chrono::milliseconds(1400);
inline constexpr std::int64_t waiter_lease_ms = 3600;
// A wait that ends during a question still gets the answer: only a longer silence says something
// about the server.
inline constexpr duration least_silence = std::chrono::milliseconds(300);
// How long a waiter that was given the lock has to claim it.
inline constexpr duration claim_window = std::chrono::milliseconds(1200);
// How often in a row a lock may stay within one process while others wait.
inline constexpr unsigned local_passes = 8;

class locks final : public backend, private link::listener {
public:
    locks(const options& where, backend_context context, const link_factory& connect);

    boost::asio::awaitable<std::optional<grant>> acquire(const claim& what,
                                                         time_point give_up_at) override;
    boost::asio::awaitable<std::optional<grant>> adopt(const claim& what) override;
    boost::asio::awaitable<void> renew(std::span<renewal> batch) override;
    boost::asio::awaitable<release_result> release(const hold& what) override;
    boost::asio::awaitable<lock_info> inspect(std::string_view name) override;
    boost::asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override;
    boost::asio::awaitable<bool> force_release(std::string_view name) override;
    boost::asio::awaitable<examination> examine() override;
    boost::asio::awaitable<void> close() override;
    latches* counted() noexcept override { return &latches_; }
    promises promised() const noexcept override;

private:
    class visit;
    class bid;
    class busy;
    // Whom a release names to go next. A copy: the waiter may leave while the release is under way.
    struct heir {
        std::string owner, member, prefix;  // empty: nobody
        duration ttl{};
        std::int64_t since = 0;
    };

    runtime& time() const noexcept { return *context_.time; }
    time_point now() const noexcept { return context_.time->now(); }
    std::int64_t wall_ms() const;
    time_point soon() const { return now() + where_.reply_timeout; }
    // Below every token that the server could still give, above all that it gave before this
    // connection.
    std::string floor() const;
    // The floor is that of the connection which carries the request: first there must be one.
    boost::asio::awaitable<void> connect(time_point give_up_at);
    boost::asio::awaitable<void> pause(duration at_least, duration at_most);

    boost::asio::awaitable<std::optional<grant>> ask(visit& mine, const claim& what,
                                                     time_point give_up_at);
    boost::asio::awaitable<std::optional<grant>> stand_in_line(visit& mine, reply line,
                                                               time_point give_up_at);
    // `asked` becomes the instant at which the question was sent that was answered.
    boost::asio::awaitable<reply> look(visit& mine, bool first_in_line, time_point give_up_at,
                                       time_point& asked);
    boost::asio::awaitable<std::optional<grant>> claim_given(visit& mine);
    boost::asio::awaitable<void> leave(keys where, std::string member, std::string prefix,
                                       duration ttl, std::uint64_t generation);
    boost::asio::awaitable<void> release_later(keys where, std::string proof, duration ttl);
    [[nodiscard]] heir heir_of(const std::string& name) const;
    boost::asio::awaitable<reply> send_release(const keys& where, const std::string& proof,
                                               const heir& to, bool turn, time_point give_up_at);
    void inherit(const std::string& name, const keys& where, const heir& to, const reply& answer,
                 time_point asked);

    // Under a value of the caller's own: chosen.cpp.
    boost::asio::awaitable<std::optional<grant>> bid_for(const claim& what, bool adopting);
    boost::asio::awaitable<void> undo(keys where, std::string value, duration ttl,
                                      std::uint64_t generation);

    void on_message(std::string_view channel, std::string_view payload) override;
    void on_invalidate(std::string_view key) override;
    void on_connected(const session& now) override;
    void on_disconnected() override;

    const options where_;
    const backend_context context_;
    const key_scheme scheme_;
    const std::string client_;     // 16 hex digits
    const std::string channel_;    // where this client is told
    const std::string value_end_;  // what follows the owner in a value's prefix
    std::unique_ptr<link> link_;
    script_runner scripts_;
    native_latches latches_;
    waiter_table waiters_;
    std::map<std::string, unsigned, std::less<>> passes_;
    std::set<std::pair<std::string, std::string>> undoing_;  // lock and chosen value
    unsigned busy_ = 0;                                      // releases and leaves under way
    bool closing_ = false;
};

// Counts what `close` waits for.
class locks::busy {
public:
    explicit busy(locks& home) noexcept : home_(home) { ++home_.busy_; }
    ~busy() { --home_.busy_; }
    busy(const busy&) = delete;
    busy& operator=(const busy&) = delete;

private:
    locks& home_;
};

}  // namespace pawl::redis
