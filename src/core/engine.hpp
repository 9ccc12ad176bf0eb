// What stands behind a client of either API: one strand, one backend, and the life of every hold.
#pragma once

#include "absence.hpp"
#include "engine_registry.hpp"
#include "lease_keeper.hpp"
#include "waiting_room.hpp"

#include <pawl/client_options.hpp>
#include <pawl/error.hpp>
#include <pawl/options.hpp>
#include <pawl/service.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/strand.hpp>

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <set>

namespace pawl::core {

// Members marked "strand" run on it; the others may be called from any thread.
class engine : public std::enable_shared_from_this<engine>, private loss_listener {
public:
    using ptr = std::shared_ptr<engine>;

    ~engine() override;
    // `serial` says that `on` runs one handler at a time, and so needs no strand around it, and
    // that all that completes there is Pawl's own.
    static ptr make(const boost::asio::any_io_executor& on, const service& where,
                    client_options options, bool serial = false);

    [[nodiscard]] const boost::asio::any_io_executor& strand() const noexcept { return strand_; }
    // When the leases next need the event loop. From any thread.
    [[nodiscard]] time_point next_due() const noexcept { return keeper_->armed(); }
    // Where the caller's handlers start: outside the strand, on their way to their own executors.
    [[nodiscard]] const boost::asio::any_io_executor& outside() const noexcept { return outside_; }
    [[nodiscard]] runtime& time() const noexcept { return *options_.time; }

    // Strand. An empty result: somebody else's, where `once`. Throws pawl::error.
    boost::asio::awaitable<taken> acquire(std::string name, lock_options options, bool once);

    // Strand. All of these if all are free, in one request; empty: one is somebody else's, and none
    // was taken. Only of services that can.
    [[nodiscard]] bool takes_several() const { return backend_->promised().several; }
    boost::asio::awaitable<std::vector<taken>> acquire_several(
        const std::vector<std::string>& names, lock_options options, time_point give_up_at);

    // Strand. Asks once for a hold under a value of the caller's own; adopting, for what is held so
    // already. An empty result: somebody else's, or not held so.
    boost::asio::awaitable<taken> acquire_as(std::string name, std::string value,
                                             lock_options options, bool adopting);

    // Strand. Why a wait ended in vain: somebody else had the lock, or the service is away.
    [[nodiscard]] error not_in_time(const std::string& name) const;
    // Strand. For a wait until then.
    [[nodiscard]] absence absence_until(time_point give_up_at) {
        return {time(), strand_, options_.log, give_up_at};
    }

    // Strand. For people and tools.
    boost::asio::awaitable<lock_info> inspect(std::string name);
    boost::asio::awaitable<std::vector<lock_info>> list(std::string prefix);
    boost::asio::awaitable<bool> force_release(std::string name);
    boost::asio::awaitable<bool> resize(std::string name, std::uint32_t permits);
    boost::asio::awaitable<examination> examine();
    // Strand. Throws errc::unsupported where the service has none.
    [[nodiscard]] latches& counted();

    // Strand. Done when the service has answered; errc::lost when the hold ended first.
    boost::asio::awaitable<void> renew(std::shared_ptr<lease> one);
    boost::asio::awaitable<void> downgrade(std::shared_ptr<lease> one);

    // Strand. The first call for the last handle gives it back, later ones wait for what it found.
    void release(const handle_id& mine, lease::release_handler done);
    void wait_lost(const std::shared_ptr<lease>& one, lease::loss_handler done);

    // One outstanding operation that `close`, or its caller, may cancel.
    class operation {
    public:
        explicit operation(ptr home) noexcept : home_(std::move(home)) {}
        ~operation() { end(); }
        operation(const operation&) = delete;
        operation& operator=(const operation&) = delete;
        // All on the strand. Throws `operation_aborted` when `cancel` came first.
        void begin();
        void end();
        void cancel();
        [[nodiscard]] const engine& home() const noexcept { return *home_; }
        [[nodiscard]] boost::asio::cancellation_slot slot() noexcept { return signal_.slot(); }

    private:
        const ptr home_;
        bool begun_ = false;
        bool cancelled_ = false;
        boost::asio::cancellation_signal signal_;
    };

