// A distributed semaphore, async API. blocking_semaphore.hpp has the sync API.
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

// Permits are leased: those of a holder that dies come back after its ttl. Requests are served in
// order, so requests for few permits cannot starve a request for many. In Redisson's layout there
// is no such order, and its Semaphore has no leases.
// Copies are the same semaphore. Thread-safe. Handlers, cancellation and errors as for client.
// errc::unsupported: the service has no permits.
class semaphore {
public:
    // Sends no request. `permits` is the total; 0: the total that the service keeps. If the service
    // keeps another total, the first acquire fails with errc::bad_option. The object sends its
    // total until the service has accepted it, so a later resize does not disturb running programs.
    // In `options`, `mode`, `permits` and `of` are ignored.
    semaphore(client& locks, std::string name, std::uint32_t permits, lock_options options = {})
        : engine_(locks.engine_),
          count_(make_count(permits)),
          name_(std::move(name)),
          options_(options) {}

    // Handler: void(error_code, held_lock). Acquires 1 or more permits as one handle, or waits in
    // the queue for up to `options.wait`. errc::timed_out: they were not free in time.
    template <class Token = boost::asio::deferred_t>
    auto async_acquire(std::uint32_t permits = 1, Token&& token = {}) {
        return client::begin<Token>(engine_, &semaphore::start_acquire, token, count_, name_,
                                    asked_for(permits), false);
    }
    // Handler: void(error_code, held_lock). One attempt. The handle is empty, without an error, if
    // the permits are not free.
    template <class Token = boost::asio::deferred_t>
    auto async_try_acquire(std::uint32_t permits = 1, Token&& token = {}) {
        return client::begin<Token>(engine_, &semaphore::start_acquire, token, count_, name_,
                                    asked_for(permits), true);
    }
    // Handler: void(error_code). Sets the total for all processes, as client::async_resize.
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
