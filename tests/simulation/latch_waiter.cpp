#include "latch_waiter.hpp"

#include <pawl/error.hpp>
#include <pawl/latch.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {

latch_checker::ending ending_of(const boost::system::error_code& ec) {
    if (!ec) return latch_checker::ending::passed;
    if (ec == make_error_code(errc::lost)) return latch_checker::ending::unknown_latch;
    return latch_checker::ending::other;
}

latch_waiter::latch_waiter(program& home, std::string label, prng chance, bool redisson)
    : inhabitant(home, std::move(label), chance),
      redisson_(redisson),
      known_as_(redisson ? std::string(steps) + home_.around().at.redisson_label() : known(steps)) {
}

void latch_waiter::ask() {
    if (finishing_) return rest();
    choose_kind();
    begin();
    wait_id_ =
        judge().latches().waits(home_.home(), known_as_, 0, world_now(), kind_ != kind::once);
    latch at(redisson_ ? home_.redisson() : home_.locks(), std::string(steps));
    say("waits for the steps");
    auto done = asio::bind_cancellation_slot(
        signal_->slot(),
        asio::bind_executor(home_.home().get_executor(),
                            own([this](const boost::system::error_code& ec) { answered(ec); })));
    at.async_wait(kind_ == kind::endless ? forever : wait_, std::move(done));
    plan_cancel();
}

void latch_waiter::answered(const boost::system::error_code& ec) {
    if (dead_) return;
    if (!std::exchange(waiting_, false)) judge().fail("I7", label_ + " was answered twice");
    say("is answered " + (ec ? ec.message() : "go"));
    judge().latches().ended(wait_id_, ending_of(ec));
    const bool in_vain = ec == make_error_code(errc::timed_out) && kind_ == kind::once;
    if (ec && ec != make_error_code(errc::lost) && !in_vain && !may_fail(ec))
        judge().fail("I6", label_ + " got an error out of place: " + ec.message());
    // A latch that is at 0 holds up nobody.
    later(instant(chance_.between(0, instant(200ms).count())), this, &latch_waiter::rest_now);
}

}  // namespace pawl::simulation
