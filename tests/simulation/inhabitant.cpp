#include "inhabitant.hpp"

#include <pawl/error.hpp>

#include <boost/asio/error.hpp>

#include <algorithm>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {

inhabitant::inhabitant(program& home, std::string label, prng chance)
    : home_(home), label_(std::move(label)), chance_(chance) {}

void inhabitant::say(const std::string& what) const { home_.around().log.say(label_ + " " + what); }

void inhabitant::start() {
    resting_ = false;
    rest();
}

void inhabitant::rest() {
    home_.check_memory();
    if (finishing_) {
        resting_ = true;
        return;
    }
    // A user in a hurry rests at times: a thousand turns more of the same find little.
    const auto most =
        number_ % 16 == 15 ? std::max<instant>(ways().idle_most, 1s) : ways().idle_most;
    later(instant(chance_.between(0, most.count())), this, &inhabitant::ask);
}

void inhabitant::finish() {
    finishing_ = true;
    until_ = {};
}

void inhabitant::die() {
    dead_ = true;
    finishing_ = resting_ = true;
    forget();
}

duration inhabitant::ttl() {
    return duration(chance_.between(ways().ttl_least.count(), ways().ttl_most.count()));
}

lock_options inhabitant::plain_wishes() {
    lock_options made;
    made.ttl = ttl();
    made.wait = kind_ == kind::endless ? forever : wait_;
    if (chance_.chance(ways().max_hold))
        made.max_hold = duration(chance_.between(20'000'000, 3'000'000'000));
    made.fenced = !chance_.chance(ways().unfenced);
    return made;
}

void inhabitant::choose_kind() {
    kind_ = chance_.chance(ways().tries)     ? kind::once
            : chance_.chance(ways().limited) ? kind::limited
                                             : kind::endless;
    wait_ = kind_ == kind::once ? duration{} : duration(chance_.between(0, 1'500'000'000));
}

void inhabitant::begin() {
    ++number_;
    waiting_ = true;
    cancelled_ = false;
    asked_at_ = home_.time().now();
    signal_ = std::make_unique<asio::cancellation_signal>();
}

void inhabitant::plan_cancel() {
    if (!chance_.chance(ways().cancels)) return;
    cancel_number_ = number_;
    // At every await point: at once, on the way, or in line.
    const auto most = chance_.chance(0.5) ? 3ms : 800ms;
    later(instant(chance_.between(0, instant(most).count())), this, &inhabitant::cancel);
}

void inhabitant::cancel() {
    if (cancel_number_ == number_) give_up();
}

void inhabitant::give_up() {
    if (!waiting_) return;
    say("gives up");
    cancelled_ = true;
    signal_->emit(asio::cancellation_type::terminal);
}

bool inhabitant::may_fail(const boost::system::error_code& ec) const {
    const auto now = home_.time().now();
    const bool too_long = kind_ == kind::limited && now - asked_at_ >= wait_;
    if (ec == make_error_code(errc::timed_out)) return too_long;
    if (ec == asio::error::operation_aborted) return cancelled_;
    if (ec == make_error_code(errc::exhausted)) return home_.home().has().ever_short();
    const bool disturbed = !home_.around().what.calm_network || !never_stopped();
    // A server that refuses, or a queue of undos that is full.
    if (ec == make_error_code(errc::unavailable))
        return home_.around().what.memory_runs_out ||
               judge().refused_since(home_.home().instant_of(asked_at_)) ||
               home_.around().what.bounds.undos < redis::limits{}.undos;
    // Also where the time was over before the first connection was there.
    return ec == make_error_code(errc::unreachable) && (disturbed || too_long);
}

void inhabitant::choose_end(duration ttl) {
    const auto most = chance_.chance(ways().clings) ? instant(2 * ttl) : ways().hold_most;
    until_ = world_now() + instant(chance_.between(0, most.count()));
}

instant inhabitant::next_step() {
    const auto step = std::min<instant>(until_ - world_now(), 40ms);
    return instant(chance_.between(step.count() / 2, step.count()));
}

}  // namespace pawl::simulation
