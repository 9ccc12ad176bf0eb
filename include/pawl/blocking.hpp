// Locks for threads. Standard headers only.
#pragma once

#include <pawl/client_options.hpp>
#include <pawl/error.hpp>
#include <pawl/lock_set.hpp>
#include <pawl/options.hpp>
#include <pawl/service.hpp>
#include <pawl/striped.hpp>
#include <pawl/types.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace pawl::core {
class lease;
class owner;
}  // namespace pawl::core

namespace pawl::blocking {

class loop;

// The handle of one hold. Move-only; empty when default-made or moved from. Any member may be
// called from any thread, one handle from one thread at a time. The destructor gives the lock back
// in the background: it never blocks, never throws; the client's destructor lets it finish. In a
// fork of the holder the handle holds nothing and its destructor does nothing.
class [[nodiscard]] held_lock {
public:
    held_lock() noexcept = default;
    held_lock(std::shared_ptr<core::lease> lease, std::uint32_t number,
              std::shared_ptr<loop> home) noexcept;
    held_lock(held_lock&&) noexcept = default;
    held_lock& operator=(held_lock&& other) noexcept;
    ~held_lock();

    // True for a handle of a lock that was granted, whatever became of it since: ask `state`. Not
    // of a temporary: in `if (locks.try_acquire(name))` the lock would be given back before the
    // first statement; `if (auto lock = locks.try_acquire(name))` keeps it.
    explicit operator bool() const& noexcept { return lease_ != nullptr; }
    explicit operator bool() const&& = delete;

    // True until it is lost or given back: a local answer, as good as the clock. False for an empty
    // handle.
    [[nodiscard]] bool owns_lock() const noexcept;

    // On an empty handle the rest throws errc::not_held. It speaks of the hold, which a
    // lock_owner's handles share.
    [[nodiscard]] std::string_view name() const;
    [[nodiscard]] fencing_token token() const;
    [[nodiscard]] lock_state state() const;
    [[nodiscard]] loss_reason why_lost() const;
    // Nobody else can have it before then; moves on with every renewal. In the past once lost.
    [[nodiscard]] time_point safe_until() const;
    // Stops at `safe_until` at the latest, whatever the network, the service or other callbacks do.
    // Callbacks run on threads of Pawl's that do nothing else, never inside a call of yours: they
    // may block, take any mutex and call the client. Each callback that blocks occupies a thread.
    // When the system has no more threads, `state` still tells the truth, but later signals may
    // wait until a callback returns. The destructor of a std::stop_callback waits for its callback,
    // if that is running. Asked for after the loss, the token is stopped already: a
    // std::stop_callback then calls back at once, in its constructor.
    [[nodiscard]] std::stop_token lost() const;

    // Gives the lock back and says what it found; a second call says the same. A lock_owner's
    // handle says `still_held` while others keep the lock, and afterwards what their last one
    // found. Waits for the service's answer, until the lease would have ended anyway at the
    // longest. Throws for an empty handle only.
    release_result release();

    // Renews now, whatever the rhythm: afterwards `safe_until` is a ttl from this call, less drift,
    // or `max_hold`. Throws errc::lost when the hold ended first.
    void renew();
    // From exclusive to shared, without letting a writer come between; the token stays. Of all
    // handles of a lock_owner. Throws errc::lost when the hold ended first.
    void downgrade();

private:
    friend class thread_holds;
    [[nodiscard]] const std::shared_ptr<core::lease>& lease() const;

    std::shared_ptr<loop> home_;  // outlives the lease
    std::shared_ptr<core::lease> lease_;
    std::uint32_t number_ = 0;  // among the handles of one lease
};

// Releases at the end of its scope, and waits for the service's answer, where the handle's
// destructor would leave that to the background.
class give_back {
public:
    explicit give_back(held_lock& lock) noexcept : lock_(lock) {}
    ~give_back() {
        if (lock_) lock_.release();
    }
    give_back(const give_back&) = delete;
    give_back& operator=(const give_back&) = delete;

private:
    held_lock& lock_;
};

// The handle of several locks.
class [[nodiscard]] held_locks : public lock_set<held_lock> {
public:
    using lock_set::lock_set;

