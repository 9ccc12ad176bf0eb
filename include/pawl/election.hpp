// One leader among many, by a lock: for coroutines. blocking_election.hpp has the same for threads.
#pragma once

#include <pawl/client.hpp>

#include <string>
#include <utility>

namespace pawl {

// Candidates campaign under one name; who has its lock leads. The handle is the term: `token` is
// its number, which only grows and which the resource should check; `lost` ends it; `async_release`
// resigns. The client must outlive it.
class election {
public:
    // `options.wait` bounds a campaign, `options.max_hold` a term.
    election(client& locks, std::string name, lock_options options = {})
        : engine_(locks.engine_), name_(std::move(name)), options_(options) {}

    // void(error_code, held_lock). As client::async_acquire. Candidates lead in their order, but
    // for Redis, where those of the leader's client may come first for some turns.
    template <class Token = boost::asio::deferred_t>
    auto async_campaign(Token&& token = {}) {
        return client::begin<Token>(engine_, &client::start_acquire, token, nullptr, name_,
                                    options_, std::nullopt);
    }
    // void(error_code, lock_info). Who leads, for people and tools.
    template <class Token = boost::asio::deferred_t>
    auto async_leader(Token&& token = {}) {
        return client::begin<Token>(engine_, &client::start_inspect, token, name_);
    }
    // void(error_code, lock_info). When another term than `seen` runs, or none although `seen` is
    // one; the default waits for any leader. Looks every `interval` (1 ms or more), so it may miss
    // a short term, never the newest.
    template <class Token = boost::asio::deferred_t>
    auto async_wait_change(fencing_token seen = {}, duration interval = std::chrono::seconds(1),
                           Token&& token = {}) {
        return client::begin<Token>(engine_, &client::start_wait_change, token, name_, seen,
                                    interval);
    }

private:
    client::engine_ptr engine_;
    std::string name_;
    lock_options options_;
};

}  // namespace pawl
