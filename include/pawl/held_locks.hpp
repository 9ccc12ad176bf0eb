// The handle of several locks, async API.
#pragma once

#include <pawl/held_lock.hpp>
#include <pawl/lock_set.hpp>

#include <vector>

namespace pawl {

// What `async_acquire_all` grants: see lock_set. Handlers run as those of held_lock. On an empty
// set both operations throw errc::not_held when they are called.
class [[nodiscard]] held_locks : public lock_set<held_lock> {
public:
    using lock_set::lock_set;

    // Handler: void(release_result). Releases all locks, with their requests in flight at the same
    // time. Completes with the worst result when all are answered. Cancellation: none.
    template <class Token = boost::asio::deferred_t>
    auto async_release(Token&& token = {}) {
        refuse_empty();
        std::vector<share> shares;
        for (const held_lock& each : handles)
            shares.push_back({each.lease_, each.number_});
        return boost::asio::async_initiate<Token, void(release_result)>(
            [](held_lock::release_handler done, std::vector<share> all) {
                start_release(std::move(all), std::move(done));
            },
            token, std::move(shares));
    }

    // Handler: void(error_code). Renews the locks one after the other, as held_lock::async_renew.
    // errc::lost: one of them has ended, and the rest was not renewed. Cancellation: none.
    template <class Token = boost::asio::deferred_t>
    auto async_renew(Token&& token = {}) {
        refuse_empty();
        std::vector<std::shared_ptr<core::lease>> leases;
        for (const held_lock& each : handles)
            leases.push_back(each.lease_);
        return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
            [](held_lock::question_handler done, std::vector<std::shared_ptr<core::lease>> all) {
                held_lock::start_renew(std::move(all), std::move(done));
            },
            token, std::move(leases));
    }

private:
    struct share {
        std::shared_ptr<core::lease> lease;
        std::uint32_t number;
    };
    static void start_release(std::vector<share> all, held_lock::release_handler done);
};

}  // namespace pawl
