// One hold and its time: what a handle, the keeper and the guard share.
#pragma once

#include "fork_mark.hpp"

#include <pawl/backend.hpp>

#include <boost/asio/any_completion_handler.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
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

// What a handle is made of.
struct taken {
    std::shared_ptr<lease> what;
    std::uint32_t handle = 0;
};

class lease : public std::enable_shared_from_this<lease> {
public:
    lease(std::shared_ptr<engine> home, runtime& time, hold what, time_point granted_at,
          duration max_hold);

    // From any thread.
    [[nodiscard]] lock_state state() const noexcept;
    [[nodiscard]] loss_reason why() const noexcept;
    [[nodiscard]] time_point deadline() const noexcept {
        return time_point(duration(deadline_.load()));
    }
    // For the caller: in the past once it is lost.
    [[nodiscard]] time_point safe_until() const noexcept;
    [[nodiscard]] std::stop_token lost() const noexcept;
    [[nodiscard]] bool forked() const noexcept { return generation_ != fork_generation(); }
    // A release of it has begun.
    [[nodiscard]] bool given_back() const noexcept { return state_ == lock_state::released; }
    [[nodiscard]] const std::shared_ptr<engine>& home() const noexcept { return home_; }
    // Name, owner, ttl and token never change.
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
        std::uint64_t number = 0;  // orders what is planned for the same moment
    } plan;

private:
    friend class guard;

    const std::shared_ptr<engine> home_;
    runtime& time_;
    hold what_;
    const std::uint32_t generation_ = fork_generation();
    const time_point max_until_;
    std::atomic<duration::rep> deadline_;
    std::atomic<lock_state> state_ = lock_state::held;
    std::atomic<loss_reason> why_ = loss_reason::none;
    std::stop_source stop_;
    bool first_handle_ = true;
    std::uint32_t last_handle_ = 0;
    std::vector<std::uint32_t> handles_;

    // The guard's list, under its mutex.
    lease* guard_next_ = nullptr;
    lease* guard_previous_ = nullptr;
    bool guarded_ = false;
};

}  // namespace pawl::core
