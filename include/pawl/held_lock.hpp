// The handle of one hold, async API.
#pragma once

#include <pawl/asio_settings.hpp>
#include <pawl/types.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/system/error_code.hpp>

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl {

namespace core {
class lease;
}

// Throws errc::not_held.
[[noreturn]] void refuse_empty_handle();

// The handle of a granted lock. Pawl renews the lease until the release, the loss, or `max_hold`.
// Move-only; empty when default-constructed or moved from.
//
// The destructor releases the lock in the background: it never blocks and never throws. In a fork
// of the process, the handle is lost (loss_reason::forked), its destructor does nothing,
// `async_release` completes with `unknown`, and `async_renew` fails with errc::unsupported.
//
// Any thread may call any member, but two threads must not use one handle at the same time. On an
// empty handle, all members but the two tests throw errc::not_held; the async ones throw when they
// are called. The handles of one lock_owner share a hold: all members but `async_release` refer to
// the hold.
//
// Handlers of async operations run on their associated executor, by default that of the client.
// They are never called inside the initiating function. `error_code` is boost::system::error_code.
class [[nodiscard]] held_lock {
public:
    using question_handler = boost::asio::any_completion_handler<void(boost::system::error_code)>;
    using release_handler = boost::asio::any_completion_handler<void(release_result)>;
    using loss_handler =
        boost::asio::any_completion_handler<void(boost::system::error_code, loss_reason)>;

    held_lock() noexcept = default;
    explicit held_lock(std::shared_ptr<core::lease> lease, std::uint32_t number = 0) noexcept
        : lease_(std::move(lease)), number_(number) {}
    held_lock(held_lock&&) noexcept = default;
    held_lock& operator=(held_lock&& other) noexcept;
    ~held_lock();

    // True for the handle of a granted lock, also after its loss or release. It does not compile
    // for a temporary: `if (locks.try_acquire(name))` would release the lock before the first
    // statement. Write `if (auto lock = locks.try_acquire(name))`.
    explicit operator bool() const& noexcept { return lease_ != nullptr; }
    explicit operator bool() const&& = delete;

    // True if the state is held or at_risk. Like the next members, a local check without a request.
    [[nodiscard]] bool owns_lock() const noexcept;

    // Valid as long as the handle is not empty.
    [[nodiscard]] std::string_view name() const;
    [[nodiscard]] fencing_token token() const;
    [[nodiscard]] lock_state state() const;
    [[nodiscard]] loss_reason why_lost() const;
    // No other caller can have the lock before this time. Each renewal moves it forward; after a
    // loss it is in the past.
    [[nodiscard]] time_point safe_until() const;
    // Is stopped at `safe_until` at the latest, also when the network, the event loop or another
    // callback is stuck. The token of a lost hold is stopped from the start: a std::stop_callback
    // then runs its callback in its constructor.
    //
    // Callbacks run on threads that Pawl reserves for them, never on the event loop: they may block
    // and take any mutex. If the system has no more threads, later signals wait until a callback
    // returns, and `state` stays correct. The destructor of a std::stop_callback waits for its
    // callback.
    [[nodiscard]] std::stop_token lost() const;

    // Handler: void(release_result). Releases the lock. Completes when the service has answered, or
    // with `unknown` when no answer came in time. A second call has the same result. A lock_owner's
    // handle gets `still_held` while other handles keep the lock, and later the result of the last
    // one. Cancellation: none.
    template <class Token = boost::asio::deferred_t>
    auto async_release(Token&& token = {}) {
        return boost::asio::async_initiate<Token, void(release_result)>(
            [](release_handler done, std::shared_ptr<core::lease> lease, std::uint32_t number) {
                start_release(std::move(lease), number, std::move(done));
            },
            token, lease(), number_);
    }

    // Handler: void(error_code). Renews at once, beside the regular renewals. Completes when the
    // service has confirmed. `safe_until` is then `max_hold`, or the time of the request plus the
    // ttl, less 1 % of the ttl and 2 ms for drift. Without an answer the request is repeated until
    // the lease ends. errc::lost: the hold has ended. Cancellation: none.
    template <class Token = boost::asio::deferred_t>
    auto async_renew(Token&& token = {}) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
            [](question_handler done, std::shared_ptr<core::lease> lease) {
                start_renew({std::move(lease)}, std::move(done));
            },
            token, lease());
    }

    // Handler: void(error_code). Turns an exclusive hold into a shared one and renews it; no writer
    // gets the lock in between, and the token stays. A shared hold stays as it is. errc::lost: the
    // hold has ended. errc::bad_option: it has permits. errc::unsupported: the service has no
    // shared locks. Cancellation: none.
    template <class Token = boost::asio::deferred_t>
    auto async_downgrade(Token&& token = {}) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
            [](question_handler done, std::shared_ptr<core::lease> lease) {
                start_downgrade(std::move(lease), std::move(done));
            },
            token, lease());
    }

    // Handler: void(error_code, loss_reason). Completes without error when the hold is lost, with
    // `operation_aborted` when it is released first. Cancellation: every type, with
    // `operation_aborted`; the hold stays.
    template <class Token = boost::asio::deferred_t>
    auto async_wait_lost(Token&& token = {}) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code, loss_reason)>(
            begin_wait_lost{lease()}, token);
    }

private:
    friend class held_locks;

    // The initiation; asio::cancel_after and similar tokens take its executor.
    struct begin_wait_lost {
        using executor_type = boost::asio::any_io_executor;
        std::shared_ptr<core::lease> lease;

        executor_type get_executor() const noexcept { return executor_of(*lease); }
        void operator()(loss_handler done) const { start_wait_lost(lease, std::move(done)); }
    };

    [[nodiscard]] const std::shared_ptr<core::lease>& lease() const {
        if (!lease_) refuse_empty_handle();
        return lease_;
    }
    static boost::asio::any_io_executor executor_of(const core::lease& lease) noexcept;
    static void start_release(std::shared_ptr<core::lease> lease, std::uint32_t number,
                              release_handler done);
    static void start_renew(std::vector<std::shared_ptr<core::lease>> all, question_handler done);
    static void start_downgrade(std::shared_ptr<core::lease> lease, question_handler done);
    static void start_wait_lost(std::shared_ptr<core::lease> lease, loss_handler done);

    std::shared_ptr<core::lease> lease_;
    std::uint32_t number_ = 0;  // among the handles of one lease
};

}  // namespace pawl
