// The async API: locks for programs with an event loop, with any Asio completion token.
#pragma once

#include <pawl/asio_settings.hpp>
#include <pawl/client_options.hpp>
#include <pawl/error.hpp>
#include <pawl/held_lock.hpp>
#include <pawl/held_locks.hpp>
#include <pawl/options.hpp>
#include <pawl/service.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pawl {

namespace core {
class engine;
class owner;
}  // namespace core

// A client of one service. It connects at the first use. Thread-safe: it uses a strand of its own
// on the given executor.
//
// Handlers run on their associated executor, by default that of the client, and never inside the
// initiating function. In the handlers' signatures, `error_code` is boost::system::error_code.
//
// Cancellation: every operation but `async_close` supports every type. It completes with
// boost::asio::error::operation_aborted, unless its result is there already; on SQLite, a running
// transaction ends first. A cancelled acquire leaves neither a lock nor a place in the queue
// behind, as soon as the service can be reached. A cancelled change, such as `async_resize`, may
// have been carried out.
//
// Errors, as errc: bad_name, bad_option and unsupported for arguments; unreachable, refused,
// unavailable, wrong_type and protocol from the service; exhausted if the program lacks resources;
// cancelled if the client was closed meanwhile. An acquire with a `wait` continues while the
// service is away or unavailable; a try, and each operation without a wait, fails.
//
// The destructor closes the client in the background, as `async_close` does, if the executor still
// runs. The client may be moved while its handles and objects exist. Client and handles must not
// outlive the event loop. In a fork of the process, operations fail with errc::unsupported, and
// closing sends nothing. If the child runs the event loop, call the loop's `notify_fork` first;
// make a new client in the child.
//
// A new client is no work for the event loop. After its first acquire, or its first request to
// Redis, `io_context::run()` does not return until the client is closed.
class client {
public:
    using lock_handler =
        boost::asio::any_completion_handler<void(boost::system::error_code, held_lock)>;
    template <class T>
    using answer_handler = boost::asio::any_completion_handler<void(boost::system::error_code, T)>;

    // Throws errc::exhausted if the system has no threads or timers for the client.
    client(boost::asio::any_io_executor on, service where);
    client(boost::asio::any_io_executor on, service where, const client_options& options);
    // Pass a named object: GCC 12 corrupts a temporary with such members inside a co_await.
    client(boost::asio::any_io_executor on, service where, client_options&& options) = delete;
    client(client&&) noexcept = default;
    client& operator=(client&&) noexcept = delete;
    ~client();

    // Handler: void(error_code, held_lock). Acquires the lock, or waits in the queue for up to
    // `options.wait`. errc::timed_out: the lock was not free in time.
    template <class Token = boost::asio::deferred_t>
    auto async_acquire(std::string name, lock_options options = {}, Token&& token = {}) {
        return begin<Token>(engine_, &client::start_acquire, token, nullptr, std::move(name),
                            options, std::nullopt);
    }

    // Handler: void(error_code, held_lock). One attempt, or polling as in `options.retry`. The
    // handle is empty, without an error, if the lock is taken.
    template <class Token = boost::asio::deferred_t>
    auto async_try_acquire(std::string name, try_options options = {}, Token&& token = {}) {
        return begin<Token>(engine_, &client::start_acquire, token, nullptr, std::move(name),
                            once(options), options.retry);
    }

