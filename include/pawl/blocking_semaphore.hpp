// A distributed semaphore with leased permits: those of a holder that dies come back after its
// ttl. For threads, in the shape of std::counting_semaphore; semaphore.hpp has the same for
// programs with an event loop. Standard headers only. The client must outlive it; the service must
// know lock_mode::permits, else every acquire throws errc::unsupported.
#pragma once

#include <pawl/thread_holds.hpp>
#include <pawl/wait_time.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

namespace pawl::core {
struct permit_count;
}

namespace pawl::blocking {

// Thread-safe; any number of threads may have permits. Whoever asks for many is served before
// those who come later and ask for few.
class semaphore {
public:
    // Of so many permits in all, unless the service knows of another number: then the first call
    // throws errc::bad_option. 0: as the service has it. Of `options`, `wait`, `mode`, `permits`
    // and `of` are ignored.
    semaphore(client& locks, std::string name, std::uint32_t permits, lock_options options = {});

    // One permit. Throws pawl::error.
    void acquire();
    bool try_acquire();
    template <class Rep, class Period>
    bool try_acquire_for(const std::chrono::duration<Rep, Period>& wait) {
        return acquire_for(wait_time(wait));
    }
    template <class Clock, class Duration>
    bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& when) {
        return try_acquire_for(wait_until_time(when));
    }
    // Gives one back: the newest that the calling thread acquired, else another thread's oldest.
    // One that was lost counts, and is no error. Does nothing where none was acquired here.
    void release() noexcept;

    // Of the calling thread's newest permit: its token, and whether it was lost. In a thread that
    // acquired none the first three throw errc::bad_option, and the handle is empty. `renew` as
    // held_lock's.
    [[nodiscard]] fencing_token token() const { return holds_.held().token(); }
    [[nodiscard]] std::stop_token lost() const { return holds_.held().lost(); }
    void renew() { holds_.renew(); }
    [[nodiscard]] const held_lock& handle() const noexcept { return holds_.mine(); }

    // `permits` of them as one handle that gives them back; `release` knows nothing of it. As the
    // client's acquire and try_acquire.
    held_lock take(std::uint32_t permits = 1, duration wait = forever, std::stop_token cancel = {});
    held_lock try_take(std::uint32_t permits = 1);

    // How many there are from now on, for all processes, also where nobody has said it yet. Fewer
    // than are out: nobody is let in until enough came back.
    void resize(std::uint32_t permits);

private:
    held_lock ask_for(std::uint32_t permits, duration wait, bool once,
                      const std::stop_token& cancel);
    bool acquire_for(duration wait);

    std::shared_ptr<loop> loop_;
    std::string name_;
    lock_options options_;
    std::shared_ptr<core::permit_count> count_;
    thread_holds holds_;
};

}  // namespace pawl::blocking
