// How holds end, and with them the engine.
#include "engine.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::core {
namespace {

// A server answers that many in a few milliseconds. What has no answer when the drain time is over
// has to be ended one by one, so that more of them would make the closing longer.
constexpr std::size_t most_releases_at_close = 1024;

release_result found_when_lost(loss_reason why) {
    return why == loss_reason::taken_over || why == loss_reason::forced ? release_result::taken_over
                                                                        : release_result::expired;
}

}  // namespace

// The caller's code runs on the caller's executor, never inside our strand.
template <class Handler, class... Answers>
void engine::hand_over(Handler done, Answers... answers) const {
    if (serial_)
        std::move(done)(answers...);
    else
        asio::post(outside_, asio::append(std::move(done), std::move(answers)...));
}

void let_go(handle_id handle) noexcept {
    const auto one = std::move(handle.lease);
    if (one->forked() || one->given_back()) return;
    try {
        asio::post(one->home()->strand(), [mine = handle_id{one, handle.number}] {
            mine.lease->home()->release(mine, {});
        });
    } catch (...) {
        one->orphan();
    }
}

void engine::release(const handle_id& mine, lease::release_handler done) {
    const auto& one = mine.lease;
    if (forked()) {
        if (done) hand_over(std::move(done), release_result::unknown);
        return;
    }
    if (!one->let_go(mine.number)) {
        const auto found = one->state() == lock_state::lost ? found_when_lost(one->why())
                                                            : release_result::still_held;
        if (done) hand_over(std::move(done), found);
        return;
    }
    if (one->found) {
        if (done) hand_over(std::move(done), *one->found);
        return;
    }
    if (done) wait_for_release(one, std::move(done));
    if (std::exchange(one->releasing, true)) return;
    const bool kept = keeper_->drop(one);
    if (one->give_back()) {
        for (auto& wait : std::exchange(one->loss_waiters, {}))
            hand_over(std::move(wait.done),
                      boost::system::error_code(asio::error::operation_aborted), loss_reason::none);
        begin_give_back(one);
    } else {
        if (kept) tell_loss(one);
        finish_release(one, found_when_lost(one->why()));
    }
}

// Who cannot be kept waiting, for want of memory, is told at once that nothing is known; the lock
// is given back all the same.
void engine::wait_for_release(const std::shared_ptr<lease>& one, lease::release_handler done) {
    try {
        one->release_waiters.reserve(one->release_waiters.size() + 1);
        being_released_.insert(one);
        one->release_waiters.push_back(std::move(done));
    } catch (const std::bad_alloc&) {
        hand_over(std::move(done), release_result::unknown);
    }
}

void engine::end(const std::shared_ptr<lease>& one) noexcept {
    one->releasing = true;
    keeper_->drop(one);
    if (one->give_back()) begin_give_back(one);
}

// A request that cannot even begin is given up: nobody renews the hold any more, the ttl ends it.
void engine::begin_give_back(const std::shared_ptr<lease>& one) noexcept {
    try {
        start_give_back(one);
    } catch (...) {
        failed(std::current_exception());
        finish_release(one, release_result::unknown);
    }
}

// Whatever ends the coroutine, who waits for the release is told.
class engine::giving_back {
public:
    explicit giving_back(std::shared_ptr<lease> one) noexcept : lease_(std::move(one)) {}
    ~giving_back() {
        const auto& home = lease_->home();
        if (!home->abandoned()) home->finish_release(lease_, result);
    }
    giving_back(const giving_back&) = delete;
    giving_back& operator=(const giving_back&) = delete;

    [[nodiscard]] const hold& what() const noexcept { return lease_->what(); }

    release_result result = release_result::unknown;

private:
    const std::shared_ptr<lease> lease_;
};

// A thread that asks twice for a lock that cannot be entered again waits for itself, for ever. A
// lock that is renewed while its own client waits for it may be such a one.
void engine::look_for_own_waiters(lease& one) {
    const auto& claim = one.what().claim;
    if (one.plan.told_waiting || !options_.log) return;
    if (!room_.is_waited_for(claim.name) && !waiting_.contains(claim.name)) return;
    one.plan.told_waiting = true;
    options_.log("'" + claim.name +
                 "' has been held by this client for some time while the same "
                 "client waits for it; a thread that asks for a lock it holds waits for itself");
}