    // As the two above, with `value` as the content of the lock's key. Any program that knows the
    // value can renew and release the hold. Use a new value each time: a late release under the
    // first hold's value would end the second hold. `async_acquire_as` does not queue: it polls,
    // with the defaults of `polling`, until `options.wait` is over. A value has 1 to 256 bytes
    // without control characters, and does not begin with "pawl:". The lock must be exclusive and
    // not `fair`; else errc::bad_option. errc::unsupported: the service is not Redis in the native
    // layout. errc::unavailable, for a try: an earlier acquire under this value is being undone.
    template <class Token = boost::asio::deferred_t>
    auto async_acquire_as(std::string name, std::string value, lock_options options = {},
                          Token&& token = {}) {
        return begin<Token>(engine_, &client::start_acquire_as, token, std::move(name),
                            {std::move(value), false}, options, std::nullopt);
    }
    template <class Token = boost::asio::deferred_t>
    auto async_try_acquire_as(std::string name, std::string value, try_options options = {},
                              Token&& token = {}) {
        return begin<Token>(engine_, &client::start_acquire_as, token, std::move(name),
                            {std::move(value), false}, once(options), options.retry);
    }
    // Handler: void(error_code, held_lock). Continues the hold that has this value, whichever
    // program acquired it: renews it, and gives it the next token. Never takes a free lock. The
    // handle is empty, without an error, if no hold has this value. The former holder must stop,
    // since both would share one hold. Values and errors as for `async_acquire_as`.
    template <class Token = boost::asio::deferred_t>
    auto async_adopt(std::string name, std::string value, try_options options = {},
                     Token&& token = {}) {
        return begin<Token>(engine_, &client::start_acquire_as, token, std::move(name),
                            {std::move(value), true}, once(options), options.retry);
    }

    // Handler: void(error_code, held_locks). Acquires all of 1 to 256 names or none, with one
    // `options.wait` for all. Duplicates count once. The locks are acquired in the order of their
    // names' bytes, so callers with common names do not deadlock. On Redis in the native layout,
    // one request first tries to take them all (plain exclusive locks only). errc::lost: one lock
    // was lost before the last one came. An error or a cancellation leaves nothing behind. Create
    // the vector before the co_await: GCC 12 does not compile names in braces inside it.
    template <class Token = boost::asio::deferred_t>
    auto async_acquire_all(std::vector<std::string> names, lock_options options = {},
                           Token&& token = {}) {
        return begin<Token>(engine_, &client::start_acquire_all, token, nullptr, std::move(names),
                            options, std::nullopt);
    }
    // As above without waiting. The set is empty, without an error, if one of the locks is taken.
    template <class Token = boost::asio::deferred_t>
    auto async_try_acquire_all(std::vector<std::string> names, try_options options = {},
                               Token&& token = {}) {
        return begin<Token>(engine_, &client::start_acquire_all, token, nullptr, std::move(names),
                            once(options), options.retry);
    }

    // Handler: void(error_code, lock_info). The lock's state at the service, for display only.
    template <class Token = boost::asio::deferred_t>
    auto async_inspect(std::string name, Token&& token = {}) {
        return begin<Token>(engine_, &client::start_inspect, token, std::move(name));
    }
    // Handler: void(error_code, lock_info). Completes when the holder's token differs from `seen`;
    // a free lock has the empty token, and so has a hold without one. Inspects the lock every
    // `interval`, 1 ms or more, and can miss short holds. An error of the service ends the wait.
    template <class Token = boost::asio::deferred_t>
    auto async_wait_change(std::string name, fencing_token seen, duration interval,
                           Token&& token = {}) {
        return begin<Token>(engine_, &client::start_wait_change, token, std::move(name), seen,
                            interval);
    }
    // Handler: void(error_code, std::vector<lock_info>). The held locks whose names begin with
    // `prefix`, for display only.
    template <class Token = boost::asio::deferred_t>
    auto async_list(std::string prefix, Token&& token = {}) {
        return begin<Token>(engine_, &client::start_list, token, std::move(prefix));
    }
    // Handler: void(error_code, bool). Takes the lock from all its holders and gives it to the next
    // waiter. The holders lose it: at once if the service pushes that, else with their next
    // renewal. False: the lock was free.
    template <class Token = boost::asio::deferred_t>
    auto async_force_release(std::string name, Token&& token = {}) {
        return begin<Token>(engine_, &client::start_force_release, token, std::move(name));
    }
    // Handler: void(error_code). Sets the total of the semaphore, 1 or more, also if it was not
    // set. A smaller total takes no permits away: nobody enters until enough came back.
    // errc::bad_option: the total is 0.
    template <class Token = boost::asio::deferred_t>
    auto async_resize(std::string name, std::uint32_t permits, Token&& token = {}) {
        return begin<Token>(engine_, &client::start_resize, token, std::move(name), permits);
    }
    // Handler: void(error_code, examination). Examines the service, and returns what it guarantees
    // in its present configuration.
    template <class Token = boost::asio::deferred_t>
    auto async_examine(Token&& token = {}) {
        return begin<Token>(engine_, &client::start_examine, token);
    }

