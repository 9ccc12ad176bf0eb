#include "user.hpp"

#include <pawl/error.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {

void user::forget() {
    if (lock_) judge().gone(tenure_);
    told_.reset();
    lock_ = {};
    without_handle_.clear();
}

void user::told_of_loss() {
    const own_bookkeeping uncounted;
    if (!chance_.chance(ways().blocks)) return;
    say("blocks the callback of its loss");
    home_.time().block(instant(chance_.between(0, ways().blocks_most.count())));
}

// Without the planted bug a grant that meets a shortage is as any other: all that it needs is there
// before.
bool user::loses_the_handle(held_lock& lock) {
    if (ways().shortage == 0 || !chance_.chance(ways().shortage)) return false;
    if (home_.around().what.net.bug != planted::granted_without_handle) return false;
    say("has no handle of what it was granted");
    without_handle_.push_back(std::move(lock));
    return true;
}

lock_options user::wishes() {
    auto made = plain_wishes();
    if (name_ == room && chance_.chance(ways().reads)) made.mode = lock_mode::shared;
    if (name_ == pool && chance_.chance(ways().permits)) {
        made.mode = lock_mode::permits;
        made.permits = static_cast<std::uint32_t>(chance_.between(1, pool_permits));
        made.of = pool_permits;
    }
    made.fair = chance_.chance(ways().fair);
    return made;
}

void user::ask() {
    if (finishing_) return rest();
    const auto& names = home_.around().names;
    name_ = names[chance_.below(names.size())];
    choose_kind();
    const auto options = wishes();
    begin();
    question_ = judge().asked(home_.home(), known(name_), options);
    say("asks for " + name_);
    auto done = asio::bind_cancellation_slot(
        signal_->slot(),
        asio::bind_executor(home_.home().get_executor(),
                            own([this](const boost::system::error_code& ec, held_lock lock) {
                                answered(ec, std::move(lock));
                            })));
    if (kind_ == kind::once) {
        home_.locks().async_try_acquire(name_, one_try(options), std::move(done));
    } else {
        home_.locks().async_acquire(name_, options, std::move(done));
    }
    plan_cancel();
}

void user::answered(const boost::system::error_code& ec, held_lock lock) {
    if (dead_) return;
    if (!std::exchange(waiting_, false)) judge().fail("I7", label_ + " was answered twice");
    say("is answered " + (ec ? ec.message() : lock ? to_string(lock.token()) : "busy"));
    if (ec && !may_fail(ec))
        judge().fail("I6", label_ + " got an error out of place: " + ec.message());
    if (!ec && !lock && kind_ != kind::once)
        judge().fail("I6", label_ + " got nothing, and no error");
    if (!lock || loses_the_handle(lock)) return rest();
    lock_ = std::move(lock);
    if (ways().blocks > 0) told_.emplace(lock_.lost(), [this] { told_of_loss(); });
    token_ = lock_.token().value();
    tenure_ = judge().granted(home_.home(), known(name_), lock_, question_);
    choose_end(question_.ttl);
    work();
}

void user::work() {
    if (lock_.state() == lock_state::lost) {
        say("has lost it");
        judge().noticed_loss(tenure_);
        judge().gone(tenure_);
        return let_go();
    }
    judge().wrote(tenure_);
    if (finishing_ || world_now() >= until_) return give_back();
    if (name_ == room && question_.mode == lock_mode::exclusive &&
        chance_.chance(ways().downgrades))
        return step_down();
    later(next_step(), this, &user::work);
}

void user::step_down() {
    say("steps down");
    question_.mode = lock_mode::shared;
    judge().steps_down(tenure_);
    lock_.async_downgrade(asio::bind_executor(
        home_.home().get_executor(),
        own([this](const boost::system::error_code& ec) { stepped_down(ec); })));
}

void user::stepped_down(const boost::system::error_code& ec) {
    if (dead_) return;
    say("stepped down: " + ec.message());
    if (ec && ec != make_error_code(errc::lost) && !may_fail(ec))
        judge().fail("I6", label_ + " could not step down: " + ec.message());
    work();
}

void user::give_back() {
    const bool unlimited = lock_.safe_until() - home_.time().now() > 100ms;
    sure_ = unlimited && !judge().excused(tenure_) && never_stopped();
    judge().gone(tenure_);
    until_ = world_now();
    if (chance_.chance(ways().drops)) return let_go();
    say("releases");
    lock_.async_release(asio::bind_executor(
        home_.home().get_executor(), own([this](release_result found) { given_back(found); })));
}

void user::given_back(release_result found) {
    if (dead_) return;
    say(std::string("released: ") + to_string(found));
    judge().released({known(name_)}, {{token_, question_.mode}}, sure_, until_, found);
    let_go();
}

void user::let_go() {
    told_.reset();
    lock_ = {};
    rest();
}

}  // namespace pawl::simulation
