#include "latch_user.hpp"

#include <pawl/error.hpp>
#include <pawl/latch.hpp>

#include <boost/asio/bind_executor.hpp>

#include <utility>

namespace asio = boost::asio;

namespace pawl::simulation {

void latch_user::ask() {
    if (finishing_) return rest();
    kind_ = kind::endless;
    begin();
    latch steps(home_.locks(), "steps");
    const auto on = home_.home().get_executor();
    if (chance_.chance(0.3)) {
        const auto count = static_cast<std::uint32_t>(chance_.between(1, 30));
        say("sets " + std::to_string(count) + " steps");
        auto done = [this](const boost::system::error_code& ec, bool) { answered(ec); };
        return steps.async_try_set(count, asio::bind_executor(on, done));
    }
    say("takes a step");
    auto done = [this](const boost::system::error_code& ec, std::uint64_t) { answered(ec); };
    steps.async_count_down(1, asio::bind_executor(on, done));
}

void latch_user::answered(const boost::system::error_code& ec) {
    if (dead_) return;
    if (!std::exchange(waiting_, false)) judge().fail("I7", label_ + " was answered twice");
    say("is answered " + ec.message());
    const bool unknown_latch = ec == make_error_code(errc::lost);
    if (ec && !unknown_latch && !may_fail(ec))
        judge().fail("I6", label_ + " got an error out of place: " + ec.message());
    rest();
}

}  // namespace pawl::simulation
