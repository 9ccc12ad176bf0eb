// The handle of several locks, asynchronous face.
#pragma once

#include <pawl/held_lock.hpp>
#include <pawl/lock_set.hpp>

#include <vector>

namespace pawl {

class [[nodiscard]] held_locks : public lock_set<held_lock> {
public:
    using lock_set::lock_set;

    // Gives all back at once, and says the worst of what that found. As held_lock::async_release.
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

    // void(error_code). Renews each now, one after the other, as held_lock::async_renew; the first
    // that is lost ends it.
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
