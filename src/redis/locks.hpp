// The Redis backend. acquire.cpp, release.cpp and tools.cpp have its members; docs/redis.md the
// protocol.
#pragma once

#include "backend.hpp"
#include "latches.hpp"
#include "lock_base.hpp"
#include "waiters.hpp"

#include <map>

namespace pawl::redis {

class locks final : public lock_base {
public:
    locks(const options& where, backend_context context, const link_factory& connect,
          const limits& bounds);

    boost::asio::awaitable<std::optional<grant>> acquire(const claim& what,
                                                         time_point give_up_at) override;
    boost::asio::awaitable<std::vector<grant>> acquire_several(std::span<const claim> what,
                                                               time_point give_up_at) override;
    boost::asio::awaitable<std::optional<grant>> adopt(const claim& what) override;
    boost::asio::awaitable<void> renew(std::span<renewal> batch) override;
    boost::asio::awaitable<release_result> release(const hold& what) override;
    boost::asio::awaitable<lock_info> inspect(std::string_view name) override;
    boost::asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override;
    boost::asio::awaitable<bool> force_release(std::string_view name) override;
    boost::asio::awaitable<std::optional<grant>> downgrade(const hold& what) override;
    boost::asio::awaitable<void> resize(std::string_view name, std::uint32_t permits) override;
    boost::asio::awaitable<examination> examine() override;
    latches* counted() noexcept override { return &latches_; }
    promises promised() const noexcept override;

private:
    class visit;
    class bid;
    // Whom a release names to go next. A copy: the waiter may leave while the release is under way.
    struct heir {
        std::string owner, member, prefix;  // empty: nobody
        duration ttl{};
        std::int64_t since = 0;
    };

    // What undoes one request, or ends one wait: but for what is held as `kept`.
    struct departure {
        keys where;
        std::string member, prefix, kept;
    };

    // Made before the request that may have to be undone, which then needs no memory.
    struct prepared_leave {
        std::shared_ptr<departure> from;  // empty until then
        undo_queue::prepared undo;
    };

    locks(const options& where, backend_context context, const link_factory& connect,
          const limits& bounds, std::string client);

    std::int64_t wall_ms() const;
    // "FLOOR KEEP_MS" for the scripts: below every token that the server could still give, above
    // all that it gave before this connection; and for how long it keeps a counter that nobody
    // uses.
    std::string floor() const;

    // Throws what the server's error means for that lock.
    boost::asio::awaitable<void> refuse(const reply& answer, const keys& where);
    boost::asio::awaitable<std::optional<grant>> ask(visit& mine, const claim& what,
                                                     time_point give_up_at);
    boost::asio::awaitable<reply> send_acquire(const waiter& here, const claim& what,
                                               const std::string& value, bool waits,
                                               time_point until);
    [[nodiscard]] time_point next_look(std::int64_t ends_in_ms, std::int64_t rank) const;
    boost::asio::awaitable<std::optional<grant>> stand_in_line(visit& mine, const claim& what,
                                                               reply line, time_point give_up_at);
    boost::asio::awaitable<void> rest(waiter& here, time_point look_at);
    // `asked` becomes the instant at which the question was sent that was answered.
    boost::asio::awaitable<reply> look(visit& mine, bool first_in_line, time_point give_up_at,
                                       time_point& asked);
    boost::asio::awaitable<std::optional<grant>> claim_given(visit& mine);
    [[nodiscard]] prepared_leave prepare_leave(const std::string& lock);
    void leave_later(prepared_leave how, departure from, duration ttl,
                     std::uint64_t generation) noexcept;
    boost::asio::awaitable<reply> send_leave(const departure& what, time_point give_up_at);
    boost::asio::awaitable<void> release_later(hold what);
    [[nodiscard]] heir heir_of(const claim& from) const;
    boost::asio::awaitable<reply> send_release(const keys& where, const std::string& proof,
                                               const heir& to, bool turn, time_point give_up_at);
    boost::asio::awaitable<reply> send_part(const keys& where, const std::string& proof,
                                            time_point give_up_at);
    boost::asio::awaitable<reply> give_back(const hold& what, const heir& to, bool turn,
                                            time_point give_up_at);
    // After a release that met a key of another type: was what was held overwritten, or do others
    // of its keys keep it from being given back?
    boost::asio::awaitable<release_result> overwritten(const hold& what, const keys& where,
                                                       time_point give_up_at);
    boost::asio::awaitable<void> renew_some(std::span<renewal> batch, bool beside);
    void inherit(const std::string& name, const heir& to, prepared_leave leaving,
                 const reply& answer, time_point asked) noexcept;
    static void pass_to(waiter& next, const heir& to, const reply& answer, time_point asked);

    // Under a value of the caller's own: chosen.cpp.
    boost::asio::awaitable<std::optional<grant>> bid_for(const claim& what, bool adopting);
    boost::asio::awaitable<reply> send_undo(const keys& where, const std::string& value,
                                            time_point give_up_at);

    void on_message(std::string_view channel, std::string_view payload) override;
    void on_invalidate(std::string_view key) override;
    void on_connected(const session& now) override;

    const key_scheme scheme_;
    const std::string client_;     // 16 hex digits
    const std::string channel_;    // where this client is told
    const std::string value_end_;  // what follows the owner in a value's prefix
    native_latches latches_;
    waiter_table waiters_;
    std::map<std::string, unsigned, std::less<>> passes_;
};

}  // namespace pawl::redis
