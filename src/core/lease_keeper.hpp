// Renews every lease of one client in time, in few requests, and tells of every loss.
#pragma once

#include "alarm.hpp"
#include "lease.hpp"

#include <pawl/error.hpp>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace pawl::core {

// Renewal at ttl/3, again and again while there is time; at_risk at 2/3; lost just before the
// deadline. All of it on one strand. See docs/internals.md, "The lease".
// What a question about a hold is answered that is over.
[[nodiscard]] error ended(const lease& one);

class lease_keeper {
public:
    using loss_hook = std::function<void(const std::shared_ptr<lease>&)>;

    // `on_loss` is called once for every lease that is lost while kept.
    lease_keeper(runtime& time, boost::asio::any_io_executor strand, backend& service,
                 counter& renewals, loss_hook on_loss);

    void keep(const std::shared_ptr<lease>& one);
    // True when it was kept, that is, not lost or dropped before.
    bool drop(const std::shared_ptr<lease>& one);
    // What the service pushed about the claim of this owner.
    void push_loss(std::string_view owner, loss_reason why);
    [[nodiscard]] std::size_t size() const noexcept { return by_owner_.size(); }
    [[nodiscard]] std::vector<std::shared_ptr<lease>> all() const;

    // Asks the service at once, again and again while there is time. Throws errc::lost when the
    // hold ended before the answer came. Not to be cancelled: the answer would be missed.
    boost::asio::awaitable<void> renew_now(std::shared_ptr<lease> one);
    boost::asio::awaitable<void> downgrade(std::shared_ptr<lease> one);

    // The keeper's own coroutine; ends after `stop`. `self` keeps the owner of the keeper alive.
    boost::asio::awaitable<void> run(std::shared_ptr<void> self);
    void stop();

private:
    struct earlier {
        bool operator()(const lease* a, const lease* b) const noexcept {
            return a->plan.next != b->plan.next ? a->plan.next < b->plan.next
                                                : a->plan.number < b->plan.number;
        }
    };

    void look(time_point now);
    boost::asio::awaitable<void> until_quiet(std::shared_ptr<lease> one);
    void plan(lease& one);
    void schedule(lease& one);
    void lose(const std::shared_ptr<lease>& one, loss_reason why);
    boost::asio::awaitable<void> renew(std::vector<std::shared_ptr<lease>> batch);
    void settle(const std::shared_ptr<lease>& one, const renewal& answer);

    runtime& time_;
    boost::asio::any_io_executor strand_;
    backend& service_;
    counter& renewals_;
    loss_hook on_loss_;
    alarm alarm_;
    time_point armed_ = time_point::max();
    bool stopped_ = false;
    std::uint64_t kept_ = 0;
    std::set<lease*, earlier> order_;
    std::unordered_map<std::string_view, std::shared_ptr<lease>> by_owner_;
};

}  // namespace pawl::core