    // Cancels acquires, gives back what is held, lets that finish for the drain time; then `closed`
    // is called on the strand. A later call, too, is called when all that is over.
    using closed_handler = boost::asio::any_completion_handler<void()>;
    void close(closed_handler closed);
    // The event loop is being destroyed: nothing runs any more. Lets go of all that it holds of
    // callers, which may hold the engine.
    void abandon();
    [[nodiscard]] bool abandoned() const noexcept { return abandoned_; }
    // This process is a fork of the client's: nothing is asked of the service, in nobody's name.
    [[nodiscard]] bool forked() const noexcept { return made_in_.forked(); }

    // Remembers the sentence, if there is memory for it, and returns the code.
    boost::system::error_code failed(const std::exception_ptr& why) noexcept;
    // The same for what left a handler of the event loop, which goes on.
    void survived(const std::exception_ptr& why) noexcept;
    [[nodiscard]] std::string last_failure() const;
    [[nodiscard]] pawl::statistics statistics() const noexcept;

private:
    engine(const boost::asio::any_io_executor& on, client_options options, bool serial);

    void prepare(const service& where);
    void refuse_closed() const;
    void refuse_fork() const;
    boost::asio::awaitable<std::optional<grant>> ask_backend(claim& what,
                                                             const lock_options& options,
                                                             time_point give_up_at);
    claim claim_of(std::string name, const lock_options& options) const;
    lease_keeper::place place_for(claim what, duration max_hold);
    class keeping;
    class giving_back;
    class closing;
    void keep_going();
    void say(const std::function<std::string()>& line) const noexcept;
    taken keep(lease_keeper::place& kept, std::string owner, grant given) noexcept;
    // Gives back a hold that has no handle any more.
    void end(const std::shared_ptr<lease>& one) noexcept;
    void look_for_own_waiters(lease& one);
    template <class Handler, class... Answers>
    void hand_over(Handler done, Answers... answers) const;
    void lost(std::string_view owner, loss_reason why) override;
    void tell_loss(const std::shared_ptr<lease>& one);
    void cancel_loss_wait(lease& one, std::uint64_t id);
    void wait_for_release(const std::shared_ptr<lease>& one, lease::release_handler done);
    void begin_give_back(const std::shared_ptr<lease>& one) noexcept;
    void start_give_back(const std::shared_ptr<lease>& one);
    void finish_release(const std::shared_ptr<lease>& one, release_result found) noexcept;
    boost::asio::awaitable<void> give_back(std::shared_ptr<lease> one);
    boost::asio::awaitable<void> give_back_queued(ptr self);
    void leave_queued_to_ttl() noexcept;
    boost::asio::awaitable<void> clear_up(std::shared_ptr<lease> one);
    boost::asio::awaitable<void> close_down(ptr self);

    const fork_mark made_in_;
    client_options options_;
    std::shared_ptr<counters> count_;
    const bool serial_;
    boost::asio::any_io_executor outside_;
    boost::asio::any_io_executor strand_;
    std::unique_ptr<backend> backend_;
    waiting_room room_;
    waiting_names waiting_;
    std::unique_ptr<lease_keeper> keeper_;
    std::set<operation*> operations_;
    std::set<std::shared_ptr<lease>> being_released_;  // and somebody waits for that
    std::shared_ptr<engine_registry> registry_;
    bool keeping_ = false;
    bool starting_keeper_ = false;
    std::atomic<bool> closed_ = false;
    std::atomic<bool> abandoned_ = false;
    bool closing_ = false;
    bool closing_over_ = false;
    std::uint8_t keepers_ = 0;  // the number of the present coroutine of the keeper, going round
    alarm closing_tick_;        // made early: closing must need nothing that may be missing
    std::vector<closed_handler> close_waiters_;
    std::uint64_t next_wait_ = 0;
    mutable std::mutex failure_mutex_;
    std::string last_failure_;
    // From the call of `close` on, releases are queued, and few of them are under way at a time.
    std::atomic<bool> close_asked_ = false;
    std::deque<std::shared_ptr<lease>> to_release_;
    std::size_t releasers_ = 0;
    bool drained_ = false;  // no release is begun any more
};

}  // namespace pawl::core
