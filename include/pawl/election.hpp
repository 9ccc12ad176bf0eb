// Leader election by a lock, async API. blocking_election.hpp has the sync API.
#pragma once

#include <pawl/client.hpp>

#include <string>
#include <utility>

namespace pawl {

// Candidates campaign for the lock of one name; its holder leads. The handle is the term: `token`
// is its number, which only grows and which the resource checks; `lost` reports its end;
// `async_release` resigns. Leave `options.fenced` true: without tokens, changes cannot be seen.
// Thread-safe. Handlers, cancellation and errors as for client.
class election {
public:
    // Sends no request. `options.wait` limits a campaign, `options.max_hold` a term.
    election(client& locks, std::string name, lock_options options = {})
        : engine_(locks.engine_), name_(std::move(name)), options_(options) {}

    // Handler: void(error_code, held_lock). As client::async_acquire: the strict order of
    // candidates needs `options.fair`. Without it, on Redis, candidates of the leader's client may
    // lead first for some terms.
    template <class Token = boost::asio::deferred_t>
    auto async_campaign(Token&& token = {}) {
        return client::begin<Token>(engine_, &client::start_acquire, token, nullptr, name_,
                                    options_, std::nullopt);
    }
    // Handler: void(error_code, lock_info). The present leader, for display only.
    template <class Token = boost::asio::deferred_t>
    auto async_leader(Token&& token = {}) {
        return client::begin<Token>(engine_, &client::start_inspect, token, name_);
    }
    // Handler: void(error_code, lock_info). Completes when the present term is not `seen`; the
    // empty token means no leader, so the default waits for any leader. Looks every `interval`, at
    // least 1 ms: it can miss a short term, never the newest. An error of the service ends the
    // wait.
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
