// The whole contract of a lock service, for whoever writes one. docs/writing-a-backend.md tells the
// story; conformance.hpp has the tests that it must pass.
//
// All calls come from one strand, several may be in flight at once. Arguments outlive the
// coroutine. The only sources of time and chance are those of `backend_context::time`. The core,
// not the backend, decides when to renew and watches every lease run out.
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

// What somebody asks for. `owner` is 128 random bits in hex, fresh for every acquire.
struct claim {
    std::string name;
    std::string owner;
    duration ttl{};
    lock_mode mode = lock_mode::exclusive;
    bool fenced = true;
    bool fair = false;          // nobody who asks later may go first
    std::uint32_t permits = 1;  // to take, in lock_mode::permits
    std::uint32_t of = 0;       // how many there are; 0: as the service has it
    // Chosen by the caller, and then exactly what the service keeps of the hold; else empty.
    std::string value{};
};

// What was given.
struct grant {
    // Ours at least until then: the time before the first byte was sent, plus ttl, less drift.
    time_point deadline{};
    fencing_token token;
    // The backend's own name for this hold (Redis: the value of the lock's key). Opaque to the
    // core.
    std::string proof;
    // Set when the deadline is a short claim window: the core renews at once, and a refusal is a
    // loss.
    bool confirm = false;
    // Whom the service knows as its owner, where that is not the claim's: a backend that repeats a
    // request must do so under an owner that is as random. Empty: the claim's.
    std::string owner{};
};

// A claim that was granted.
struct hold {
    pawl::claim claim;
    pawl::grant grant;
};

// One line of a renewal. The backend fills in `result`, and `deadline` where it extended.
struct renewal {
    enum class outcome : std::uint8_t {
        unknown,  // no answer: the core tries again while there is time
        extended,
        refused  // the service says that it is not ours: a loss
    };
    const hold* what = nullptr;
    duration ttl{};  // at most the claim's; less when max_hold is near
    outcome result = outcome::unknown;
    time_point deadline{};
};

// Where a backend reports, at once and on the strand, what the service pushes to it.
class loss_listener {
public:
    virtual ~loss_listener() = default;
    virtual void lost(std::string_view owner, loss_reason why) = 0;
};

enum class fairness : std::uint8_t { none, first_in_first_out };

// What a backend promises. Drives the conformance suite and the table in docs/guarantees.md.
struct promises {
    bool fencing = true;           // every hold has a token that never goes back
    bool survives_restart = true;  // the token, over a crash of the service that loses its data
    bool loss_is_pushed = false;   // a forced release reaches the victim before its next renewal
    bool names_holders = true;     // host, pid and command of a holder, and since when it holds
    // A release gives the lock to who waits: no second attempt, and nobody comes in between.
    bool hands_over = true;
    bool across_processes = true;
    bool across_hosts = true;
    fairness order = fairness::first_in_first_out;
    // Which modes it knows beside the exclusive one, and whether it can be strictly fair.
    bool shared = false;
    bool permits = false;
    bool strictly_fair = false;
    bool downgrades = false;
    bool chosen_values = false;  // `claim::value`, and `adopt`
    bool several = false;        // `acquire_several`
    // Count-down latches; and whether it numbers their generations, which a barrier needs.
    bool latches = false;
    bool barriers = false;
    // All modes of a name keep each other out and stand in one line, past which nobody goes.
    bool one_line = true;

    bool operator==(const promises&) const = default;
};

struct identity {
    std::string host;
    std::int64_t pid = 0;
    std::string command;
};

// Only grows. From any thread, and cheap.
class counter {
public:
    void operator++() noexcept { value_.fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t value() const noexcept {
        return value_.load(std::memory_order_relaxed);
    }

private:
    std::atomic<std::uint64_t> value_ = 0;
};

// Behind `statistics`. The backend counts what only it sees; the core counts the rest.
struct counters {
    counter requests, pushes, connections, hand_offs;
    counter grants, renewals, losses;
};

struct backend_context {
    boost::asio::any_io_executor strand;
    runtime* time = nullptr;
    loss_listener* listener = nullptr;
    identity who;
    // For one line at a time about what a person may want to know; may be empty. Never a password.
    std::function<void(std::string_view)> log;
    // Never null.
    std::shared_ptr<counters> count = std::make_shared<counters>();
};

class backend {
public:
    virtual ~backend() = default;