    // Handler: void(). Closes the client. Its holds are lost (loss_reason::client_closed) and
    // released, its outstanding operations end with errc::cancelled, and its connections end.
    // Completes when the service has answered, or after `client_options::drain`. Then the client is
    // no work for the event loop. Later acquires fail with errc::cancelled; call nothing else. A
    // later `async_close` completes with the first. Cancellation: none.
    template <class Token = boost::asio::deferred_t>
    auto async_close(Token&& token = {}) {
        return begin<Token>(engine_, &client::start_close, token);
    }

    // The message of the client's newest failure, of any operation: what happened, and what to do.
    // An error code has no room for it. Empty if nothing failed.
    [[nodiscard]] std::string last_failure() const;

    // The counters of this client. Sends no request and does not wait.
    [[nodiscard]] pawl::statistics statistics() const noexcept;

private:
    friend class lock_owner;
    friend class latch;
    friend class barrier;
    friend class semaphore;
    friend class election;
    using engine_ptr = std::shared_ptr<core::engine>;
    using owner_ptr = std::shared_ptr<core::owner>;

    // The caller's value; whether an existing hold is adopted.
    struct chosen {
        std::string value;
        bool adopting;
    };

    // The initiation; asio::cancel_after and similar tokens take its executor.
    template <class Signature, class... Arguments>
    struct beginning {
        using executor_type = boost::asio::any_io_executor;
        using handler = boost::asio::any_completion_handler<Signature>;
        engine_ptr engine;
        void (*start)(handler, engine_ptr, Arguments...);

        executor_type get_executor() const noexcept { return executor_of(*engine); }
        void operator()(handler done, Arguments... arguments) const {
            start(std::move(done), engine, std::move(arguments)...);
        }
    };
    template <class Token, class Signature, class... Arguments>
    static auto begin(const engine_ptr& engine,
                      void (*start)(boost::asio::any_completion_handler<Signature>, engine_ptr,
                                    Arguments...),
                      std::remove_reference_t<Token>& token,
                      std::type_identity_t<Arguments>... arguments) {
        return boost::asio::async_initiate<Token, Signature>(
            beginning<Signature, Arguments...>{engine, start}, token, std::move(arguments)...);
    }

    static boost::asio::any_io_executor executor_of(const core::engine& engine) noexcept;
    static std::shared_ptr<core::owner> make_owner(const core::engine& engine);
    static void start_acquire(lock_handler done, engine_ptr engine, owner_ptr who, std::string name,
                              lock_options options, std::optional<polling> once);
    static void start_acquire_as(lock_handler done, engine_ptr engine, std::string name,
                                 chosen value, lock_options options, std::optional<polling> once);
    static void start_acquire_all(answer_handler<held_locks> done, engine_ptr engine, owner_ptr who,
                                  std::vector<std::string> names, lock_options options,
                                  std::optional<polling> once);
    static void start_inspect(answer_handler<lock_info> done, engine_ptr engine, std::string name);
    static void start_wait_change(answer_handler<lock_info> done, engine_ptr engine,
                                  std::string name, fencing_token seen, duration interval);
    static void start_list(answer_handler<std::vector<lock_info>> done, engine_ptr engine,
                           std::string prefix);
    static void start_force_release(answer_handler<bool> done, engine_ptr engine, std::string name);
    static void start_resize(held_lock::question_handler done, engine_ptr engine, std::string name,
                             std::uint32_t permits);
    static void start_close(boost::asio::any_completion_handler<void()> done, engine_ptr engine);
    static void start_examine(answer_handler<examination> done, engine_ptr engine);

    engine_ptr engine_;
};

}  // namespace pawl
