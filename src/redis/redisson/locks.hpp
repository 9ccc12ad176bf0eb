// Redisson's RLock and FencedLock. acquire.cpp, release.cpp and tools.cpp have its members;
// docs/redisson.md the protocol.
#pragma once

#include "../../core/alarm.hpp"
#include "../script_runner.hpp"
#include "backend.hpp"
#include "names.hpp"

#include <pawl/error.hpp>

#include <map>

namespace pawl::redis::redisson {

// A waiter looks this often, the last resort where a message was lost or never sent (SpinLock).
inline constexpr duration look_at_least = std::chrono::milliseconds(1000);
inline constexpr duration look_at_most = std::chrono::milliseconds(1400);
// A wait that ends during a question still gets the answer.
inline constexpr duration least_silence = std::chrono::milliseconds(300);

class locks final : public backend, private link::listener {
public:
    locks(const options& where, backend_context context, const link_factory& connect);

    boost::asio::awaitable<std::optional<grant>> acquire(const claim& what,
                                                         time_point give_up_at) override;
    boost::asio::awaitable<void> renew(std::span<renewal> batch) override;
    boost::asio::awaitable<release_result> release(const hold& what) override;
    boost::asio::awaitable<lock_info> inspect(std::string_view name) override;
    boost::asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override;
    boost::asio::awaitable<bool> force_release(std::string_view name) override;
    boost::asio::awaitable<examination> examine() override;
    boost::asio::awaitable<void> close() override;
    promises promised() const noexcept override;

private:
    class attempt;
    class ear;
    class busy;
    struct outcome {
        std::optional<grant> given;
        duration left{};  // of the holder's lease; negative: it has no end
    };

    runtime& time() const noexcept { return *context_.time; }
    time_point now() const noexcept { return context_.time->now(); }
    time_point soon() const { return now() + where_.reply_timeout; }
    boost::asio::awaitable<void> connect(time_point give_up_at);
    boost::asio::awaitable<void> pause(duration at_least, duration at_most);
    [[nodiscard]] time_point look_after(duration left) const;

    boost::asio::awaitable<outcome> ask(const claim& what, const names& keys,
                                        time_point give_up_at);
    boost::asio::awaitable<void> undo(names keys, std::string owner, duration ttl,
                                      std::uint64_t generation);
    boost::asio::awaitable<reply> send_release(const names& keys, const std::string& owner,
                                               const std::string& latch, time_point give_up_at);
    boost::asio::awaitable<void> release_later(names keys, std::string owner, std::string latch,
                                               duration ttl);
    boost::asio::awaitable<void> forget(std::string latch);

    void on_message(std::string_view channel, std::string_view payload) override;
    void on_invalidate(std::string_view) override {}
    void on_connected(const session& now) override;
    void on_disconnected() override {}

    const options where_;
    const backend_context context_;
    const naming naming_;
    const std::string client_;  // a UUID, as every client of Redisson has one
    std::uint64_t threads_ = 0;
    std::unique_ptr<link> link_;
    script_runner scripts_;
    std::multimap<std::string_view, ear*> ears_;  // by channel
    unsigned busy_ = 0;                           // releases and undoings under way
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

// One who waits: rung by every message of the channel, and by a new connection.
class locks::ear {
public:
    ear(locks& home, const std::string& channel);
    ~ear();
    ear(const ear&) = delete;
    ear& operator=(const ear&) = delete;

    [[nodiscard]] bool listens() const noexcept { return listens_; }
    boost::asio::awaitable<void> listen(time_point give_up_at);

    core::alarm woken;

private:
    locks& home_;
    const std::string& channel_;
    std::multimap<std::string_view, ear*>::iterator here_;
    bool listens_ = false;
};

[[nodiscard]] std::string milliseconds(duration d);
[[nodiscard]] std::int64_t number(const reply& from);
// True: the key is no lock of this layout.
[[nodiscard]] bool of_another_type(const reply& answer);
// Throws what an error of the server means for the lock of that key.
void refuse(const reply& answer, const std::string& key);

}  // namespace pawl::redis::redisson
