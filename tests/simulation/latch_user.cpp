#include "latch_user.hpp"

#include <pawl/error.hpp>

#include <boost/asio/bind_executor.hpp>

#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {

latch_user::latch_user(program& home, std::string label, prng chance, bool redisson)
    : inhabitant(home, std::move(label), chance),
      redisson_(redisson),
      known_as_(redisson ? std::string(steps) + home_.around().at.redisson_label() : known(steps)) {
}

void latch_user::ask() {
    if (finishing_) return rest();
    kind_ = kind::endless;
    begin();
    asked_ = world_now();
    latch_options options;
    if (chance_.chance(0.1)) options.ttl = duration(chance_.between(1'000'000'000, 3'000'000'000));
    latch at(redisson_ ? home_.redisson() : home_.locks(), std::string(steps), options);
    const auto on = home_.home().get_executor();
    if (chance_.chance(0.3)) return set(at);
    if (!home_.around().what.waits || chance_.chance(0.8)) return step(at);
    if (chance_.chance(0.7)) {
        say("looks at the steps");
        auto done = own([this](const boost::system::error_code& ec, const latch_info&) {
            answered(ec, false);
        });
        return at.async_inspect(asio::bind_executor(on, done));
    }
    say("takes the steps away");
    auto done = own([this](const boost::system::error_code& ec, bool) { answered(ec, false); });
    at.async_reset(asio::bind_executor(on, done));
}

// Where somebody waits, it often comes to 0. At 0 one step more is not seen.
void latch_user::set(latch& at) {
    const auto most = home_.around().what.waits && chance_.chance(0.5) ? 4 : 30;
    const auto count = static_cast<std::uint32_t>(chance_.between(1, most));
    say("sets " + std::to_string(count) + " steps");
    auto done = own([this](const boost::system::error_code& ec, bool) { answered(ec, false); });
    at.async_try_set(count, asio::bind_executor(home_.home().get_executor(), done));
}

void latch_user::step(latch& at) {
    say("takes a step");
    auto done =
        own([this](const boost::system::error_code& ec, std::uint64_t) { answered(ec, true); });
    at.async_count_down(1, asio::bind_executor(home_.home().get_executor(), done));
}

void latch_user::answered(const boost::system::error_code& ec, bool took_step) {
    if (dead_) return;
    if (!std::exchange(waiting_, false)) judge().fail("I7", label_ + " was answered twice");
    say("is answered " + ec.message());
    const bool unknown_latch = took_step && ec == make_error_code(errc::lost);
    if (unknown_latch) judge().latches().unknown_latch(known_as_, asked_);
    if (ec && !unknown_latch && !may_fail(ec))
        judge().fail("I6", label_ + " got an error out of place: " + ec.message());
    rest();
}

}  // namespace pawl::simulation
