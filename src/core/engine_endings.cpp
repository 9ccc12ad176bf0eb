// How holds end, and with them the engine.
#include "engine.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

namespace asio = boost::asio;

namespace pawl::core {
namespace {

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

void engine::release(const taken& mine, lease::release_handler done) {
    const auto& one = mine.what;
    if (!one->let_go(mine.handle)) {
        const auto found = one->state() == lock_state::lost ? found_when_lost(one->why())
                                                            : release_result::still_held;
        if (done) hand_over(std::move(done), found);
        return;
    }
    if (one->found) {
        if (done) hand_over(std::move(done), *one->found);
        return;
    }
    if (done) one->release_waiters.push_back(std::move(done));
    if (std::exchange(one->releasing, true)) return;
    const bool kept = keeper_->drop(one);
    if (one->give_back()) {
        for (auto& wait : std::exchange(one->loss_waiters, {}))
            hand_over(std::move(wait.done),
                      boost::system::error_code(asio::error::operation_aborted), loss_reason::none);
        asio::co_spawn(strand_, give_back(one), asio::detached);
    } else {
        if (kept) tell_loss(one);
        finish_release(one, found_when_lost(one->why()));
    }
}

asio::awaitable<void> engine::give_back(std::shared_ptr<lease> one) {
    auto found = release_result::unknown;
    try {
        found = co_await backend_->release(one->what());
    } catch (...) {
        failed(std::current_exception());
    }
    // The service may only now be telling that the lease ran out before the release came to it.
    finish_release(one, found);
}

void engine::finish_release(const std::shared_ptr<lease>& one, release_result found) {
    one->found = found;
    for (auto& done : std::exchange(one->release_waiters, {}))
        hand_over(std::move(done), found);
}

// A lost lease may still stand in the service's books: take it out, for those who wait.
asio::awaitable<void> engine::clear_up(std::shared_ptr<lease> one) {
    try {
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
    auto slot = asio::get_associated_cancellation_slot(done);
    if (slot.is_connected()) {
        slot.assign([self = shared_from_this(), one, id](asio::cancellation_type) {
            asio::post(self->strand_, [self, one, id] {
                for (auto at = one->loss_waiters.begin(); at != one->loss_waiters.end(); ++at) {
                    if (at->id != id) continue;
                    auto handler = std::move(at->done);
                    one->loss_waiters.erase(at);
                    self->hand_over(std::move(handler),
                                    boost::system::error_code(asio::error::operation_aborted),
                                    loss_reason::none);
                    return;
                }
            });
        });
    }
    one->loss_waiters.push_back({id, std::move(done)});
}

void engine::lost(std::string_view owner, loss_reason why) { keeper_->push_loss(owner, why); }

void engine::tell_loss(const std::shared_ptr<lease>& one) {
    ++count_->losses;
    for (auto& wait : std::exchange(one->loss_waiters, {}))
        hand_over(std::move(wait.done), boost::system::error_code{}, one->why());
    const auto why = one->why();
    if (options_.log)
        options_.log("lost '" + one->what().claim.name + "': " + std::string(to_string(why)));
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

void engine::close(std::function<void()> closed) {
    asio::dispatch(strand_, [self = shared_from_this(), closed = std::move(closed)]() mutable {
        asio::co_spawn(self->strand_, self->close_down(self, std::move(closed)), asio::detached);
    });
}

// `self` is a parameter: a coroutine begins later than it is made, and this may be the last that
// knows the engine.
asio::awaitable<void> engine::close_down([[maybe_unused]] ptr self, std::function<void()> closed) {
    closed_ = true;
    const auto outstanding = operations_;
    for (auto* one : outstanding) {
        if (operations_.contains(one)) one->cancel();
    }
    for (const auto& one : keeper_->all()) {
        keeper_->drop(one);
        if (one->releasing) continue;
        one->releasing = true;
        one->lose(loss_reason::client_closed);
        tell_loss(one);
        asio::co_spawn(strand_, give_back(one), asio::detached);
    }
    keeper_->stop();
    // What was cancelled has first to begin its leaving, which the backend then waits for.
    alarm tick(time(), strand_);
    const auto until = time().now() + options_.drain;
    while (!operations_.empty() && time().now() < until)
        co_await tick.wait_until(time().now() + std::chrono::milliseconds(1));
    co_await backend_->close();
    if (closed) closed();
}

}  // namespace pawl::core
