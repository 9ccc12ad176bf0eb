// Renews every lease of one client in time, in few requests, and tells of every loss.
#pragma once

#include "alarm.hpp"
#include "lease.hpp"

#include <pawl/error.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pawl::core {

// The error for a query about a hold that has ended.
[[nodiscard]] error ended(const lease& one);

// Renewal at ttl/3, again and again while there is time; at_risk at 2/3; lost just before the
// deadline. All of it on one strand. See docs/internals.md, "The life of a hold".
class lease_keeper {
public:
    using hook = std::function<void(const std::shared_ptr<lease>&)>;
    struct hooks {
        hook on_loss;     // once for every lease that is lost while kept
        hook on_orphan;   // for a lease without any handle: to be given back
        hook on_renewal;  // before every renewal
    };

    lease_keeper(runtime& time, boost::asio::any_io_executor strand, backend& service,
                 counter& renewals, hooks told);

    // Makes what the keeper's coroutine needs of the system, before a lock is asked for.
    void prepare() { alarm_.prepare(); }

    // Room for a lease whose claim is being asked for: nothing can fail between its grant and its
    // keeping. Left with the place when it was not granted.
    class place {
    public:
        place(lease_keeper& keeper, std::shared_ptr<lease> wanted);
        ~place();
        place(place&& other) noexcept
            : keeper_(other.keeper_), lease_(std::exchange(other.lease_, nullptr)) {}
        place& operator=(place&&) = delete;

        // Granted, to this owner: kept from now on.
        [[nodiscard]] taken keep(std::string owner, grant given) noexcept;

    private:
        lease_keeper& keeper_;
        std::shared_ptr<lease> lease_;  // outlives the keeper's use: it has the engine
    };

    // True when it was kept, that is, not lost or dropped before.
    bool drop(const std::shared_ptr<lease>& one);
    // What the service pushed about the claim of this owner.
    void push_loss(std::string_view owner, loss_reason why);
    // The one that is kept and due first; null: none is kept.
    [[nodiscard]] std::shared_ptr<lease> first() const noexcept;
    // When its coroutine has to run next. From any thread.
    [[nodiscard]] time_point armed() const noexcept { return time_point(duration(armed_.load())); }

    // Asks the service at once, again and again while there is time. Throws errc::lost when the
    // hold ended before the answer came. Not to be cancelled: the answer would be missed.
    boost::asio::awaitable<void> renew_now(std::shared_ptr<lease> one);
    boost::asio::awaitable<void> downgrade(std::shared_ptr<lease> one);

    // The keeper's own coroutine; ends after `stop`. `self` keeps the owner of the keeper alive.
    boost::asio::awaitable<void> run(std::shared_ptr<void> self);
    void stop();

private:
    class asking;
    struct earlier {
        bool operator()(const lease* a, const lease* b) const noexcept {
            return a->plan.next != b->plan.next ? a->plan.next < b->plan.next
                                                : a->plan.number < b->plan.number;
        }
    };

    void reserve(const std::shared_ptr<lease>& one);
    void begin(lease& one, std::string owner, grant given) noexcept;
    void keep(const std::shared_ptr<lease>& one) noexcept;
    void forget(const std::shared_ptr<lease>& one) noexcept;
    void look(time_point now);
    bool look_at(lease& one, time_point now, std::vector<std::shared_ptr<lease>>& due);
    bool begin_renewal(const std::shared_ptr<lease>& one, std::vector<std::shared_ptr<lease>>& due);
    void postpone(lease& one) noexcept;
    void send(std::span<const std::shared_ptr<lease>> due);
    boost::asio::awaitable<void> until_quiet(std::shared_ptr<lease> one);
    void plan(lease& one) noexcept;
    void schedule(lease& one) noexcept;
    void lose(const std::shared_ptr<lease>& one, loss_reason why);
    boost::asio::awaitable<void> renew(std::vector<std::shared_ptr<lease>> batch);
    void settle(const std::shared_ptr<lease>& one, const renewal& answer);

    runtime& time_;
    boost::asio::any_io_executor strand_;
    backend& service_;
    counter& renewals_;
    const hooks told_;
    alarm alarm_;
    void arm(time_point when) noexcept { armed_ = when.time_since_epoch().count(); }

    std::atomic<duration::rep> armed_ = time_point::max().time_since_epoch().count();
    bool stopped_ = false;
    std::uint64_t reserved_ = 0;
    std::set<lease*, earlier> order_;
    std::unordered_map<std::string_view, std::shared_ptr<lease>> by_owner_;
};

}  // namespace pawl::core
