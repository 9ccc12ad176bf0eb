// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The interface of a backend, for its author. docs/contributing/writing-a-backend.md has the rules
// with their reasons; conformance.hpp has the tests that a backend must pass.
//
// All calls come from one strand, and several may be in flight at once. Arguments outlive the
// coroutine. The only sources of time and random numbers are those of `backend_context::time`. The
// core decides when to renew, and notices the end of every lease. The core has checked names and
// options; the bytes of a name need not be UTF-8. Functions throw pawl::error, and when they are
// cancelled boost::system::system_error.
#pragma once

#include <pawl/durability.hpp>
#include <pawl/examination.hpp>
#include <pawl/spi/latches.hpp>
#include <pawl/spi/runtime.hpp>
#include <pawl/types.hpp>

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::spi {

// A request for a lock.
struct claim {
    std::string name;                       // of the lock
    std::string owner;                      // 128 random bits in hex, new for each attempt
    duration ttl{};                         // of the lease: a multiple of `ttl_granularity`
    lock_mode mode = lock_mode::exclusive;  // what the caller requests
    bool fenced = true;                     // false: a token of the grant is ignored
    bool fair = false;                      // no later request may be granted first
    std::uint32_t permits = 1;              // the permits to take, in lock_mode::permits
    std::uint32_t total_permits = 0;        // the semaphore's total; 0: the stored one
    // The value that the caller chose, if any. The service then stores exactly this for the hold.
    std::string value{};
    // An earlier attempt of the same acquire found the lock taken. A backend with a queue may make
    // its first request without a place in it.
    bool was_taken = false;
};

// The service's answer that a claim is granted.
struct grant {
    // The hold lasts at least until this time: the time before the first byte was sent, plus the
    // ttl, less `drift`.
    time_point deadline{};
    fencing_token token;
    // The backend's name for this hold, opaque to the core. On Redis, the value of the lock's key.
    std::string stored_value;
    // True: the deadline is the end of a short *claim window*: a queued waiter must confirm its
    // grant by a renewal within it. The core renews soon, and a refusal is a loss.
    bool needs_renewal = false;
};

// A claim with its grant.
struct hold {
    spi::claim claim;  // with the present owner and mode
    spi::grant grant;  // with the present deadline and stored value
};

// The renewal of one hold.
struct renewal {
    // The service's answer.
    enum class outcome : std::uint8_t {
        unknown,     // no answer: the core tries again while there is time
        extended,    // `deadline` is computed as in `grant`
        refused,     // the service says that the hold has ended: a loss
        missing,     // the same, and the service knows that nobody has the lock now
        failed_over  // the same, and a failover since the last confirmation is the likely reason
    };
    // The hold to renew. Until this renewal is settled, only its deadline changes, by the answer to
    // another renewal of the same hold: see `backend::unanswered_renewals`.
    const hold* held = nullptr;
    duration ttl{};                     // as the claim's, or shorter when `max_hold` is near
    time_point useful_until{};          // no answer counts after this time
    outcome result = outcome::unknown;  // set by `renewal_batch::settle`
    time_point deadline{};              // set with `extended`
    bool is_settled = false;            // set by `settle`, too
};

// The renewals of one call of `backend::renew`. The backend settles each of them as soon as its
// outcome is known, and the core acts on it at once. So a server that does not answer delays no
// hold of another server.
class renewal_batch {
public:
    // No renewal is settled yet.
    explicit renewal_batch(std::vector<renewal> renewals = {}) noexcept
        : renewals_(std::move(renewals)) {}
    virtual ~renewal_batch() = default;
    renewal_batch(const renewal_batch&) = delete;
    renewal_batch& operator=(const renewal_batch&) = delete;

    // Each renewal of the batch, in the order of `settle`'s indexes.
    [[nodiscard]] std::span<const renewal> renewals() const noexcept { return renewals_; }
    // On the strand. Only the first outcome of a renewal counts.
    void settle(std::size_t index, renewal::outcome result, time_point deadline = {}) noexcept;

protected:
    // Called once for each settled renewal.
    virtual void on_settled([[maybe_unused]] std::size_t index) noexcept {}
    void assign(std::vector<renewal> renewals) noexcept { renewals_ = std::move(renewals); }

private:
    std::vector<renewal> renewals_;
};

// Receives what a backend learns about losses. The backend reports it at once, on the strand.
class loss_listener {
public:
    virtual ~loss_listener() = default;
    // The hold of this owner has ended.
    virtual void on_loss(std::string_view owner, loss_reason reason) = 0;
    // The service may have lost holds: it restarted, failed over, or has older data. The core
    // renews every hold at once, and a refusal is a loss. It begins at most one such round of
    // renewals in a second, however often this is called.
    virtual void on_possible_loss() = 0;
};

// none: any waiter may be next. first_in_first_out: waiters are served in their order.
enum class fairness : std::uint8_t { none, first_in_first_out };

// The features of a backend. They select the conformance tests, and agree with
// docs/guide/guarantees.md.
struct capabilities {
    bool fencing = true;  // every hold has a larger fencing token than earlier holds
    bool tokens_survive_data_loss =
        true;                     // tokens grow also after the service crashed and lost its data
    bool loss_is_pushed = false;  // a forced release reaches the holder before its next renewal
    bool names_holders = true;    // `inspect` shows host, pid, command and start of a hold
    // A release gives the lock to a waiter. The waiter needs no second attempt, and no other caller
    // can take the lock first.
    bool hands_over = true;
    bool across_processes = true;
    bool across_hosts = true;
    // Holds and their tokens survive the failover of the service to another server.
    bool survives_failover = false;
    bool knows_remaining_time = true;  // `inspect` shows how long a lease lasts without a renewal
    // The range of ttls, and the unit in which the service counts them. `least_ttl` and `most_ttl`
    // are multiples of the unit. The core refuses a ttl out of the range, and rounds up to a unit.
    duration least_ttl = std::chrono::milliseconds(10);
    duration most_ttl = std::chrono::hours(24);
    duration ttl_granularity = std::chrono::milliseconds(1);
    // When the service gives away the lock of a holder that died: at the latest `takeover_ttls`
    // ttls and `takeover_delay` after its last renewal. A failover of the service may start this
    // time again.
    unsigned takeover_ttls = 1;
    duration takeover_delay{};
    fairness order = fairness::first_in_first_out;  // in which order queued waiters are served
    bool strictly_fair = false;     // supports `claim::fair`: no later request is granted first
    bool modes_share_queue = true;  // the modes of a name exclude each other and wait in one queue
    // The supported modes beside the exclusive one.
    bool shared = false;
    bool permits = false;
    bool downgrades = false;     // spi::backend::downgrade
    bool caller_values = false;  // `claim::value`, and `adopt`
    bool acquire_batch = false;  // spi::backend::acquire_batch
    // `confirm_durability` supports durability::replicas, and durability::disk. A server may still
    // lack replicas or an append-only file.
    bool replica_durability = false;
    bool disk_durability = false;
    // `latches` of the backend is not null. `barriers`: its latches also number their generations,
    // which barriers need.
    bool latches = false;
    bool barriers = false;

    // The bound that `takeover_ttls` and `takeover_delay` state, for a lease of this ttl.
    [[nodiscard]] constexpr duration takeover_bound(duration ttl) const noexcept {
        return takeover_ttls * ttl + takeover_delay;
    }

    bool operator==(const capabilities&) const = default;
};

// The process that `inspect` shows for the client's holds.
struct identity {
    std::string host;      // the host's name
    std::int64_t pid = 0;  // client_options::pid
    std::string command;   // client_options::command
};

// A number that only grows. Thread-safe.
class counter {
public:
    // Each is one atomic operation.
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
    // Counted by the core.
    counter grants, renewals, losses, late_releases;
};

// The objects that the core gives to a backend. `time` and `listener` outlive the backend.
struct backend_context {
    boost::asio::any_io_executor strand;  // all calls come from it
    runtime* time = nullptr;              // the only clock, timers and random numbers
    loss_listener* listener = nullptr;    // receives pushed losses
    identity process;                     // for `inspect`
    // client_options::log: one line at a time, never with a password. May be empty.
    std::function<void(std::string_view)> log;
    // client_options::try_limit: the limit of an attempt that does not wait.
    duration try_limit = std::chrono::seconds(1);
    // Never null.
    std::shared_ptr<counters> counts = std::make_shared<counters>();
};

// The connection of one client to a service.
class backend {
public:
    virtual ~backend() = default;

    // One attempt to acquire the lock. It may wait in the service's queue until `give_up_at`; a
    // time that is not in the future means an attempt without a wait, which ends within
    // `backend_context::try_limit`. Empty: the lock was not free. When it throws or is cancelled,
    // the backend undoes the request in the background: no place in the queue stays, and a late
    // grant is released.
    //
    // It repeats nothing. While there is time, the core repeats an attempt that was empty or threw
    // an error with `is_transient()`, always with another `claim::owner`: the first empty one at
    // once if the backend hands over, the others after a pause that grows, and not before the
    // error's `retry_at()`.
    virtual boost::asio::awaitable<std::optional<grant>> acquire(const claim& claim,
                                                                 time_point give_up_at) = 0;

    // Acquires all of these exclusive locks in one request if all are free, else none (empty). It
    // does not queue. A `give_up_at` in the future limits the wait for the answer. When it throws
    // or is cancelled, it undoes its request as `acquire` does. Called only with the capability
    // `acquire_batch`.
    virtual boost::asio::awaitable<std::vector<grant>> acquire_batch(std::span<const claim> claims,
                                                                     time_point give_up_at);
    // False: one request cannot acquire these locks, because different servers have them. The core
    // then acquires them one after the other. Called only with the capability `acquire_batch`.
    [[nodiscard]] virtual bool can_batch(
        [[maybe_unused]] std::span<const std::string> names) const {
        return true;
    }

    // Completes when these new holds have the durability. The holds are those of one grant: a
    // single hold, or all of one `acquire_batch`. Gives up at `give_up_at`; a time that is not in
    // the future means a limit of the backend's own. May extend the leases, and never creates a
    // hold. Throws errc::not_durable if there were too few copies in time, errc::unsupported if the
    // server cannot make them, and errc::lost if a hold has ended. The core then releases the
    // holds. Called only with the capability for that level.
    virtual boost::asio::awaitable<void> confirm_durability(std::span<const hold* const> holds,
                                                            durability wanted,
                                                            time_point give_up_at);

    // Extends the leases, in as few requests as possible, and settles each renewal. A renewal that
    // is not settled when this ends is `unknown`. Never creates a lock. Does not throw.
    virtual boost::asio::awaitable<void> renew(renewal_batch& batch) = 0;
    // The largest batch for `renew`, 1 or more: a single request must not keep a service busy.
    [[nodiscard]] virtual std::size_t renewals_at_once() const noexcept { return 256; }
    // How many requests about one hold may be without an answer, 1 or more. With 1, the next
    // renewal waits for the answer to the last one. A service that is far away needs more.
    [[nodiscard]] virtual std::size_t unanswered_renewals() const noexcept { return 1; }

    // Releases the hold. The next waiter gets the lock (`capabilities::hands_over`), or is told
    // that it is free. Idempotent. `unknown`: no answer came in time. The backend then continues in
    // the background, for the ttl at most.
    virtual boost::asio::awaitable<release_result> release(const hold& hold) = 0;

    // The state of a lock, and of all held locks that begin with `prefix` (or `incomplete_list`).
    virtual boost::asio::awaitable<lock_info> inspect(std::string_view name) = 0;
    virtual boost::asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) = 0;

    // Turns an exclusive hold into a shared one and renews it, in one step, so that no writer gets
    // the lock in between. The hold keeps its token: of the grant, only the deadline and the stored
    // value count. Empty: the hold has ended. Throws if there was no answer; the core then calls
    // again. Called only with the capability `downgrades`.
    virtual boost::asio::awaitable<std::optional<grant>> downgrade(const hold& hold);

    // Continues the hold with the value `claim.value`: renews it, so that its lease ends one ttl
    // from now, and gives it the next fencing token. Never creates a lock. Empty: no hold has this
    // value. Throws if there was no answer; it may then be called again. Called only with the
    // capability `caller_values`.
    virtual boost::asio::awaitable<std::optional<grant>> adopt(const claim& claim);

    // Sets the semaphore's total (1 or more), whether or not a total is stored already, and serves
    // the queue. A smaller total takes no permits away: no permit is granted until enough permits
    // are returned. Called only with the capability `permits`.
    virtual boost::asio::awaitable<void> resize(std::string_view name, std::uint32_t permits);

    // Takes the lock from all its holders; the waiters learn of it as from a release. Later grants
    // have larger fencing tokens. With an `expected` token, only if a present holder has it, as
    // `inspect` shows it; a later holder keeps the lock. The empty token is any
    // holder's. False: nothing was released: the lock was free, or no holder had the token.
    virtual boost::asio::awaitable<bool> force_release(std::string_view name,
                                                       fencing_token expected) = 0;

    // Connects, and returns findings and the guarantees of the service as it is configured.
    virtual boost::asio::awaitable<examination> examine() = 0;

    // Waits until the undos and releases in the background are done, but not beyond `give_up_at`.
    // From this call on, the core starts no acquire and no renewal. In a fork of the process, only
    // `close` is called, with a `give_up_at` that has passed; it must send nothing.
    virtual boost::asio::awaitable<void> close(time_point give_up_at) = 0;

    // Why the server of this lock cannot be reached at present, for messages. Empty while it can be
    // reached. This text becomes the reason in the error of a wait that ends meanwhile. If it does
    // not end with a full stop, the core adds what to check.
    [[nodiscard]] virtual std::string unreachable_reason(
        [[maybe_unused]] std::string_view name) const {
        return {};
    }

    // The latches, owned by the backend. Null: the service has none.
    [[nodiscard]] virtual spi::latches* latches() noexcept { return nullptr; }

    // The capabilities. They do not change.
    [[nodiscard]] virtual spi::capabilities capabilities() const noexcept = 0;

    // True: whatever executor a coroutine of the backend has, it is resumed only on the strand. A
    // call may then begin without a turn of the event loop. It must be false, for example, if the
    // backend waits for an I/O object by Asio's use_awaitable, which resumes the coroutine on the
    // coroutine's own executor.
    [[nodiscard]] virtual bool resumes_on_strand() const noexcept { return false; }

    // How the user can get a mode, or `fair`, that the backend does not have: the end of a message,
    // such as "set a=b in the URL". Empty: there is no way.
    [[nodiscard]] virtual std::string capability_hint([[maybe_unused]] lock_mode mode,
                                                      [[maybe_unused]] bool fair) const {
        return {};
    }
};

// The allowance for the different speeds of two clocks, 1 % of the ttl + 2 ms, as in redlock-rb
// (S. Sanfilippo).
[[nodiscard]] constexpr duration drift(duration ttl) noexcept {
    return ttl / 100 + std::chrono::milliseconds(2);
}

}  // namespace pawl::spi
