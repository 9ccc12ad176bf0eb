// Distributed latches and barriers, async API. blocking_latch.hpp has the sync API.
//
// A latch has no owner and no lease. A participant that dies leaves the count unchanged, so set a
// limit for each wait. A latch ends when it is not changed for `latch_options::ttl`.
#pragma once

#include <pawl/client.hpp>
#include <pawl/latch_options.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace pawl {

// A counter that releases its waiters when it reaches 0. Then it can be set again; each setting is
// a generation. Thread-safe. Handlers, cancellation and errors as for client; a step that was
// cancelled may have been counted.
//
// errc::lost: the service does not know the latch. It was never set, was reset, or is forgotten,
// after its ttl or in a restart of the service. In Redisson's layout, such a latch counts as
// at 0. errc::unsupported: the service has no latches.
class latch {
public:
    // Sends no request.
    latch(client& locks, std::string name, latch_options options = {})
        : engine_(locks.engine_), name_(std::move(name)), options_(options) {}

    // Handler: void(error_code, bool). Sets the count, 1 or more. False: the latch is counting.
    template <class Token = boost::asio::deferred_t>
    auto async_try_set(std::uint32_t count, Token&& token = {}) {
        return client::begin<Token>(engine_, &latch::start_set, token, name_, count, options_);
    }
    // Handler: void(error_code, std::uint64_t). Subtracts 1 or more steps, to 0 at the least, and
    // returns the remaining count. The step counts once, also when the connection breaks.
    // errc::unreachable: it counted once or not at all, and no answer says which.
    template <class Token = boost::asio::deferred_t>
    auto async_count_down(std::uint32_t steps = 1, Token&& token = {}) {
        return client::begin<Token>(engine_, &latch::start_count_down, token, name_, steps);
    }
    // Handler: void(error_code, bool). True: the count is 0.
    template <class Token = boost::asio::deferred_t>
    auto async_try_wait(Token&& token = {}) {
        return client::begin<Token>(engine_, &latch::start_try_wait, token, name_);
    }
    // Handler: void(error_code). Completes when the present generation has reached 0, also if the
    // latch was set again at once. Waits while the service is away, too. errc::timed_out: not
    // within `wait`, which is 0 or more.
    template <class Token = boost::asio::deferred_t>
    auto async_wait(duration wait = forever, Token&& token = {}) {
        return client::begin<Token>(engine_, &latch::start_wait, token, name_, wait);
    }
    // Handler: void(error_code). Subtracts one step, then waits as `async_wait`. A step stays
    // counted when the wait fails.
    template <class Token = boost::asio::deferred_t>
    auto async_arrive_and_wait(duration wait = forever, Token&& token = {}) {
        return client::begin<Token>(engine_, &latch::start_arrive, token, name_, wait);
    }
    // Handler: void(error_code, latch_info). An unknown latch is no error.
    template <class Token = boost::asio::deferred_t>
    auto async_inspect(Token&& token = {}) {
        return client::begin<Token>(engine_, &latch::start_inspect, token, name_);
    }
    // Handler: void(error_code, bool). Removes the latch; its waiters get errc::lost, in Redisson's
    // layout success. False: there was none.
    template <class Token = boost::asio::deferred_t>
    auto async_reset(Token&& token = {}) {
        return client::begin<Token>(engine_, &latch::start_reset, token, name_);
    }

private:
    friend class barrier;
    using engine_ptr = client::engine_ptr;
    using plain_handler = held_lock::question_handler;

    static void start_set(client::answer_handler<bool> done, engine_ptr engine, std::string name,
                          std::uint32_t count, latch_options options);
    static void start_count_down(client::answer_handler<std::uint64_t> done, engine_ptr engine,
                                 std::string name, std::uint32_t steps);
    static void start_try_wait(client::answer_handler<bool> done, engine_ptr engine,
                               std::string name);
    static void start_wait(plain_handler done, engine_ptr engine, std::string name, duration wait);
    static void start_arrive(plain_handler done, engine_ptr engine, std::string name,
                             duration wait);
    static void start_inspect(client::answer_handler<latch_info> done, engine_ptr engine,
                              std::string name);
    static void start_reset(client::answer_handler<bool> done, engine_ptr engine, std::string name);

    engine_ptr engine_;
    std::string name_;
    latch_options options_;
};

// A number of parties that wait for each other, turn after turn. The first arrival begins the first
// turn. The last arrival of a turn releases all parties, and begins the next turn in the same step.
// errc::bad_option: other parties gave another number, or a latch of this name is counting.
// errc::unsupported: the service has no barriers, as Redisson's layout. Otherwise as a latch.
class barrier {
public:
    // Sends no request. `parties` is 1 or more.
    barrier(client& locks, std::string name, std::uint32_t parties, latch_options options = {})
        : engine_(locks.engine_), name_(std::move(name)), parties_(parties), options_(options) {}

    // Handler: void(error_code, phase). Arrives, and returns the turn. The arrival counts once, as
    // a latch's step, and stays counted if the party never waits or gives up waiting.
    template <class Token = boost::asio::deferred_t>
    auto async_arrive(Token&& token = {}) {
        return client::begin<Token>(engine_, &barrier::start_arrive, token, name_, parties_,
                                    options_);
    }
    // Handler: void(error_code). Completes when all parties have arrived in that turn.
    // errc::timed_out: not within `wait`, which is 0 or more.
    template <class Token = boost::asio::deferred_t>
    auto async_wait(phase turn, duration wait = forever, Token&& token = {}) {
        return client::begin<Token>(engine_, &barrier::start_wait, token, name_, turn, wait);
    }
    // Handler: void(error_code). Arrives, then waits for the others.
    template <class Token = boost::asio::deferred_t>
    auto async_arrive_and_wait(duration wait = forever, Token&& token = {}) {
        return client::begin<Token>(engine_, &barrier::start_both, token, name_, parties_, options_,
                                    wait);
    }
    // As those of latch.
    template <class Token = boost::asio::deferred_t>
    auto async_inspect(Token&& token = {}) {
        return client::begin<Token>(engine_, &latch::start_inspect, token, name_);
    }
    template <class Token = boost::asio::deferred_t>
    auto async_reset(Token&& token = {}) {
        return client::begin<Token>(engine_, &latch::start_reset, token, name_);
    }

private:
    using engine_ptr = client::engine_ptr;
    using plain_handler = held_lock::question_handler;

    static void start_arrive(client::answer_handler<phase> done, engine_ptr engine,
                             std::string name, std::uint32_t parties, latch_options options);
    static void start_wait(plain_handler done, engine_ptr engine, std::string name, phase turn,
                           duration wait);
    static void start_both(plain_handler done, engine_ptr engine, std::string name,
                           std::uint32_t parties, latch_options options, duration wait);

    engine_ptr engine_;
    std::string name_;
    std::uint32_t parties_;
    latch_options options_;
};

}  // namespace pawl
