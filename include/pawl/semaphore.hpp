// A distributed semaphore with leased permits, for programs with an event loop: those of a holder
// that dies come back after its ttl. blocking_semaphore.hpp has the same for threads. The service
// must know lock_mode::permits, else every acquire is errc::unsupported.
#pragma once

#include <pawl/client.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace pawl {

namespace core {
struct permit_count;
}

// Thread-safe; copies are the same semaphore. Whoever asks for many is served before those who come
// later and ask for few. Cancellation as in client.hpp.
class semaphore {
public:
    // Of so many permits in all, unless the service knows of another number: then the first call
    // is errc::bad_option. 0: as the service has it. It is said until the service has heard it, so
    // that a later resize, by anybody, disturbs nobody who runs. Of `options`, `mode`, `permits`
    // and `of` are ignored.
    semaphore(client& locks, std::string name, std::uint32_t permits, lock_options options = {})
        : engine_(locks.engine_),
          count_(make_count(permits)),
          name_(std::move(name)),
          options_(options) {}

    // void(error_code, held_lock). So many of them as one handle, which gives them back. As the
    // client's: waits up to `options.wait`, then errc::timed_out.
    template <class Token = boost::asio::deferred_t>
    auto async_acquire(std::uint32_t permits = 1, Token&& token = {}) {
        return client::begin<Token>(engine_, &semaphore::start_acquire, token, count_, name_,
                                    asked_for(permits), false);
    }
    // An empty handle and no error: they are not free.
    template <class Token = boost::asio::deferred_t>
    auto async_try_acquire(std::uint32_t permits = 1, Token&& token = {}) {
        return client::begin<Token>(engine_, &semaphore::start_acquire, token, count_, name_,
                                    asked_for(permits), true);
    }
    // void(error_code). How many there are from now on, for all processes, also where nobody has
    // said it yet. Fewer than are out: nobody is let in until enough came back.
    template <class Token = boost::asio::deferred_t>
    auto async_resize(std::uint32_t permits, Token&& token = {}) {
        return client::begin<Token>(engine_, &semaphore::start_resize, token, count_, name_,
                                    permits);
    }

private:
    using engine_ptr = client::engine_ptr;
    using count_ptr = std::shared_ptr<core::permit_count>;

    [[nodiscard]] lock_options asked_for(std::uint32_t permits) const {
        auto options = options_;
        options.permits = permits;
        return options;
    }
    static count_ptr make_count(std::uint32_t permits);
    static void start_acquire(client::lock_handler done, engine_ptr engine, count_ptr count,
                              std::string name, lock_options options, bool once);
    static void start_resize(held_lock::question_handler done, engine_ptr engine, count_ptr count,
                             std::string name, std::uint32_t permits);

    engine_ptr engine_;
    count_ptr count_;
    std::string name_;
    lock_options options_;
};

}  // namespace pawl
