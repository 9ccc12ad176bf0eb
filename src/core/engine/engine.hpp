// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The core of a client of either API: one strand, one backend, and all holds.
#pragma once

#include "../lease/lease_keeper.hpp"
#include "../util/outage.hpp"
#include "background_releases.hpp"
#include "closing.hpp"
#include "completion_executor.hpp"
#include "engine_registry.hpp"
#include "waiting_room.hpp"

#include <pawl/client_options.hpp>
#include <pawl/error.hpp>
#include <pawl/options.hpp>
#include <pawl/service.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/strand.hpp>
#include <boost/intrusive/list.hpp>

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>

namespace pawl::core {

struct request;
class lock_owner_state;

// Members marked "Strand" run on the strand; the others may be called from any thread.
class engine final : public std::enable_shared_from_this<engine>,
                     public engine_registry::member,
                     private loss_listener {
public:
    using ptr = std::shared_ptr<engine>;

    // While the client closes, at most this many releases are in flight. A server answers them
    // within some milliseconds. A release without an answer at the end of the drain time has the
    // result `unknown`.
    static constexpr std::size_t most_releases_at_close = 1024;

    ~engine() override;
    // `is_serial`: the executor runs one handler at a time, so the engine needs no strand, and all
    // handlers are Pawl's own.
    static ptr make(const boost::asio::any_io_executor& executor, const service& service,
                    client_options options, bool is_serial = false);

    [[nodiscard]] const boost::asio::any_io_executor& strand() const noexcept { return strand_; }
    // For a coroutine that begins on the strand: the strand itself, unless the backend resumes on
    // the strand only.
    [[nodiscard]] const boost::asio::any_io_executor& inline_strand() const noexcept {
        return inline_strand_;
    }
    // The time at which the leases next need the event loop. From any thread.
    [[nodiscard]] time_point next_run() const noexcept { return keeper_->next_run(); }
    // The default executor of the caller's handlers. It is not the strand.
    [[nodiscard]] const boost::asio::any_io_executor& handler_executor() const noexcept {
        return completions_.executor();
    }
    // The clock, the timers and the random numbers.
    [[nodiscard]] runtime& time() const noexcept { return *options_.time; }

    // Strand. With a try policy, the handle is empty if the lock is taken. Throws pawl::error.
    // Without a lock_owner, each call acts as a new one. The wait begins at the call. Defined in
    // acquire.cpp.
    boost::asio::awaitable<lease_handle> acquire(std::string name, request asked,
                                                 std::shared_ptr<lock_owner_state> owner = {});

    // True if the service has the capability that `acquire_batch` needs, for these names.
    [[nodiscard]] bool can_acquire_batch(std::span<const std::string> names) const {
        return backend_->capabilities().acquire_batch && backend_->can_batch(names);
    }
    // Strand. Acquires all names in one request if all locks are free. Empty: one of them is taken,
    // and none was acquired.
    boost::asio::awaitable<std::vector<lease_handle>> acquire_batch(
        const std::vector<std::string>& names, lock_options options, time_point give_up_at);

    // Strand. One attempt under a value that the caller chose; with `adopting`, continues the hold
    // of that value. Empty: the lock is taken, or no hold has this value.
    boost::asio::awaitable<lease_handle> acquire_as(std::string name, std::string value,
                                                    lock_options options, bool adopting);

    // Strand. The error for a wait that is over: the lock was not free, or the service is away.
    [[nodiscard]] error timeout_error(const std::string& name, const request& asked) const;
    // The failure of a request that is over, with the limit that the caller has set, if that has
    // ended it. `give_up_at` of an attempt that does not wait is its beginning.
    [[nodiscard]] error with_limit(const error& failure, const request& asked,
                                   time_point give_up_at) const;
    // Strand. The pauses of a wait while the service is away.
    [[nodiscard]] outage make_outage() { return {time(), strand_, options_.log}; }

    // Strand. For users and tools. `force_release` returns false if nothing was released. `resize`
    // returns true: `run_operation` needs a coroutine with a result.
    boost::asio::awaitable<lock_info> inspect(std::string name);
    boost::asio::awaitable<std::vector<lock_info>> list(std::string prefix);
    boost::asio::awaitable<bool> force_release(std::string name, fencing_token expected);
    boost::asio::awaitable<bool> resize(std::string name, std::uint32_t permits);
    boost::asio::awaitable<examination> examine();
    // Strand. Throws errc::unsupported if the service has no latches.
    [[nodiscard]] spi::latches& latches();

    // Strand. Both complete when the service has answered, and throw errc::lost if the hold ended
    // first.
    boost::asio::awaitable<void> renew(std::shared_ptr<lease> lease);
    boost::asio::awaitable<void> downgrade(std::shared_ptr<lease> lease);

    // Strand. The first call for the last handle releases the lock; later calls get the same
    // result.
    void release(const handle_id& handle, lease::release_handler handler);
    // From any thread, also while the event loop ends. After that, it does nothing.
    void release_in_background(const handle_id& handle);
    // From any thread.
    void begin_wait_lost(const std::shared_ptr<lease>& lease, lease::loss_handler handler);

    // An outstanding operation, which `close` or its caller may cancel.
    class operation : public boost::intrusive::list_base_hook<> {
    public:
        explicit operation(ptr engine) noexcept : engine_(std::move(engine)) {}
        ~operation() { end(); }
        operation(const operation&) = delete;
        operation& operator=(const operation&) = delete;
        // All on the strand. `begin` throws `operation_aborted` if `cancel` came first.
        void begin();
        void end();
        void cancel();
        [[nodiscard]] const engine& owning_engine() const noexcept { return *engine_; }
        [[nodiscard]] boost::asio::cancellation_slot slot() noexcept { return signal_.slot(); }

    private:
        const ptr engine_;
        bool has_begun_ = false;
        bool is_cancelled_ = false;
        boost::asio::cancellation_signal signal_;
    };

    // Cancels the operations and releases all holds, for up to the drain time. Then the handlers of
    // this call and of later calls are called on the strand.
    using close_handler = closing::handler;
    void close(close_handler handler);
    // Called when the event loop is being destroyed and nothing runs any more. Destroys the
    // callers' handlers, which may own the engine.
    void abandon() override;
    // Leaves nothing that uses the event loop: handles and clients may outlive it.
    void dispose() noexcept override;
    [[nodiscard]] bool is_abandoned() const noexcept { return is_abandoned_; }
    // True in a fork of the client's process. Then no request is sent.
    [[nodiscard]] bool is_forked() const noexcept { return made_in_.is_forked(); }

    // The code of a failure and its message. The message is empty if there is no memory for it.
    [[nodiscard]] detail::outcome outcome_of(const std::exception_ptr& exception) const noexcept;
    // Writes a line to the log about a failure that no operation reports.
    void log_failure(const char* event, const std::exception_ptr& exception) const noexcept;
    [[nodiscard]] pawl::statistics statistics() const noexcept;

    // Strand. The backend. Throws errc::unsupported in a fork.
    [[nodiscard]] backend& live_backend() const;
    // Strand. Counts and logs the loss of a hold that only its release has found.
    void report_late_release(lease& lease, loss_reason reason) noexcept;
    // Strand. Call this when something has ended that `close` waits for.
    void notify_close();

private:
    engine(const boost::asio::any_io_executor& executor, client_options options, bool is_serial);

    void prepare(const service& service);
    void throw_if_closed() const;
    [[nodiscard]] time_point end_of_wait(const request& asked) const;
    boost::asio::awaitable<lease_handle> acquire_for(std::shared_ptr<lock_owner_state> owner,
                                                     std::string name, request asked);
    // Repeats attempts that may wait at the service until `wait_ends_at`, or makes a single one.
    boost::asio::awaitable<lease_handle> acquire_unpolled(std::string name, request asked,
                                                          time_point wait_ends_at);
    claim make_claim(std::string name, const lock_options& options) const;
    std::string make_owner() const;
    lease_keeper::reservation reserve_lease(claim requested, duration max_hold);
    class keeper_run;
    class close_request;
    void start_keeper();
    void log(const std::function<std::string()>& line) const noexcept;
    // Keeps the granted lease. A grant by value would be in the frame of each acquire.
    lease_handle keep(lease_keeper::reservation& reservation, grant&& granted) noexcept;
    // Completes when the new holds, all of one request, have the durability that the options
    // require. Throws errc::not_durable, errc::lost or errc::unsupported, never a transient error:
    // a wait must not begin anew after a grant. The caller then drops the handles, which releases
    // the holds.
    boost::asio::awaitable<void> confirm_durability(std::span<const lease_handle> granted,
                                                    durability wanted, time_point give_up_at);
    // Releases a hold that has no handle any more.
    void release_orphan(const std::shared_ptr<lease>& lease) noexcept;
    void warn_of_own_waiters(lease& lease);
    // Called by the backend for a loss that the service pushed; passes it on to the keeper.
    void on_loss(std::string_view owner, loss_reason reason) override;
    void on_possible_loss() override;
    // Counts, logs and reports the loss, and begins to release what the service may still hold.
    // Called by the keeper's hook `on_lease_lost`, by `close`, and by a release that finds the
    // loss.
    void report_loss(const std::shared_ptr<lease>& lease) noexcept;
    // Takes the lease from the keeper, and releases it unless it is lost.
    void end_hold(const std::shared_ptr<lease>& lease) noexcept;
    void complete_loss_waits(lease& lease, const detail::outcome& ended,
                             loss_reason reason) const noexcept;
    void wait_lost(const std::shared_ptr<lease>& lease, std::uint64_t id,
                   lease::loss_handler handler);
    void cancel_loss_wait(lease& lease, std::uint64_t id);
    boost::asio::awaitable<void> run_close(ptr self);
    [[nodiscard]] bool is_quiet() const noexcept {
        return operations_.empty() && releases_.are_idle();
    }

    const fork_mark made_in_;
    client_options options_;
    std::shared_ptr<counters> counters_;
    completion_executor completions_;
    boost::asio::any_io_executor strand_;
    boost::asio::any_io_executor inline_strand_;
    std::unique_ptr<backend> backend_;
    waiting_room waiting_room_;
    waiting_names waiting_names_;
    std::unique_ptr<lease_keeper> keeper_;
    // Without a size, because `end` may find the operation in another list of this type.
    using operation_list =
        boost::intrusive::list<operation, boost::intrusive::constant_time_size<false>>;
    operation_list operations_;
    std::shared_ptr<engine_registry> registry_;
    bool is_keeper_running_ = false;
    bool is_keeper_starting_ = false;
    std::mutex abandon_mutex_;
    std::atomic<bool> is_abandoned_ = false;  // the event loop was destroyed before `finished`
    std::uint8_t keeper_number_ = 0;  // the number of the keeper's present coroutine, modulo 256
    closing closing_;
    std::atomic<std::uint64_t> next_wait_ = 0;
    background_releases releases_;
};

}  // namespace pawl::core
