// Count-down latches and barriers across processes, for threads, with the names of std::latch and
// std::barrier. Standard headers only.
//
// Nobody owns a latch and it has no lease: a participant that dies leaves the count where it is, so
// who waits should say for how long. A latch that nobody changes ends after `latch_options::ttl`.
#pragma once

#include <pawl/blocking.hpp>
#include <pawl/latch_options.hpp>
#include <pawl/wait_time.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

namespace pawl::blocking {

// Counts down to 0, then lets all go who wait; then it can be set again. Thread-safe; the client
// must outlive it. Throws pawl::error: errc::cancelled when `cancel` is stopped; errc::lost when
// the service does not know it: nobody has set it, it was reset, or it was forgotten, by its ttl or
// by a restart.
class latch {
public:
    latch(client& locks, std::string name, latch_options options = {});

    // Sets the count, 1 or more. False: it is counting already.
    bool try_set(std::uint32_t count);
    // Takes 1 or more off and says what is left; at 0 nothing happens. Counted once, also when the
    // connection breaks; errc::unreachable where that could not be found out.
    std::uint64_t count_down(std::uint32_t steps = 1);
    // Whether it is at 0.
    [[nodiscard]] bool try_wait();
    // Until the count that is under way has come to 0, also when it is set again at once.
    void wait(std::stop_token cancel = {});
    // False: not in time.
    template <class Rep, class Period>
    [[nodiscard]] bool wait_for(const std::chrono::duration<Rep, Period>& wait,
                                std::stop_token cancel = {}) {
        return wait_up_to(wait_time(wait), std::move(cancel));
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool wait_until(const std::chrono::time_point<Clock, Duration>& when,
                                  std::stop_token cancel = {}) {
        return wait_for(wait_until_time(when), std::move(cancel));
    }
    // Takes one off, then waits for the rest.
    void arrive_and_wait(std::stop_token cancel = {});

    [[nodiscard]] latch_info inspect();
    // Takes it away: who waits gets errc::lost. False: there was none.
    bool reset();

private:
    bool wait_up_to(duration wait, std::stop_token cancel);

    std::shared_ptr<loop> loop_;
    std::string name_;
    latch_options options_;
};

// A number of parties who wait for each other, turn after turn: the first to arrive begins, the
// last one lets all go and begins the next turn in the same step. All must say the same number,
// else errc::bad_option. Else as a latch.
class barrier {
public:
    barrier(client& locks, std::string name, std::uint32_t parties, latch_options options = {});

    // One more has come; counted once. Who gives up waiting has arrived all the same.
    [[nodiscard]] phase arrive();
    // Until all have come to that turn.
    void wait(phase turn, std::stop_token cancel = {});
    // False: not in time.
    template <class Rep, class Period>
    [[nodiscard]] bool wait_for(phase turn, const std::chrono::duration<Rep, Period>& wait,
                                std::stop_token cancel = {}) {
        return wait_up_to(turn, wait_time(wait), std::move(cancel));
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool wait_until(phase turn, const std::chrono::time_point<Clock, Duration>& when,
                                  std::stop_token cancel = {}) {
        return wait_for(turn, wait_until_time(when), std::move(cancel));
    }
    void arrive_and_wait(std::stop_token cancel = {}) { wait(arrive(), std::move(cancel)); }

    [[nodiscard]] latch_info inspect();
    bool reset();

private:
    bool wait_up_to(phase turn, duration wait, std::stop_token cancel);

    std::shared_ptr<loop> loop_;
    std::string name_;
    std::uint32_t parties_;
    latch_options options_;
};

}  // namespace pawl::blocking
