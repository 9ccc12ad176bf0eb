// Re-entrant locks for programs with an event loop. blocking.hpp has the same for threads.
#pragma once

#include <pawl/client.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pawl {

// Somebody who may take a lock again that is theirs already: that costs no round trip and has the
// same token, the first options count, and the lock is given back with the last handle. Who asks
// for more than it has (alone what is held beside others, more permits) gets errc::bad_option. A
// loss reaches all handles; until they are gone the owner gets errc::lost. Different owners keep
// each other out. Copies are the same owner: hand one to each
// coroutine. Thread-safe; belongs to one client, whose end is its end.
class lock_owner {
public:
    explicit lock_owner(client& locks)
        : engine_(locks.engine_), who_(client::make_owner(*locks.engine_)) {}

    // As those of the client. While the owner waits for a lock, another try of its own finds it
    // busy, and another acquire waits for the first.
    template <class Token = boost::asio::deferred_t>
    auto async_acquire(std::string name, lock_options options = {}, Token&& token = {}) {
        return client::begin<Token>(engine_, &client::start_acquire, token, who_, std::move(name),
                                    options, std::nullopt);
    }
    template <class Token = boost::asio::deferred_t>
    auto async_try_acquire(std::string name, try_options options = {}, Token&& token = {}) {
        return client::begin<Token>(engine_, &client::start_acquire, token, who_, std::move(name),
                                    once(options), options.retry);
    }

    // As those of the client; what the owner holds already is entered again, and given back with
    // its last handle. Who holds some may wait for somebody who waits for these: give a `wait`.
    template <class Token = boost::asio::deferred_t>
    auto async_acquire_all(std::vector<std::string> names, lock_options options = {},
                           Token&& token = {}) {
        return client::begin<Token>(engine_, &client::start_acquire_all, token, who_,
                                    std::move(names), options, std::nullopt);
    }
    template <class Token = boost::asio::deferred_t>
    auto async_try_acquire_all(std::vector<std::string> names, try_options options = {},
                               Token&& token = {}) {
        return client::begin<Token>(engine_, &client::start_acquire_all, token, who_,
                                    std::move(names), once(options), options.retry);
    }

private:
    std::shared_ptr<core::engine> engine_;
    std::shared_ptr<core::owner> who_;
};

}  // namespace pawl
