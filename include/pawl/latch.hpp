// Count-down latches and barriers across processes, for programs with an event loop.
// blocking_latch.hpp has the same for threads.
//
// Nobody owns a latch and it has no lease: a participant that dies leaves the count where it is, so
// who waits should say for how long. A latch that nobody changes ends after `latch_options::ttl`.
#pragma once

#include <pawl/client.hpp>
#include <pawl/latch_options.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace pawl {

// Counts down to 0, then lets all go who wait; then it can be set again. Thread-safe. Cancellation
// as in client.hpp; a step that is cancelled may have been counted. errc::lost: the service does
// not know it: nobody has set it, it was reset, or it was forgotten, by its ttl or by a restart.
class latch {
public:
    latch(client& locks, std::string name, latch_options options = {})
        : engine_(locks.engine_), name_(std::move(name)), options_(options) {}

    // void(error_code, bool). Sets the count, 1 or more. False: it is counting already.
    template <class Token = boost::asio::deferred_t>
    auto async_try_set(std::uint32_t count, Token&& token = {}) {
        return client::begin<Token>(engine_, &latch::start_set, token, name_, count, options_);
    }
    // void(error_code, std::uint64_t). Takes 1 or more off and says what is left; at 0 nothing
    // happens. Counted once, also when the connection breaks; errc::unreachable where that could
    // not be found out.
    template <class Token = boost::asio::deferred_t>
    auto async_count_down(std::uint32_t steps = 1, Token&& token = {}) {
        return client::begin<Token>(engine_, &latch::start_count_down, token, name_, steps);
    }
    // void(error_code, bool). Whether it is at 0.
    template <class Token = boost::asio::deferred_t>
    auto async_try_wait(Token&& token = {}) {
        return client::begin<Token>(engine_, &latch::start_try_wait, token, name_);
    }
    // void(error_code). Until the count that is under way has come to 0, also when it is set again
    // at once. errc::timed_out after `wait`.
    template <class Token = boost::asio::deferred_t>
    auto async_wait(duration wait = forever, Token&& token = {}) {
        return client::begin<Token>(engine_, &latch::start_wait, token, name_, wait);
    }
    // Takes one off, then waits for the rest.
    template <class Token = boost::asio::deferred_t>
    auto async_arrive_and_wait(duration wait = forever, Token&& token = {}) {
        return client::begin<Token>(engine_, &latch::start_arrive, token, name_, wait);
    }
    // void(error_code, latch_info)
    template <class Token = boost::asio::deferred_t>
    auto async_inspect(Token&& token = {}) {
        return client::begin<Token>(engine_, &latch::start_inspect, token, name_);
    }
    // void(error_code, bool). Takes it away: who waits gets errc::lost. False: there was none.
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

// A number of parties who wait for each other, turn after turn: the first to arrive begins, the
// last one lets all go and begins the next turn in the same step. All must say the same number,
// else errc::bad_option. Else as a latch.
class barrier {
public:
    barrier(client& locks, std::string name, std::uint32_t parties, latch_options options = {})
        : engine_(locks.engine_), name_(std::move(name)), parties_(parties), options_(options) {}

    // void(error_code, phase). One more has come; counted once. Who gives up waiting has arrived
    // all the same.
    template <class Token = boost::asio::deferred_t>
    auto async_arrive(Token&& token = {}) {
        return client::begin<Token>(engine_, &barrier::start_arrive, token, name_, parties_,
                                    options_);
    }
    // void(error_code). Until all have come to that turn. errc::timed_out after `wait`.
    template <class Token = boost::asio::deferred_t>
    auto async_wait(phase turn, duration wait = forever, Token&& token = {}) {
        return client::begin<Token>(engine_, &barrier::start_wait, token, name_, turn, wait);
    }
    // void(error_code). Both.
    template <class Token = boost::asio::deferred_t>
    auto async_arrive_and_wait(duration wait = forever, Token&& token = {}) {
        return client::begin<Token>(engine_, &barrier::start_both, token, name_, parties_, options_,
                                    wait);
    }
    // As those of a latch.
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