    // Gives all back, the last one first, and says the worst of what that found. Throws for an
    // empty set only.
    release_result release();

    // Renews each now, one after the other, as held_lock::renew; the first that is lost throws.
    void renew();
};

// Thread-safe. One connection for any number of threads. A waiting caller drives the event loop
// itself; a thread of Pawl's does when nobody waits. Handles may outlive it only as empty or lost
// ones; no call may be under way when it is destroyed. It may be moved while handles and objects
// that were made with it exist.
class client {
public:
    explicit client(service where, client_options options = {});
    client(client&&) noexcept = default;
    client& operator=(client&&) noexcept = delete;
    ~client();

    // Asks once, or as often as `options.retry` says; an empty handle: it is somebody else's.
    // Throws pawl::error; `cancel` as below.
    held_lock try_acquire(std::string_view name, try_options options = {},
                          std::stop_token cancel = {});

    // Waits up to `options.wait`, then throws errc::timed_out. Throws errc::cancelled, never Asio's
    // `operation_aborted`, when `cancel` is stopped; neither a lock nor a place in the queue stays
    // behind.
    held_lock acquire(std::string_view name, lock_options options = {},
                      std::stop_token cancel = {});

    // As the two above, under a value of the caller's own: what the service shows of the hold is
    // then exactly `value`, 1 to 256 bytes without control characters, and who is told it, in any
    // program, can extend the hold and give it back. Use another value each time: a second hold
    // under it could be ended by whatever still speaks of the first. Stands in no line: asks again
    // as `polling` does by default, until `options.wait` is over. Throws errc::unsupported where
    // the service keeps no such values; exclusive locks only.
    held_lock acquire_as(std::string_view name, std::string_view value, lock_options options = {},
                         std::stop_token cancel = {});
    held_lock try_acquire_as(std::string_view name, std::string_view value,
                             try_options options = {}, std::stop_token cancel = {});
    // Makes ours what is held under that value, whoever took it: extends it at once and from then
    // on, with the next token. Never takes a free lock. An empty handle: it is not held so. Whoever
    // held it before must not go on: the two would share one hold.
    held_lock adopt(std::string_view name, std::string_view value, try_options options = {},
                    std::stop_token cancel = {});

    // All of 1 to 256 names or none, within one `options.wait`; each name counts once. Where one
    // request can take all that are free, it is asked first. Else they are taken one after the
    // other, in the order of their bytes, so that two who name the same locks never wait for each
    // other. errc::lost: one was lost before the last one came. Whatever fails or is cancelled
    // leaves nothing behind.
    held_locks acquire_all(std::vector<std::string> names, lock_options options = {},
                           std::stop_token cancel = {});
    // Empty: at least one is somebody else's.
    held_locks try_acquire_all(std::vector<std::string> names, try_options options = {},
                               std::stop_token cancel = {});

    // For people and tools; never to decide anything.
    [[nodiscard]] lock_info inspect(std::string_view name);
    // When the holder's token is another one than `seen`; no holder has none. Looks every
    // `interval`.
    [[nodiscard]] lock_info wait_change(std::string_view name, fencing_token seen,
                                        duration interval, std::stop_token cancel = {});
    [[nodiscard]] std::vector<lock_info> list(std::string_view prefix = {});
    // Takes the lock from its holder and passes it on; the victim is told. False: nobody had it.
    bool force_release(std::string_view name);
    // How many permits the semaphore has from now on, 1 or more, also where nobody has said a
    // number before. Fewer than are out: nobody is let in until enough came back.
    void resize(std::string_view name, std::uint32_t permits);
    // Connects, looks, and says what this deployment is worth.
    [[nodiscard]] examination examine();