void engine::start_give_back(const std::shared_ptr<lease>& one) {
    if (drained_ || forked()) {
        finish_release(one, release_result::unknown);
    } else if (!close_asked_) {
        asio::co_spawn(strand_, give_back(one), asio::detached);
    } else {
        // A releaser may begin, and end, inside of co_spawn.
        to_release_.push_back(one);
        if (releasers_ == most_releases_at_close) return;
        ++releasers_;
        try {
            asio::co_spawn(strand_, give_back_queued(shared_from_this()), asio::detached);
        } catch (...) {
            --releasers_;
            throw;
        }
    }
}

asio::awaitable<void> engine::give_back_queued([[maybe_unused]] ptr self) {
    while (!to_release_.empty()) {
        giving_back until_the_end(std::move(to_release_.front()));
        to_release_.pop_front();
        try {
            refuse_fork();
            until_the_end.result = co_await backend_->release(until_the_end.what());
        } catch (...) {
            failed(std::current_exception());
        }
    }
    --releasers_;
}

// Their requests would end with the connection anyway, one by one.
void engine::leave_queued_to_ttl() noexcept {
    drained_ = true;
    for (; !to_release_.empty(); to_release_.pop_front())
        finish_release(to_release_.front(), release_result::unknown);
}

asio::awaitable<void> engine::give_back(std::shared_ptr<lease> one) {
    if (close_asked_) {
        begin_give_back(one);
        co_return;
    }
    // The service may only now be telling that the lease ran out before the release came to it.
    giving_back until_the_end(one);
    try {
        refuse_fork();
        until_the_end.result = co_await backend_->release(one->what());
    } catch (...) {
        failed(std::current_exception());
    }
}

void engine::finish_release(const std::shared_ptr<lease>& one, release_result found) noexcept {
    one->found = found;
    being_released_.erase(one);
    for (auto& done : std::exchange(one->release_waiters, {})) {
        try {
            hand_over(std::move(done), found);
        } catch (...) {
            failed(std::current_exception());
        }
    }
}

// A lost lease may still stand in the service's books: take it out, for those who wait. A holder
// that was told a little before its deadline may act until then, so nobody else gets the lock
// earlier; where part of the hold is somebody else's already, nothing is left to act on.
asio::awaitable<void> engine::clear_up(std::shared_ptr<lease> one) {
    try {
        alarm deadline(time(), strand_);
        const bool may_act = one->has_handles() && one->why() != loss_reason::taken_over;
        if (may_act) co_await deadline.wait_until(one->deadline());
        refuse_fork();
        co_await backend_->release(one->what());
    } catch (...) {
        failed(std::current_exception());
    }
}

void engine::wait_lost(const std::shared_ptr<lease>& one, lease::loss_handler done) {
    if (one->state() == lock_state::lost) {
        hand_over(std::move(done), boost::system::error_code{}, one->why());
        return;
    }
    if (one->releasing) {
        hand_over(std::move(done), boost::system::error_code(asio::error::operation_aborted),
                  loss_reason::none);
        return;
    }
    const auto id = ++next_wait_;
    try {
        one->loss_waiters.reserve(one->loss_waiters.size() + 1);
    } catch (const std::bad_alloc&) {
        hand_over(std::move(done), boost::system::error_code(make_error_code(errc::exhausted)),
                  loss_reason::none);
        return;
    }
    auto slot = asio::get_associated_cancellation_slot(done);
    if (slot.is_connected()) {
        // It may outlive the event loop, and so holds nothing of the engine.
        slot.assign([weak = std::weak_ptr(one), id](asio::cancellation_type) {
            if (auto alive = weak.lock()) {
                const auto strand = alive->home()->strand_;
                asio::post(strand, [alive = std::move(alive), id] {
                    alive->home()->cancel_loss_wait(*alive, id);
                });
            }
        });
    }
    one->loss_waiters.push_back({id, std::move(done)});
}

void engine::cancel_loss_wait(lease& one, std::uint64_t id) {
    auto& waits = one.loss_waiters;
    const auto at =
        std::find_if(waits.begin(), waits.end(), [id](const auto& each) { return each.id == id; });
    if (at == waits.end()) return;
    auto handler = std::move(at->done);
    waits.erase(at);
    hand_over(std::move(handler), boost::system::error_code(asio::error::operation_aborted),
              loss_reason::none);
}

void engine::lost(std::string_view owner, loss_reason why) { keeper_->push_loss(owner, why); }

