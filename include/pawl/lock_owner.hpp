// Re-entrant locks, async API. blocking.hpp has the sync API.
#pragma once

#include <pawl/client.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pawl {

// An owner that can acquire its locks again. The nested acquire sends no request, has the same
// token, and keeps the options of the first one. The lock is released with the last handle.
// Different owners exclude each other. Copies are the same owner: give one to each coroutine.
//
// errc::bad_option: the owner holds the lock as a reader or with permits, and requests another mode
// or more permits. errc::lost: the hold was lost, and one of its handles still exists. After the
// end of the client, every acquire fails.
//
// Thread-safe. Handlers and cancellation as for client.
class lock_owner {
public:
    explicit lock_owner(client& locks)
        : engine_(locks.engine_), who_(client::make_owner(*locks.engine_)) {}

    // As the client's functions. While the owner waits for a lock, its other acquires of that lock
    // wait, too, and its tries find the lock taken.
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

    // As the client's functions. Locks that the owner holds already are entered again. An owner
    // that holds a lock and waits for others can deadlock with another owner, so set `wait`.
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
