// One hold and its time: what a handle, the keeper and the guard share.
#pragma once

#include "fork_mark.hpp"

#include <pawl/backend.hpp>

#include <boost/asio/any_completion_handler.hpp>

#include <algorithm>
#include <atomic>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace pawl::core {

class alarm;
class engine;
class guard;
class lease;

// Without running over: `more` may be `forever`.
[[nodiscard]] inline time_point plus(time_point when, duration more) noexcept {
    return more >= time_point::max() - when ? time_point::max() : when + more;
}

// How long before the deadline a loss is told, so that who is told can still act on it.
[[nodiscard]] constexpr duration notice(duration ttl) noexcept {
    return std::min<duration>(ttl / 50, std::chrono::milliseconds(25));
}

// One handle of a lease.
struct handle_id {
    std::shared_ptr<core::lease> lease;
    std::uint32_t number = 0;
};

// Gives a handle back in the background. Never throws: without memory the keeper notices at the
// next renewal that the handle is gone.
void let_go(handle_id handle) noexcept;

// A granted hold on its way to the caller. Whatever ends the way before a handle exists, an
// exception or the end of the event loop, gives the hold back.
struct taken {
    taken() noexcept = default;
    explicit taken(std::shared_ptr<lease> granted, std::uint32_t number = 0) noexcept
        : what(std::move(granted)), handle(number) {}
    taken(taken&& other) noexcept
        : what(std::move(other.what)), handle(std::exchange(other.handle, 0)) {}
    taken& operator=(taken&& other) noexcept {
        std::swap(what, other.what);
        std::swap(handle, other.handle);
        return *this;
    }
    ~taken() {
        if (what) let_go({std::move(what), handle});
    }

    std::shared_ptr<lease> what;
    std::uint32_t handle = 0;
};

class lease : public std::enable_shared_from_this<lease> {
public:
    // Made before the service is asked, so that nothing can fail between a grant and its keeping.
    lease(std::shared_ptr<engine> home, runtime& time, claim what, duration max_hold);
    ~lease();
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    // The claim was granted, to this owner.
    void begin(std::string owner, grant given) noexcept;

    // From any thread.
    [[nodiscard]] lock_state state() const noexcept;
    [[nodiscard]] bool is_ours() const noexcept {
        const auto now = state();
        return now == lock_state::held || now == lock_state::at_risk;
    }
    [[nodiscard]] loss_reason why() const noexcept;
    [[nodiscard]] time_point deadline() const noexcept {
        return time_point(duration(deadline_.load()));
    }
    // For the caller: in the past once it is lost.
    [[nodiscard]] time_point safe_until() const noexcept;
    [[nodiscard]] std::stop_token lost() const noexcept;
    [[nodiscard]] bool forked() const noexcept { return made_in_.forked(); }
    // A release of it has begun.
    [[nodiscard]] bool given_back() const noexcept { return state_ == lock_state::released; }
    [[nodiscard]] const std::shared_ptr<engine>& home() const noexcept { return home_; }
    // Name, owner, ttl and token never change once it has begun.
    [[nodiscard]] const hold& what() const noexcept { return what_; }

    // The three ways in which a hold changes; false when it had ended before. From any thread.
    bool lose(loss_reason why) noexcept;
    bool give_back() noexcept;
    bool mark_at_risk() noexcept;

    // Moves the deadline; false, and a loss, when the old one has passed. On the strand.
    bool extend(time_point until) noexcept;

    // It is a shared hold from now on, which the service knows by another proof. On the strand.
    void become_shared(std::string proof);

    [[nodiscard]] time_point max_until() const noexcept { return max_until_; }
    [[nodiscard]] bool ended_by_max_hold() const noexcept { return deadline() == max_until_; }

    using release_handler = boost::asio::any_completion_handler<void(release_result)>;
    using loss_handler =
        boost::asio::any_completion_handler<void(boost::system::error_code, loss_reason)>;

    // Its handles, on the strand: the first has the number 0, the others are of one owner that
    // entered again. `let_go` says whether none is left.
    std::uint32_t add_handle();
    bool let_go(std::uint32_t handle) noexcept;
    [[nodiscard]] bool has_handles() const noexcept { return first_handle_ || !handles_.empty(); }
    // A handle is gone that could not say so. From any thread.
    void orphan() noexcept { ++orphans_; }
    // Nobody can release it any more. On the strand.
    [[nodiscard]] bool is_orphaned() const noexcept {
        const auto orphans = orphans_.load();
        return orphans > 0 && orphans >= handles_.size() + (first_handle_ ? 1 : 0);
    }

    // The rest belongs to the engine and the keeper, on the strand.
    std::optional<release_result> found;  // by the release, once it is over
    bool releasing = false;
    std::vector<release_handler> release_waiters;  // for that
    struct loss_wait {
        std::uint64_t id;
        loss_handler done;
    };
    std::vector<loss_wait> loss_waiters;
    // Rung when the question in flight was answered, or no answer is waited for.
    std::vector<std::shared_ptr<alarm>> question_waiters;
    void tell_answered();
    struct schedule {
        time_point next{};  // when the keeper looks at it
        time_point renew_at{};
        time_point risk_at{};
        bool in_flight = false;
        bool not_before =
            false;  // `renew_at` is a pause, not a rhythm: others do not draw it along
        bool kept = false;
        bool told_waiting = false;  // a line in the log said that its own client waits for it
        std::uint64_t number = 0;   // orders what is planned for the same moment
    } plan;

private:
    friend class guard;

    const std::shared_ptr<engine> home_;
    runtime& time_;
    hold what_;
    const fork_mark made_in_;
    const duration max_hold_;
    time_point max_until_ = time_point::max();
    std::atomic<duration::rep> deadline_ = time_point::max().time_since_epoch().count();
    std::atomic<lock_state> state_ = lock_state::held;
    std::atomic<loss_reason> why_ = loss_reason::none;
    std::stop_source stop_;
    // For the notifier: made early, because a loss must not need memory.
    std::list<std::stop_source> loss_notice_{stop_};
    std::atomic<std::size_t> orphans_ = 0;
    bool first_handle_ = true;
    std::uint32_t last_handle_ = 0;
    std::vector<std::uint32_t> handles_;

    // The guard's list, under its mutex.
    lease* guard_next_ = nullptr;
    lease* guard_previous_ = nullptr;
    bool guarded_ = false;
};

}  // namespace pawl::core
