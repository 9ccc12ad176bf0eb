#include <pawl/latch.hpp>

#include "asking.hpp"
#include "latch.hpp"

namespace asio = boost::asio;

namespace pawl {
namespace {

using engine_ptr = std::shared_ptr<core::engine>;

asio::awaitable<bool> in_time(std::string name, asio::awaitable<bool> wait) {
    const bool done = co_await std::move(wait);
    if (!done) throw core::latch_timed_out(name);
    co_return true;
}

asio::awaitable<bool> arrive_and_wait(engine_ptr home, std::string name, std::uint32_t parties,
                                      latch_options options, duration wait) {
    const auto until = core::plus(home->time().now(), wait);
    const auto turn = co_await core::arrive(home, name, parties, options);
    const auto left = wait == forever ? wait : std::max(duration{}, until - home->time().now());
    co_return co_await core::wait_latch(home, name, turn, left);
}

}  // namespace

void latch::start_set(client::answer_handler<bool> done, engine_ptr home, std::string name,
                      std::uint32_t count, latch_options options) {
    core::ask(home, core::set_latch(home, std::move(name), count, options), std::move(done));
}

void latch::start_count_down(client::answer_handler<std::uint64_t> done, engine_ptr home,
                             std::string name, std::uint32_t steps) {
    core::ask(home, core::count_down(home, std::move(name), steps), std::move(done));
}

void latch::start_try_wait(client::answer_handler<bool> done, engine_ptr home, std::string name) {
    core::ask(home, core::latch_is_open(home, std::move(name)), std::move(done));
}

void latch::start_wait(plain_handler done, engine_ptr home, std::string name, duration wait) {
    core::ask(home, in_time(name, core::wait_latch(home, name, phase{}, wait)), std::move(done));
}

void latch::start_arrive(plain_handler done, engine_ptr home, std::string name, duration wait) {
    core::ask(home, in_time(name, core::step_and_wait(home, name, wait)), std::move(done));
}

void latch::start_inspect(client::answer_handler<latch_info> done, engine_ptr home,
                          std::string name) {
    core::ask(home, core::inspect_latch(home, std::move(name)), std::move(done));
}

void latch::start_reset(client::answer_handler<bool> done, engine_ptr home, std::string name) {
    core::ask(home, core::reset_latch(home, std::move(name)), std::move(done));
}

void barrier::start_arrive(client::answer_handler<phase> done, engine_ptr home, std::string name,
                           std::uint32_t parties, latch_options options) {
    core::ask(home, core::arrive(home, std::move(name), parties, options), std::move(done));
}

void barrier::start_wait(plain_handler done, engine_ptr home, std::string name, phase turn,
                         duration wait) {
    core::ask(home, in_time(name, core::wait_latch(home, name, turn, wait)), std::move(done));
}

void barrier::start_both(plain_handler done, engine_ptr home, std::string name,
                         std::uint32_t parties, latch_options options, duration wait) {
    core::ask(home, in_time(name, arrive_and_wait(home, name, parties, options, wait)),
              std::move(done));
}

}  // namespace pawl
