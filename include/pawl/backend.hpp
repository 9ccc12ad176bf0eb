// The interface of a backend, for its author. docs/writing-a-backend.md has the rules with their
// reasons; conformance.hpp has the tests that a backend must pass.
//
// All calls come from one strand, and several may be in flight at once. Arguments outlive the
// coroutine. The only sources of time and random numbers are those of `backend_context::time`. The
// core, not the backend, decides when to renew, and notices the end of every lease. The core has
// checked names and options. Functions throw pawl::error.
#pragma once

#include <pawl/latches.hpp>
#include <pawl/runtime.hpp>
#include <pawl/types.hpp>

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace pawl {

// A request for a lock.
struct claim {
    std::string name;
    std::string owner;  // 128 random bits in hex, fresh for every acquire
    duration ttl{};
    lock_mode mode = lock_mode::exclusive;
    bool fenced = true;         // false: needs no token
    bool fair = false;          // no later request may be granted first
    std::uint32_t permits = 1;  // the permits to take, in lock_mode::permits
    std::uint32_t of = 0;       // the semaphore's total; 0: the stored one
    // The value that the caller chose, if any. The service then stores exactly this for the hold.
    std::string value{};
};

// The service's answer that a claim is granted.
struct grant {
    // The hold lasts at least until then: the time before the first byte was sent, plus the ttl,
    // less `drift`.
    time_point deadline{};
    fencing_token token;
    // The backend's name for this hold, opaque to the core. On Redis, the value of the lock's key.
    std::string proof;
    // True: the deadline is a short claim window. The core renews soon, and a refusal is a loss.
    bool confirm = false;
    // The owner that the service knows, if it is not the claim's. A backend that repeats a request
    // uses a fresh owner of 128 random bits for it. Empty: the claim's owner.
    std::string owner{};
};

// A claim with its grant.
struct hold {
    pawl::claim claim;
    pawl::grant grant;
};

// One hold of a renewal. The backend sets `result`, and `deadline` if the result is `extended`.
struct renewal {
    enum class outcome : std::uint8_t {
        unknown,   // no answer: the core tries again while there is time
        extended,  // `deadline` counts as in `grant`
        refused    // the service says that the hold has ended: a loss
    };
    const hold* what = nullptr;
    duration ttl{};  // at most the claim's; shorter when `max_hold` is near
    outcome result = outcome::unknown;
    time_point deadline{};
};

// Receives losses that the service pushes. The backend reports them at once, on the strand.
class loss_listener {
public:
    virtual ~loss_listener() = default;
    virtual void lost(std::string_view owner, loss_reason why) = 0;
};

enum class fairness : std::uint8_t { none, first_in_first_out };

// What a backend can do. Selects the conformance tests, and agrees with docs/guarantees.md.
struct promises {
    bool fencing = true;           // every hold has a token that is larger than earlier ones
    bool survives_restart = true;  // also when the service crashes and loses its data
    bool loss_is_pushed = false;   // a forced release reaches the holder before its next renewal
    bool names_holders = true;     // `inspect` shows host, pid, command and start of a hold
    // A release gives the lock to a waiter: it needs no second attempt, and cannot be overtaken.
    bool hands_over = true;
    bool across_processes = true;
    bool across_hosts = true;
    fairness order = fairness::first_in_first_out;
    // The modes beside the exclusive one, `fair`, and `downgrade`.
    bool shared = false;
    bool permits = false;
    bool strictly_fair = false;
    bool downgrades = false;
    bool chosen_values = false;  // `claim::value`, and `adopt`
    bool several = false;        // `acquire_several`
    // `counted`; and numbered generations, which barriers need.
    bool latches = false;
    bool barriers = false;
    // All modes of a name exclude each other and share one queue, which no request passes.
    bool one_line = true;

    bool operator==(const promises&) const = default;
};

// The process that `inspect` shows for the client's holds.
struct identity {
    std::string host;
    std::int64_t pid = 0;
    std::string command;
};

// A number that only grows. Thread-safe.
class counter {
public:
    void operator++() noexcept { value_.fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t value() const noexcept {
        return value_.load(std::memory_order_relaxed);
    }

private:
    std::atomic<std::uint64_t> value_ = 0;
};

// The numbers of `statistics`.
struct counters {
    counter requests, pushes, connections, hand_offs;  // counted by the backend
    counter grants, renewals, losses;                  // counted by the core
};

// What the core gives to a backend. `time` and `listener` outlive it.
struct backend_context {
    boost::asio::any_io_executor strand;
    runtime* time = nullptr;
    loss_listener* listener = nullptr;
    identity who;
    // client_options::log: one line at a time, never with a password. May be empty.
    std::function<void(std::string_view)> log;
    // Never null.
    std::shared_ptr<counters> count = std::make_shared<counters>();
};

// The connection of one client to a service.
class backend {
public:
    virtual ~backend() = default;

    // Acquires the lock, or waits in the queue until `give_up_at`; a time that is not in the future
    // means one attempt. Empty: the lock was taken until then. When it throws or is cancelled, the
    // backend undoes the request in the background: no place in the queue stays, and a late grant
    // is released. After errc::unreachable the core pauses and calls again, with another owner,
    // until `give_up_at`.
    virtual boost::asio::awaitable<std::optional<grant>> acquire(const claim& what,
                                                                 time_point give_up_at) = 0;

    // Acquires all of these exclusive locks in one request if all are free, else none (empty). It
    // does not queue. A `give_up_at` in the future limits the wait for the answer. When it throws
    // or is cancelled, as `acquire`. Called only if `several` is promised.
    virtual boost::asio::awaitable<std::vector<grant>> acquire_several(std::span<const claim> what,
                                                                       time_point give_up_at);

    // Extends the leases, in as few requests as possible. Never creates a lock. Does not throw.
    virtual boost::asio::awaitable<void> renew(std::span<renewal> batch) = 0;
    // The largest batch for `renew`, 1 or more: a single request must not keep a service busy.
    [[nodiscard]] virtual std::size_t renewals_at_once() const noexcept { return 256; }

    // Releases the hold, and gives the lock to the next waiter if there is one. Idempotent.
    // `unknown`: no answer came in time. The backend then continues in the background, for the ttl
    // at most.
    virtual boost::asio::awaitable<release_result> release(const hold& what) = 0;

    // The state of a lock, and of all held locks whose names begin with `prefix`.
    virtual boost::asio::awaitable<lock_info> inspect(std::string_view name) = 0;
    virtual boost::asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) = 0;

    // Turns an exclusive hold into a shared one and renews it, in one step, so that no writer gets
    // the lock in between. Empty: the hold has ended. Throws if there was no answer; the core then
    // calls again. Called only if `downgrades` is promised.
    virtual boost::asio::awaitable<std::optional<grant>> downgrade(const hold& what);

    // Continues the hold with the value `what.value`: extends it by the ttl, and gives it the next
    // token. Never creates a lock. Empty: no hold has this value. Throws if there was no answer; it
    // may be called again then. Called only if `chosen_values` is promised.
    virtual boost::asio::awaitable<std::optional<grant>> adopt(const claim& what);

    // Sets the total of a semaphore, also if it was not set, and serves the queue. A smaller total
    // takes no permits away: nobody enters until enough came back. Called only if `permits` is
    // promised.
    virtual boost::asio::awaitable<void> resize(std::string_view name, std::uint32_t permits);

    // Takes the lock from all its holders, and gives it to the next waiter with a larger token.
    // False: the lock was free.
    virtual boost::asio::awaitable<bool> force_release(std::string_view name) = 0;

    // Connects, and returns findings and the guarantees of the service as it is configured.
    virtual boost::asio::awaitable<examination> examine() = 0;

    // Waits until the undos and releases in the background are done, but not beyond `give_up_at`.
    // No acquire and no renewal follows; a query of the user may. In a fork of the process, the
    // core calls nothing else, and `give_up_at` is over: send nothing.
    virtual boost::asio::awaitable<void> close(time_point give_up_at) = 0;

    // Why the service cannot be reached at present, for messages. Empty while it can be reached. It
    // becomes the reason in the error of a wait that ends then.
    [[nodiscard]] virtual std::string absence() const { return {}; }

    // The latches, owned by the backend. Null: the service has none.
    [[nodiscard]] virtual latches* counted() noexcept { return nullptr; }

    // The capabilities. They do not change.
    [[nodiscard]] virtual promises promised() const noexcept = 0;

    // How the user can get a mode, or `fair`, that is not promised: the end of a message, such as
    // "set a=b in the URL". Empty: there is no way.
    [[nodiscard]] virtual std::string way_to([[maybe_unused]] lock_mode mode,
                                             [[maybe_unused]] bool fair) const {
        return {};
    }
};

// The allowance for the different speeds of two clocks, 1 % of the ttl + 2 ms, as in redlock-rb
// (S. Sanfilippo).
[[nodiscard]] constexpr duration drift(duration ttl) noexcept {
    return ttl / 100 + std::chrono::milliseconds(2);
}

}  // namespace pawl
