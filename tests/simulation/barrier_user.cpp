#include "barrier_user.hpp"

#include "latch_waiter.hpp"

#include <pawl/error.hpp>
#include <pawl/latch.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {

void barrier_user::ask() {
    if (finishing_) return rest();
    kind_ = kind::endless;
    begin();
    wait_id_ = 0;
    if (chance_.chance(0.1)) return look();
    came_ = world_now();
    barrier at(home_.locks(), std::string(turns), turn_parties);
    say("comes to the barrier");
    auto done = own([this](const boost::system::error_code& ec, phase turn) { arrived(ec, turn); });
    at.async_arrive(asio::bind_executor(home_.home().get_executor(), done));
}

void barrier_user::look() {
    barrier at(home_.locks(), std::string(turns), turn_parties);
    say("looks at the barrier");
    auto done =
        own([this](const boost::system::error_code& ec, const latch_info&) { answered(ec); });
    at.async_inspect(asio::bind_executor(home_.home().get_executor(), done));
}

void barrier_user::arrived(const boost::system::error_code& ec, phase turn) {
    if (dead_) return;
    if (ec) return answered(ec);
    choose_kind();
    begin();
    wait_id_ = judge().latches().waits(home_.home(), known(turns), static_cast<std::uint64_t>(turn),
                                       came_, kind_ != kind::once);
    barrier at(home_.locks(), std::string(turns), turn_parties);
    say("waits for the others");
    auto done = asio::bind_cancellation_slot(
        signal_->slot(), asio::bind_executor(home_.home().get_executor(),
                                             own([this](const boost::system::error_code& ended) {
                                                 answered(ended);
                                             })));
    at.async_wait(turn, kind_ == kind::endless ? forever : wait_, std::move(done));
    if (finishing_) return;
    plan_cancel();
}

void barrier_user::answered(const boost::system::error_code& ec) {
    if (dead_) return;
    if (!std::exchange(waiting_, false)) judge().fail("I7", label_ + " was answered twice");
    say("is answered " + (ec ? ec.message() : "go"));
    const bool waited = wait_id_ != 0;
    if (waited) judge().latches().ended(wait_id_, ending_of(ec));
    const bool in_vain = ec == make_error_code(errc::timed_out) && kind_ == kind::once;
    const bool gone = waited && ec == make_error_code(errc::lost);
    if (ec && !gone && !in_vain && !may_fail(ec))
        judge().fail("I6", label_ + " got an error out of place: " + ec.message());
    rest();
}

}  // namespace pawl::simulation
