// The handle of one hold, asynchronous face.
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

[[noreturn]] void refuse_empty_handle();

// Move-only; empty when default-made or moved from. Any member may be called from any thread, one
// handle from one thread at a time. The destructor gives the lock back in the background: it never
// blocks, never throws. In a fork of the holder the handle holds nothing and its destructor does
// nothing.
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
    // Stops at `safe_until` at the latest, whatever the network, the service, this program's event
    // loop or other callbacks do. Callbacks run on threads of Pawl's that do nothing else, never on
    // the event loop and never inside a call of yours: they may block and take any mutex. Each
    // callback that blocks occupies a thread. When the system has no more threads, `state` still
    // tells the truth, but later signals may wait until a callback returns. The destructor of a
    // std::stop_callback waits for its callback, if that is running. Asked for after the loss, the
    // token is stopped already: a std::stop_callback then calls back at once, in its constructor.
    [[nodiscard]] std::stop_token lost() const;

    // Idempotent: a second call reports what the first one found. A lock_owner's handle says
    // `still_held` while others keep the lock, and afterwards what their last one found. Completes
    // on the token's executor. Cancellation: none; the lock is being given back whatever the caller
    // does.
    template <class Token = boost::asio::deferred_t>
    auto async_release(Token&& token = {}) {
        return boost::asio::async_initiate<Token, void(release_result)>(
            [](release_handler done, std::shared_ptr<core::lease> lease, std::uint32_t number) {
                start_release(std::move(lease), number, std::move(done));
            },
            token, lease(), number_);
    }

    // void(error_code). Renews now, whatever the rhythm: afterwards `safe_until` is a ttl from this
    // call, less drift, or `max_hold`. errc::lost: the hold ended first. Cancellation: none.
    template <class Token = boost::asio::deferred_t>
    auto async_renew(Token&& token = {}) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
            [](question_handler done, std::shared_ptr<core::lease> lease) {
                start_renew({std::move(lease)}, std::move(done));
            },
            token, lease());
    }

    // void(error_code). From exclusive to shared, without letting a writer come between; the token
    // stays. Of all handles of a lock_owner. errc::lost as above. Cancellation: none.
    template <class Token = boost::asio::deferred_t>
    auto async_downgrade(Token&& token = {}) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
            [](question_handler done, std::shared_ptr<core::lease> lease) {
                start_downgrade(std::move(lease), std::move(done));
            },
            token, lease());
    }

    // Completes with the reason when the lock is lost; with `operation_aborted` when it is released
    // first or the wait is cancelled (any cancellation type).
    template <class Token = boost::asio::deferred_t>
    auto async_wait_lost(Token&& token = {}) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code, loss_reason)>(
            begin_wait_lost{lease()}, token);
    }

private:
    friend class held_locks;

    // What begins the wait; it names its executor for cancel_after and its like.
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