void engine::tell_loss(const std::shared_ptr<lease>& one) {
    ++count_->losses;
    for (auto& wait : std::exchange(one->loss_waiters, {}))
        hand_over(std::move(wait.done), boost::system::error_code{}, one->why());
    const auto why = one->why();
    say([&] { return "lost '" + one->what().claim.name + "': " + std::string(to_string(why)); });
    // Of several permits somebody may have given back one: the others are still taken.
    const bool may_be_there = why == loss_reason::expired || why == loss_reason::max_hold ||
                              (why == loss_reason::taken_over && one->what().claim.permits > 1);
    if (may_be_there) asio::co_spawn(strand_, clear_up(one), asio::detached);
}

void engine::operation::begin() {
    if (cancelled_) throw boost::system::system_error(asio::error::operation_aborted);
    begun_ = true;
    home_->operations_.insert(this);
}
void engine::operation::end() {
    if (std::exchange(begun_, false)) home_->operations_.erase(this);
}

// A coroutine that is cancelled before it has begun would never run, and nobody be told.
void engine::operation::cancel() {
    cancelled_ = true;
    if (begun_) signal_.emit(asio::cancellation_type::terminal);
}

// Whatever ends the coroutine, who waits for the end of the client is told.
class engine::closing {
public:
    explicit closing(ptr home) noexcept : home_(std::move(home)) {}
    ~closing() {
        home_->closing_over_ = true;
        for (auto& closed : std::exchange(home_->close_waiters_, {})) {
            try {
                std::move(closed)();
            } catch (...) {
                home_->failed(std::current_exception());
            }
        }
    }
    closing(const closing&) = delete;
    closing& operator=(const closing&) = delete;

private:
    const ptr home_;
};

void engine::close(closed_handler closed) {
    close_asked_ = true;
    asio::dispatch(strand_, [self = shared_from_this(), closed = std::move(closed)]() mutable {
        if (self->closing_over_) {
            if (closed) std::move(closed)();
            return;
        }
        if (closed) self->close_waiters_.push_back(std::move(closed));
        if (std::exchange(self->closing_, true)) return;
        try {
            asio::co_spawn(self->strand_, self->close_down(self), asio::detached);
        } catch (...) {
            // Without memory nothing is given back: it ends with its leases.
            self->closed_ = true;
            self->keeper_->stop();
            self->leave_queued_to_ttl();
            const closing over(self);
        }
    });
}

// `self` is a parameter: a coroutine begins later than it is made, and this may be the last that
// knows the engine.
asio::awaitable<void> engine::close_down(ptr self) {
    const closing until_the_end(std::move(self));
    closed_ = true;
    // A cancellation may end others.
    for (auto at = operations_.begin(); at != operations_.end();) {
        auto* const one = *at;
        one->cancel();
        at = operations_.upper_bound(one);
    }
    while (const auto one = keeper_->first()) {
        keeper_->drop(one);
        if (one->releasing) continue;
        one->releasing = true;
        one->lose(forked() ? loss_reason::forked : loss_reason::client_closed);
        tell_loss(one);
        begin_give_back(one);
    }
    keeper_->stop();
    // What was cancelled has first to begin its leaving, which the backend then waits for.
    // In a fork nothing is asked that could have an answer.
    const auto until = plus(time().now(), forked() ? duration{} : options_.drain);
    while ((!operations_.empty() || releasers_ > 0) && time().now() < until)
        co_await closing_tick_.wait_until(time().now() + std::chrono::milliseconds(1));
    leave_queued_to_ttl();
    co_await backend_->close(until);
}

void engine::abandon() {
    closed_ = closing_ = abandoned_ = true;
    std::vector<lease::loss_handler> loss_waits;
    std::vector<lease::release_handler> release_waits;
    auto close_waits = std::exchange(close_waiters_, {});
    const auto queued = std::exchange(to_release_, {});
    while (const auto one = keeper_->first()) {
        keeper_->drop(one);
        one->lose(loss_reason::client_closed);
        for (auto& wait : std::exchange(one->loss_waiters, {}))
            loss_waits.push_back(std::move(wait.done));
    }
    for (const auto& one : std::exchange(being_released_, {}))
        for (auto& wait : std::exchange(one->release_waiters, {}))
            release_waits.push_back(std::move(wait));
}

}  // namespace pawl::core
