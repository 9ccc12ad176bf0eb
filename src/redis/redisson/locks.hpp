// Redisson's locks and semaphores. acquire.cpp, release.cpp and tools.cpp have its members;
// docs/redisson.md the protocol.
#pragma once

#include "../../core/alarm.hpp"
#include "../lock_base.hpp"
#include "backend.hpp"
#include "latches.hpp"
#include "target.hpp"

#include <pawl/error.hpp>

#include <map>

namespace pawl::redis::redisson {

// A waiter in line that has not looked for this long, after the lease that it saw has ended, has
// left: it is passed over.
inline constexpr duration line_lease = std::chrono::seconds(5);
// The same for those of Pawl's scripts that ask: whatever Java's waiters ahead keep its place for.
inline constexpr duration seen_lease = std::chrono::milliseconds(1900);

class locks final : public lock_base {
public:
    locks(const options& where, backend_context context, const link_factory& connect,
          const limits& bounds);

    boost::asio::awaitable<std::optional<grant>> acquire(const claim& what,
                                                         time_point give_up_at) override;
    boost::asio::awaitable<void> renew(std::span<renewal> batch) override;
    boost::asio::awaitable<release_result> release(const hold& what) override;
    boost::asio::awaitable<lock_info> inspect(std::string_view name) override;
    boost::asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override;
    boost::asio::awaitable<std::optional<grant>> downgrade(const hold& what) override;
    boost::asio::awaitable<void> resize(std::string_view name, std::uint32_t permits) override;
    boost::asio::awaitable<bool> force_release(std::string_view name) override;
    boost::asio::awaitable<examination> examine() override;
    latches* counted() noexcept override { return &latches_; }
    promises promised() const noexcept override;
    std::string way_to(lock_mode mode, bool fair) const override;

private:
    class attempt;
    struct outcome {
        std::optional<grant> given;
        duration left{};  // of the holder's lease; negative: nobody knows
    };

    [[nodiscard]] time_point look_after(duration left) const;
    [[nodiscard]] std::string new_owner(kind what, bool fenced);
    [[nodiscard]] target target_of(const claim& what);
    [[nodiscard]] target target_of(const hold& what) const;
    // What a writer is after its downgrade.
    [[nodiscard]] target reader_of(const hold& what) const;
    // A cluster's channels are told by another command; valid while the connection is up.
    [[nodiscard]] std::string_view publish() const noexcept {
        return link_->current().sharded ? "SPUBLISH" : "PUBLISH";
    }

    boost::asio::awaitable<outcome> ask(attempt& mine, const claim& what, bool waits,
                                        time_point give_up_at);
    // Made before the request, so that undoing it needs no memory.
    [[nodiscard]] undo_queue::prepared prepare_undo(std::shared_ptr<const target> what);
    boost::asio::awaitable<void> renew_together(std::span<renewal> batch);
    boost::asio::awaitable<reply> send_release(const target& what, std::string latch,
                                               time_point give_up_at);
    boost::asio::awaitable<void> release_later(target what, std::string latch);
    boost::asio::awaitable<void> forget(std::string latch);

    void on_message(std::string_view channel, std::string_view payload) override;
    void on_invalidate(std::string_view) override {}
    void on_connected(const session& now) override;

    const naming naming_;
    const std::string client_;  // a UUID, as every client of Redisson has one
    std::uint64_t threads_ = 0;
    java_latches latches_;
    std::multimap<std::string_view, attempt*> waiting_;  // by channel
};

// One owner, and its ear for what it waits for. A request without an answer may still be carried
// out: then the owner is undone and never used again. One that stands in line leaves it.
class locks::attempt {
public:
    attempt(locks& home, const claim& what);
    ~attempt();
    attempt(const attempt&) = delete;
    attempt& operator=(const attempt&) = delete;

    void about_to_send();
    // `more`: something of it may be at the server nevertheless.
    void answered(bool more) noexcept;
    [[nodiscard]] bool unanswered() const noexcept { return asked_; }
    [[nodiscard]] bool stands_in_line() const noexcept { return in_line_; }

    boost::asio::awaitable<void> listen(time_point give_up_at);
    [[nodiscard]] bool listens() const noexcept { return listens_; }

private:
    const std::shared_ptr<const target> to_;

public:
    const target& to;
    core::alarm woken;  // rung by every message of the channel, and by a new connection

private:
    locks& home_;
    std::multimap<std::string_view, attempt*>::iterator here_;
    bool listens_ = false;
    bool asked_ = false;
    bool in_line_ = false;
    undo_queue::prepared undo_;
    std::uint64_t generation_ = 0;
};

}  // namespace pawl::redis::redisson
