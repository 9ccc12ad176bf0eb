// Locks for programs with an event loop: any Asio completion token.
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

// Makes a strand of its own on the given executor: any member may be called from any thread.
// Connects at the first use. Cancellation (any type, any operation) completes it with
// `boost::asio::error::operation_aborted`: the caller gave up. The destructor completes what is
// outstanding with errc::cancelled: the client is closed. It lets releases that are under way
// finish, for `client_options::drain`, if the executor still runs. It may be moved while handles
// and objects that were made with it exist.
//
// A new client is no work for the event loop. Once it has asked for a lock, or sent Redis anything,
// `io_context::run()` does not return before `async_close`, or what the destructor began, is over.
// Client and handles must not outlive the event loop.
class client {
public:
    using lock_handler =
        boost::asio::any_completion_handler<void(boost::system::error_code, held_lock)>;
    template <class T>
    using answer_handler = boost::asio::any_completion_handler<void(boost::system::error_code, T)>;

    // Throws pawl::error: errc::exhausted where the client's threads or timers cannot be made.
    client(boost::asio::any_io_executor on, service where);
    client(boost::asio::any_io_executor on, service where, const client_options& options);
    // Give the options a name before: GCC 12 corrupts such a temporary inside a co_await.
    client(boost::asio::any_io_executor on, service where, client_options&& options) = delete;
    client(client&&) noexcept = default;
    client& operator=(client&&) noexcept = delete;
    ~client();

    // void(error_code, held_lock). Waits up to `options.wait`, then errc::timed_out. Whether it is
    // cancelled or the client is closed, neither a lock nor a place in the queue stays behind.
    template <class Token = boost::asio::deferred_t>
    auto async_acquire(std::string name, lock_options options = {}, Token&& token = {}) {
        return begin<Token>(engine_, &client::start_acquire, token, nullptr, std::move(name),
                            options, std::nullopt);
    }

    // Asks once, or as often as `options.retry` says. An empty handle and no error: it is somebody
    // else's.
    template <class Token = boost::asio::deferred_t>
    auto async_try_acquire(std::string name, try_options options = {}, Token&& token = {}) {
        return begin<Token>(engine_, &client::start_acquire, token, nullptr, std::move(name),
                            once(options), options.retry);
    }

    // As the two above, under a value of the caller's own: what the service shows of the hold is
    // then exactly `value`, 1 to 256 bytes without control characters, and who is told it, in any
    // program, can extend the hold and give it back. Use another value each time: a second hold
    // under it could be ended by whatever still speaks of the first. Stands in no line: asks again
    // as `polling` does by default, until `options.wait` is over. errc::unsupported where
    // the service keeps no such values; exclusive locks only.
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
    // Makes ours what is held under that value, whoever took it: extends it at once and from then
    // on, with the next token. Never takes a free lock. An empty handle and no error: it is not
    // held so. Whoever held it before must not go on: the two would share one hold.
    template <class Token = boost::asio::deferred_t>
    auto async_adopt(std::string name, std::string value, try_options options = {},
                     Token&& token = {}) {
        return begin<Token>(engine_, &client::start_acquire_as, token, std::move(name),
                            {std::move(value), true}, once(options), options.retry);
    }

    // void(error_code, held_locks). All of 1 to 256 names or none, within one `options.wait`; each
    // name counts once. Where one request can take all that are free, it is asked first. Else they
    // are taken one after the other, in the order of their bytes, so that two who name the same
    // locks never wait for each other. errc::lost: one was lost before the last one came. Whatever
    // fails or is cancelled leaves nothing behind. Make the vector before the co_await: GCC 12 does
    // not compile names in braces inside it.
    template <class Token = boost::asio::deferred_t>
    auto async_acquire_all(std::vector<std::string> names, lock_options options = {},
                           Token&& token = {}) {
        return begin<Token>(engine_, &client::start_acquire_all, token, nullptr, std::move(names),
                            options, std::nullopt);
    }
    // An empty answer and no error: at least one is somebody else's.
    template <class Token = boost::asio::deferred_t>
    auto async_try_acquire_all(std::vector<std::string> names, try_options options = {},
                               Token&& token = {}) {
        return begin<Token>(engine_, &client::start_acquire_all, token, nullptr, std::move(names),
                            once(options), options.retry);
    }

    // void(error_code, lock_info). For people and tools; never to decide anything.
    template <class Token = boost::asio::deferred_t>
    auto async_inspect(std::string name, Token&& token = {}) {
        return begin<Token>(engine_, &client::start_inspect, token, std::move(name));
    }
    // void(error_code, lock_info). When the holder's token is another one than `seen`; no holder
    // has none. Looks every `interval`.
    template <class Token = boost::asio::deferred_t>
    auto async_wait_change(std::string name, fencing_token seen, duration interval,
                           Token&& token = {}) {
        return begin<Token>(engine_, &client::start_wait_change, token, std::move(name), seen,
                            interval);
    }
    // void(error_code, std::vector<lock_info>)
    template <class Token = boost::asio::deferred_t>
    auto async_list(std::string prefix, Token&& token = {}) {
        return begin<Token>(engine_, &client::start_list, token, std::move(prefix));
    }
    // void(error_code, bool). Takes the lock from its holder and passes it on; the victim is told.
    // False: nobody had it.
    template <class Token = boost::asio::deferred_t>
    auto async_force_release(std::string name, Token&& token = {}) {
        return begin<Token>(engine_, &client::start_force_release, token, std::move(name));
    }
    // void(error_code). How many permits the semaphore has from now on, 1 or more, also where
    // nobody has said a number before. Fewer than are out: nobody is let in until enough came back.
    template <class Token = boost::asio::deferred_t>
    auto async_resize(std::string name, std::uint32_t permits, Token&& token = {}) {
        return begin<Token>(engine_, &client::start_resize, token, std::move(name), permits);
    }
    // void(error_code, examination). Connects, looks, and says what this deployment is worth.
    template <class Token = boost::asio::deferred_t>
    auto async_examine(Token&& token = {}) {
        return begin<Token>(engine_, &client::start_examine, token);
    }

    // void(). Gives back what is held, cancels what is outstanding, ends the connections, and
    // completes when the service has been told or `client_options::drain` is over. After that
    // nothing of the client keeps the event loop going; new requests fail with errc::cancelled. A
    // second call completes with the first. Cancellation: none.
    template <class Token = boost::asio::deferred_t>
    auto async_close(Token&& token = {}) {
        return begin<Token>(engine_, &client::start_close, token);
    }

    // The sentence behind the newest failure of this client: what the service said, and what to do.
    // Error codes alone cannot carry it. Thread-safe.
    [[nodiscard]] std::string last_failure() const;

    // What this client has done so far. Asks nobody and does not wait. Thread-safe.
    [[nodiscard]] pawl::statistics statistics() const noexcept;

private:
    friend class lock_owner;
    friend class latch;
    friend class barrier;
    friend class semaphore;
    friend class election;
    using engine_ptr = std::shared_ptr<core::engine>;
    using owner_ptr = std::shared_ptr<core::owner>;

    // A value of the caller's own; whether it is held under that already.
    struct chosen {
        std::string value;
        bool adopting;
    };

    // What begins an operation; it names its executor for cancel_after and its like.
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