    // What this client has done so far. Asks nobody and does not wait.
    [[nodiscard]] pawl::statistics statistics() const noexcept;

private:
    friend class lock_owner;
    friend class latch;
    friend class barrier;
    friend class semaphore;
    friend class election;
    friend class thread_holds;
    std::shared_ptr<loop> loop_;
};

// Somebody who may take a lock again that is theirs already: that costs no round trip and has the
// same token, the first options count, and the lock is given back with the last handle. Who asks
// for more than it has (alone what is held beside others, more permits) gets errc::bad_option. A
// loss reaches all handles; until they are gone the owner gets errc::lost. Different owners keep
// each other out. Copies are the same owner. Thread-safe; belongs to one client, which
// must outlive it.
class lock_owner {
public:
    explicit lock_owner(client& locks);

    // As those of the client. While the owner waits for a lock, another try of its own finds it
    // busy, and another acquire waits for the first.
    held_lock try_acquire(std::string_view name, try_options options = {},
                          std::stop_token cancel = {});
    held_lock acquire(std::string_view name, lock_options options = {},
                      std::stop_token cancel = {});

    // As those of the client; what the owner holds already is entered again, and given back with
    // its last handle. Who holds some may wait for somebody who waits for these: give a `wait`.
    held_locks acquire_all(std::vector<std::string> names, lock_options options = {},
                           std::stop_token cancel = {});
    held_locks try_acquire_all(std::vector<std::string> names, try_options options = {},
                               std::stop_token cancel = {});

private:
    std::shared_ptr<loop> loop_;
    std::shared_ptr<core::owner> who_;
};

template <class Locks>
concept blocks = requires(Locks& locks, std::string_view name, lock_options options) {
    { locks.acquire(name, options) } -> std::same_as<held_lock>;
};

// Calls `work` with the handle of the lock, and returns what it returns. The lock is given back,
// and the service has been told, when this returns or throws. Who must not work without the lock
// asks the handle: `lost`, or `token` for the resource. `locks` is a client or a lock_owner.
template <blocks Locks, class Work>
    requires std::invocable<Work&, held_lock&>
std::invoke_result_t<Work&, held_lock&> with_lock(Locks& locks, std::string_view name,
                                                  lock_options options, Work work,
                                                  std::stop_token cancel = {}) {
    held_lock lock = locks.acquire(name, options, std::move(cancel));
    const give_back at_the_end(lock);
    return work(lock);
}

// The same without waiting. Empty, or false for work that returns nothing: it is somebody else's,
// and `work` was not called.
template <blocks Locks, class Work, class Result = std::invoke_result_t<Work&, held_lock&>>
    requires std::invocable<Work&, held_lock&>
std::conditional_t<std::is_void_v<Result>, bool, std::optional<Result>> try_with_lock(
    Locks& locks, std::string_view name, try_options options, Work work,
    std::stop_token cancel = {}) {
    held_lock lock = locks.try_acquire(name, options, std::move(cancel));
    if (!lock) return {};
    const give_back at_the_end(lock);
    if constexpr (std::is_void_v<Result>) {
        work(lock);
        return true;
    } else {
        return work(lock);
    }
}

// For goods in several places: calls `work(lock, index)` under the stripe of `key`, then under the
// following ones, each once, until it returns something that is true; returns that, or the last
// answer when every stripe was empty. `options.wait` counts for each.
template <blocks Locks, class Work>
    requires std::invocable<Work&, held_lock&, std::size_t>
std::invoke_result_t<Work&, held_lock&, std::size_t> with_any_stripe(
    Locks& locks, const striped& stripes, std::string_view key, lock_options options, Work work) {
    const auto first = stripes.index_of(key);
    for (std::size_t tried = 1;; ++tried) {
        const auto index = (first + tried - 1) % stripes.size();
        auto found = with_lock(locks, stripes.name_of(index), options,
                               [&](held_lock& lock) { return work(lock, index); });
        if (found || tried == stripes.size()) return found;
    }
}

}  // namespace pawl::blocking
