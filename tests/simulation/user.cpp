#include "user.hpp"

#include <pawl/error.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/error.hpp>

#include <algorithm>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {

user::user(program& home, std::string label, prng chance)
    : home_(home), label_(std::move(label)), chance_(chance) {}

void user::say(const std::string& what) const { home_.around().log.say(label_ + " " + what); }

void user::later(instant delay, void (user::*what)()) {
    home_.around().world.after(delay, [this, what] {
        home_.home().post([this, what] {
            if (!dead_) (this->*what)();
        });
    });
}

void user::start() {
    resting_ = false;
    rest();
}

void user::rest() {
    if (finishing_) {
        resting_ = true;
        return;
    }
    const auto most = home_.around().what.users.idle_most;
    later(instant(chance_.between(0, most.count())), &user::ask);
}

void user::finish() {
    finishing_ = true;
    until_ = {};
}

void user::die() {
    dead_ = true;
    finishing_ = resting_ = true;
    if (lock_) home_.around().judge.gone(tenure_);
    // Its memory goes with the client's; nobody sees a release of it.
    lock_ = {};
}

duration user::ttl() {
    const auto& habits = home_.around().what.users;
    return duration(chance_.between(habits.ttl_least.count(), habits.ttl_most.count()));
}

lock_options user::wishes() {
    const auto& habits = home_.around().what.users;
    lock_options made;
    made.ttl = ttl();
    made.wait = kind_ == kind::endless ? forever : wait_;
    if (chance_.chance(habits.max_hold))
        made.max_hold = duration(chance_.between(20'000'000, 3'000'000'000));
    made.fenced = !chance_.chance(habits.unfenced);
    if (name_ == room && chance_.chance(habits.reads)) made.mode = lock_mode::shared;
    if (name_ == pool && chance_.chance(habits.permits)) {
        made.mode = lock_mode::permits;
        made.permits = static_cast<std::uint32_t>(chance_.between(1, pool_permits));
        made.of = pool_permits;
    }
    made.fair = chance_.chance(habits.fair);
    return made;
}

void user::ask() {
    if (finishing_) return rest();
    const auto& habits = home_.around().what.users;
    const auto& names = home_.around().names;
    name_ = names[chance_.below(names.size())];
    kind_ = chance_.chance(habits.tries)     ? kind::once
            : chance_.chance(habits.limited) ? kind::limited
                                             : kind::endless;
    wait_ = kind_ == kind::once ? duration{} : duration(chance_.between(0, 1'500'000'000));
    const auto options = wishes();
    ++number_;
    waiting_ = true;
    cancelled_ = false;
    asked_at_ = home_.time().now();
    question_ = home_.around().judge.asked(name_, options);
    say("asks for " + name_);
    signal_ = std::make_unique<asio::cancellation_signal>();
    auto done = asio::bind_cancellation_slot(
        signal_->slot(),
        asio::bind_executor(home_.home().get_executor(),
                            [this](const boost::system::error_code& ec, held_lock lock) {
                                answered(ec, std::move(lock));
                            }));
    if (kind_ == kind::once) {
        home_.locks().async_try_acquire(name_, one_try(options), std::move(done));
    } else {
        home_.locks().async_acquire(name_, options, std::move(done));
    }
    plan_cancel();
}

void user::plan_cancel() {
    if (!chance_.chance(home_.around().what.users.cancels)) return;
    cancel_number_ = number_;
    // At every await point: at once, on the way, or in line.
    const auto most = chance_.chance(0.5) ? 3ms : 800ms;
    later(instant(chance_.between(0, instant(most).count())), &user::cancel);
}

void user::cancel() {
    if (!waiting_ || cancel_number_ != number_) return;
    say("gives up");
    cancelled_ = true;
    signal_->emit(asio::cancellation_type::terminal);
}

bool user::may_fail(const boost::system::error_code& ec) const {
    const auto now = home_.time().now();
    const bool too_long = kind_ == kind::limited && now - asked_at_ >= wait_;
    if (ec == make_error_code(errc::timed_out)) return too_long;
    if (ec == asio::error::operation_aborted) return cancelled_;
    const auto& around = home_.around();
    const bool disturbed = !around.what.calm_network || home_.home().resumed_at() != instant{};
    // Also where the time was over before the first connection was there.
    return ec == make_error_code(errc::unreachable) && (disturbed || too_long);
}

void user::answered(const boost::system::error_code& ec, held_lock lock) {
    if (dead_) return;
    auto& judge = home_.around().judge;
    if (!std::exchange(waiting_, false)) judge.fail("I7", label_ + " was answered twice");
    say("is answered " + (ec ? ec.message() : lock ? to_string(lock.token()) : "busy"));
    if (ec && !may_fail(ec))
        judge.fail("I6", label_ + " got an error out of place: " + ec.message());
    if (!ec && !lock && kind_ != kind::once)
        judge.fail("I6", label_ + " got nothing, and no error");
    if (!lock) return rest();
    lock_ = std::move(lock);
    token_ = lock_.token().value();
    tenure_ = judge.granted(home_.home(), name_, lock_, question_);
    const auto& habits = home_.around().what.users;
    const auto most = chance_.chance(habits.clings) ? instant(2 * question_.ttl) : habits.hold_most;
    until_ = home_.around().world.now() + instant(chance_.between(0, most.count()));
    work();
}

void user::work() {
    auto& judge = home_.around().judge;
    if (lock_.state() == lock_state::lost) {
        say("has lost it");
        judge.noticed_loss(tenure_);
        judge.gone(tenure_);
        return let_go();
    }
    judge.wrote(tenure_);
    const auto now = home_.around().world.now();
    if (finishing_ || now >= until_) return give_back();
    if (name_ == room && question_.mode == lock_mode::exclusive &&
        chance_.chance(home_.around().what.users.downgrades))
        return step_down();
    const auto step = std::min<instant>(until_ - now, 40ms);
    later(instant(chance_.between(step.count() / 2, step.count())), &user::work);
}

void user::step_down() {
    say("steps down");
    question_.mode = lock_mode::shared;
    home_.around().judge.steps_down(tenure_);
    lock_.async_downgrade(
        asio::bind_executor(home_.home().get_executor(),
                            [this](const boost::system::error_code& ec) { stepped_down(ec); }));
}

void user::stepped_down(const boost::system::error_code& ec) {
    if (dead_) return;
    say("stepped down: " + ec.message());
    if (ec && ec != make_error_code(errc::lost))
        home_.around().judge.fail("I6", label_ + " could not step down: " + ec.message());
    work();
}

void user::give_back() {
    auto& judge = home_.around().judge;
    const bool unlimited = lock_.safe_until() - home_.time().now() > 100ms;
    sure_ = unlimited && !judge.excused(tenure_) && home_.home().resumed_at() == instant{};
    judge.gone(tenure_);
    until_ = home_.around().world.now();
    if (chance_.chance(home_.around().what.users.drops)) return let_go();
    say("releases");
    lock_.async_release(asio::bind_executor(home_.home().get_executor(),
                                            [this](release_result found) { given_back(found); }));
}

void user::given_back(release_result found) {
    if (dead_) return;
    say(std::string("released: ") + to_string(found));
    home_.around().judge.released(name_, {token_, question_.mode}, sure_, until_, found);
    let_go();
}

void user::let_go() {
    lock_ = {};
    rest();
}

}  // namespace pawl::simulation
