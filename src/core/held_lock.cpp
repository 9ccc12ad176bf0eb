#include <pawl/held_lock.hpp>

#include "asking.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

namespace asio = boost::asio;

namespace pawl {
namespace {

asio::awaitable<void> ask(core::engine::ptr home, asio::awaitable<void> question,
                          held_lock::question_handler done) {
    core::owed_answer<held_lock::question_handler> owed(home, std::move(done));
    boost::system::error_code ec;
    try {
        co_await std::move(question);
    } catch (...) {
        ec = home->failed(std::current_exception());
    }
    asio::post(home->outside(), asio::append(owed.take(), ec));
}

asio::awaitable<void> renew_each(std::vector<std::shared_ptr<core::lease>> all) {
    for (const auto& one : all)
        co_await one->home()->renew(one);
}

}  // namespace

held_lock& held_lock::operator=(held_lock&& other) noexcept {
    if (this != &other) {
        const held_lock old(std::move(*this));
        lease_ = std::move(other.lease_);
        number_ = other.number_;
    }
    return *this;
}

held_lock::~held_lock() {
    if (lease_) core::let_go({std::move(lease_), number_});
}

bool held_lock::owns_lock() const noexcept { return lease_ && lease_->is_ours(); }
std::string_view held_lock::name() const { return lease()->what().claim.name; }
fencing_token held_lock::token() const { return lease()->what().grant.token; }
lock_state held_lock::state() const { return lease()->state(); }
loss_reason held_lock::why_lost() const { return lease()->why(); }
time_point held_lock::safe_until() const { return lease()->safe_until(); }
std::stop_token held_lock::lost() const { return lease()->lost(); }

asio::any_io_executor held_lock::executor_of(const core::lease& lease) noexcept {
    return lease.home()->outside();
}

void held_lock::start_release(std::shared_ptr<core::lease> lease, std::uint32_t number,
                              release_handler done) {
    const auto home = lease->home();
    asio::dispatch(home->strand(), [mine = core::handle_id{std::move(lease), number},
                                    done = std::move(done)]() mutable {
        mine.lease->home()->release(mine, std::move(done));
    });
}

void held_lock::start_wait_lost(std::shared_ptr<core::lease> lease, loss_handler done) {
    const auto home = lease->home();
    asio::dispatch(home->strand(), [lease = std::move(lease), done = std::move(done)]() mutable {
        lease->home()->wait_lost(lease, std::move(done));
    });
}

void held_lock::start_renew(std::vector<std::shared_ptr<core::lease>> all, question_handler done) {
    const auto home = all.front()->home();
    asio::co_spawn(home->strand(), ask(home, renew_each(std::move(all)), std::move(done)),
                   asio::detached);
}

void held_lock::start_downgrade(std::shared_ptr<core::lease> lease, question_handler done) {
    const auto home = lease->home();
    asio::co_spawn(home->strand(), ask(home, home->downgrade(std::move(lease)), std::move(done)),
                   asio::detached);
}

}  // namespace pawl
