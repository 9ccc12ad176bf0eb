#include <pawl/blocking.hpp>

#include "exhausted.hpp"
#include "taking.hpp"

#include <boost/asio/detached.hpp>
#include <boost/system/system_error.hpp>

namespace asio = boost::asio;

namespace pawl::blocking {
using core::engine;

void rethrow(const std::shared_ptr<engine>& home, const std::exception_ptr& why) {
    const auto code = home->failed(why);
    if (code == asio::error::operation_aborted || code == make_error_code(errc::cancelled))
        throw error(errc::cancelled, "The wait was cancelled.");
    try {
        std::rethrow_exception(why);
    } catch (const error&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw core::exhausted("The request cannot be carried out", "out of memory");
    } catch (const std::exception& failed) {
        const std::string failure = "The request cannot be carried out";
        const bool of_system = dynamic_cast<const std::system_error*>(&failed) != nullptr ||
                               dynamic_cast<const boost::system::system_error*>(&failed) != nullptr;
        if (of_system) throw core::exhausted(failure, failed.what());
        throw error(errc::protocol, failure + " (" + failed.what() + ").");
    } catch (...) {
        throw error(errc::protocol, "The request cannot be carried out (an unknown exception).");
    }
}

void refuse_fork(const loop& home) {
    if (home.forked()) throw core::client_of_parent();
}

namespace {

held_locks take_all(const std::shared_ptr<loop>& home, std::vector<std::string> names,
                    const core::request& how, const std::stop_token& cancel,
                    const std::shared_ptr<core::owner>& who = {}) {
    auto mine = ask(*home, core::take_all(home->engine, who, std::move(names), how), cancel);
    std::vector<held_lock> locks;
    for (auto& each : mine)
        locks.emplace_back(std::move(each.what), each.handle, home);
    return locks.empty() ? held_locks() : held_locks(std::move(locks));
}

// A question about a hold, to which the answer must not be missed.
void ask_of(const std::shared_ptr<loop>& home, const std::shared_ptr<core::lease>& one,
            asio::awaitable<void> (engine::*what)(std::shared_ptr<core::lease>)) {
    refuse_fork(*home);
    if (home->stopped())
        throw error(errc::lost, "The client of this lock is gone, and the lock with it.");
    loop::call call(*home);
    std::exception_ptr failure;
    auto running = ((*home->engine).*what)(one);
    answered_at_the_end end(call, failure, nullptr);
    try {
        asio::co_spawn(home->engine->strand(), std::move(running), std::move(end));
    } catch (...) {}  // its end tells
    call.wait();
    if (failure) rethrow(home->engine, failure);
}

}  // namespace

held_lock take(const std::shared_ptr<loop>& home, std::string_view name, const core::request& how,
               const std::stop_token& cancel, const std::shared_ptr<core::owner>& who) {
    auto mine = ask(*home, core::take(home->engine, who, std::string(name), how), cancel);
    return {std::move(mine.what), mine.handle, home};
}

void renew(const std::shared_ptr<loop>& home, const std::shared_ptr<core::lease>& one) {
    ask_of(home, one, &engine::renew);
}

void downgrade(const std::shared_ptr<loop>& home, const std::shared_ptr<core::lease>& one) {
    ask_of(home, one, &engine::downgrade);
}

held_lock::held_lock(std::shared_ptr<core::lease> lease, std::uint32_t number,
                     std::shared_ptr<loop> home) noexcept
    : home_(std::move(home)), lease_(std::move(lease)), number_(number) {}

held_lock& held_lock::operator=(held_lock&& other) noexcept {
    if (this != &other) {
        const held_lock old(std::move(*this));
        home_ = std::move(other.home_);
        lease_ = std::move(other.lease_);
        number_ = other.number_;
    }
    return *this;
}

held_lock::~held_lock() {
    if (!lease_ || lease_->forked() || lease_->given_back() || home_->stopped()) return;
    core::let_go({std::move(lease_), number_});
    home_->nudge();  // sends it now
}

const std::shared_ptr<core::lease>& held_lock::lease() const {
    if (!lease_) refuse_empty_handle();
    return lease_;
}

bool held_lock::owns_lock() const noexcept { return lease_ && lease_->is_ours(); }
std::string_view held_lock::name() const { return lease()->what().claim.name; }
fencing_token held_lock::token() const { return lease()->what().grant.token; }
lock_state held_lock::state() const { return lease()->state(); }
loss_reason held_lock::why_lost() const { return lease()->why(); }
time_point held_lock::safe_until() const { return lease()->safe_until(); }
std::stop_token held_lock::lost() const { return lease()->lost(); }

release_result held_lock::release() {
    if (lease()->forked()) return release_result::unknown;
    // The client's end has given it back, and nothing runs there any more.
    if (home_->stopped()) return lease_->found.value_or(release_result::unknown);
    try {
        auto found = release_result::unknown;
        loop::call call(*home_);
        // Made here, where a lack of memory is the caller's to hear of.
        core::lease::release_handler done([&found, &call](release_result what) {
            found = what;
            call.answered();
        });
        asio::dispatch(lease_->home()->strand(),
                       [mine = core::handle_id{lease_, number_}, done = std::move(done)]() mutable {
                           mine.lease->home()->release(mine, std::move(done));
                       });
        call.wait();
        return found;
    } catch (...) {
        return release_result::unknown;
    }
}

void held_lock::renew() { blocking::renew(home_, lease()); }

void held_lock::downgrade() { blocking::downgrade(home_, lease()); }

release_result held_locks::release() {
    refuse_empty();
    auto found = release_result::released;
    for (auto each = handles.rbegin(); each != handles.rend(); ++each)
        found = worse(found, each->release());
    return found;
}

void held_locks::renew() {
    refuse_empty();
    for (held_lock& each : handles)
        each.renew();
}

client::client(service where, client_options options) : loop_(std::make_shared<loop>()) {
    // One thread at a time drives the loop.
    loop_->serve(engine::make(loop_->context().get_executor(), where, std::move(options), true));
}

client::~client() {
    if (!loop_) return;
    if (loop_->forked()) {
        // The loop's thread stayed with the parent; nothing here may be touched, not even to free
        // it.
        new std::shared_ptr<loop>(std::move(loop_));
        return;
    }
    try {
        loop::call call(*loop_);
        loop_->engine->close([&call] { call.answered(); });
        call.wait();
    } catch (...) {}  // without memory to give back what is held: it ends with its leases
    loop_->stop();
}

held_lock client::try_acquire(std::string_view name, try_options options, std::stop_token cancel) {
    return take(loop_, name, core::to_request(options), cancel);
}

held_lock client::acquire(std::string_view name, lock_options options, std::stop_token cancel) {
    return take(loop_, name, {options, {}}, cancel);
}

held_lock client::acquire_as(std::string_view name, std::string_view value, lock_options options,
                             std::stop_token cancel) {
    return take(loop_, name, {options, {}, std::string(value), false}, cancel);
}

held_lock client::try_acquire_as(std::string_view name, std::string_view value, try_options options,
                                 std::stop_token cancel) {
    return take(loop_, name, {once(options), options.retry, std::string(value), false}, cancel);
}

held_lock client::adopt(std::string_view name, std::string_view value, try_options options,
                        std::stop_token cancel) {
    return take(loop_, name, {once(options), options.retry, std::string(value), true}, cancel);
}

held_locks client::acquire_all(std::vector<std::string> names, lock_options options,
                               std::stop_token cancel) {
    return take_all(loop_, std::move(names), {options, {}}, cancel);
}

held_locks client::try_acquire_all(std::vector<std::string> names, try_options options,
                                   std::stop_token cancel) {
    return take_all(loop_, std::move(names), core::to_request(options), cancel);
}

lock_info client::inspect(std::string_view name) {
    return ask(*loop_, loop_->engine->inspect(std::string(name)));
}

lock_info client::wait_change(std::string_view name, fencing_token seen, duration interval,
                              std::stop_token cancel) {
    return ask(*loop_, core::wait_change(loop_->engine, std::string(name), seen, interval), cancel);
}

std::vector<lock_info> client::list(std::string_view prefix) {
    return ask(*loop_, loop_->engine->list(std::string(prefix)));
}

bool client::force_release(std::string_view name) {
    return ask(*loop_, loop_->engine->force_release(std::string(name)));
}

void client::resize(std::string_view name, std::uint32_t permits) {
    (void)ask(*loop_, loop_->engine->resize(std::string(name), permits));
}

examination client::examine() { return ask(*loop_, loop_->engine->examine()); }

statistics client::statistics() const noexcept { return loop_->engine->statistics(); }

lock_owner::lock_owner(client& locks)
    : loop_(locks.loop_), who_(std::make_shared<core::owner>(*loop_->engine)) {}

held_lock lock_owner::try_acquire(std::string_view name, try_options options,
                                  std::stop_token cancel) {
    return take(loop_, name, core::to_request(options), cancel, who_);
}

held_lock lock_owner::acquire(std::string_view name, lock_options options, std::stop_token cancel) {
    return take(loop_, name, {options, {}}, cancel, who_);
}

held_locks lock_owner::acquire_all(std::vector<std::string> names, lock_options options,
                                   std::stop_token cancel) {
    return take_all(loop_, std::move(names), {options, {}}, cancel, who_);
}

held_locks lock_owner::try_acquire_all(std::vector<std::string> names, try_options options,
                                       std::stop_token cancel) {
    return take_all(loop_, std::move(names), core::to_request(options), cancel, who_);
}

}  // namespace pawl::blocking