    // Takes `what`, queueing until `give_up_at`; one attempt when that is not in the future. Empty:
    // it is still somebody else's. If it throws or is cancelled, nothing of ours stays behind that
    // the service can still be told to drop, and a grant that arrives late is given back. Where it
    // throws errc::unreachable, the core asks again under another owner, after a pause, until
    // `give_up_at`.
    virtual boost::asio::awaitable<std::optional<grant>> acquire(const claim& what,
                                                                 time_point give_up_at) = 0;

    // Takes all of these alone if all are free, or none of them (empty), in one request: it waits
    // for nobody, and until `give_up_at`, where that is in the future, for the answer. As for
    // `acquire` when it throws or is cancelled. Asked of services that promise `several`.
    virtual boost::asio::awaitable<std::vector<grant>> acquire_several(std::span<const claim> what,
                                                                       time_point give_up_at);

    // Extends each; in as few requests as the service allows. Never creates a lock. Does not throw.
    virtual boost::asio::awaitable<void> renew(std::span<renewal> batch) = 0;
    // How many holds one `renew` is asked for at the most: one request must not keep a service
    // busy.
    [[nodiscard]] virtual std::size_t renewals_at_once() const noexcept { return 256; }

    // Gives it back, to the next waiter where there is one. Idempotent. `unknown` when there was no
    // answer; the backend then goes on trying in the background, for the ttl at the longest.
    virtual boost::asio::awaitable<release_result> release(const hold& what) = 0;

    virtual boost::asio::awaitable<lock_info> inspect(std::string_view name) = 0;
    virtual boost::asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) = 0;

    // Turns an exclusive hold into a shared one and renews it, in one step that lets no writer come
    // between. Empty: it is not ours any more. Throws where there was no answer; it may be asked
    // again then.
    virtual boost::asio::awaitable<std::optional<grant>> downgrade(const hold& what);

    // Makes ours what is held under `what.value`, whoever took it: extends it to a ttl from now,
    // with the next token. Never creates a lock. Empty: it is not held so. Throws where there was
    // no answer; it may be asked again then.
    virtual boost::asio::awaitable<std::optional<grant>> adopt(const claim& what);

    // Says how many permits a semaphore has from now on, also where nobody has said it before.
    // Fewer than are out: nobody is let in until enough came back.
    virtual boost::asio::awaitable<void> resize(std::string_view name, std::uint32_t permits);

    // Takes the lock from whoever holds it, all of them, and passes it on; the next token is
    // higher. False: nobody had it.
    virtual boost::asio::awaitable<bool> force_release(std::string_view name) = 0;

    // Connects, looks, and says what this deployment is worth.
    virtual boost::asio::awaitable<examination> examine() = 0;

    // Waits until nothing that was begun (undoing, giving back) is left to do, until `give_up_at`
    // at the longest. Then no calls follow.
    virtual boost::asio::awaitable<void> close(time_point give_up_at) = 0;

    // Why the service cannot be reached now, for people; empty while it can. The last sentence of a
    // wait has it.
    [[nodiscard]] virtual std::string absence() const { return {}; }

    // Its count-down latches; null where it has none.
    [[nodiscard]] virtual latches* counted() noexcept { return nullptr; }

    [[nodiscard]] virtual promises promised() const noexcept = 0;

    // What the user can change to get a mode, or `fair`, that is not promised: the end of a
    // sentence, such as "set a=b in the URL". Empty where nothing helps.
    [[nodiscard]] virtual std::string way_to([[maybe_unused]] lock_mode mode,
                                             [[maybe_unused]] bool fair) const {
        return {};
    }
};

// 1 % of the ttl + 2 ms, for the different speeds of two clocks.
[[nodiscard]] constexpr duration drift(duration ttl) noexcept {
    return ttl / 100 + std::chrono::milliseconds(2);
}

}  // namespace pawl
