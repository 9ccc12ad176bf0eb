#include "latch.hpp"

#include "validate.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::core {
namespace {

void check_ttl(const latch_options& options) {
    if (options.ttl < 1s || options.ttl > 366 * 24h)
        throw error(
            errc::bad_option,
            "The ttl of a latch is " +
                std::to_string(std::chrono::floor<std::chrono::milliseconds>(options.ttl).count()) +
                " ms; it must be between 1 s and 366 days.");
}

void check_wait(duration wait) {
    if (wait < 0s)
        throw error(
            errc::bad_option,
            "The wait is less than 0; use 0 to look once, a longer time, or pawl::forever.");
}

void check_positive(std::uint32_t number, const char* what) {
    if (number == 0)
        throw error(errc::bad_option, std::string(what) + " is 0; it must be 1 or more.");
}

}  // namespace

error unknown_latch(std::string_view name) {
    return {errc::lost, "The latch '" + std::string(name) +
                            "' is not known to the service: nobody has set it, or it was reset or "
                            "forgotten; set it, and begin anew what it counts."};
}

error other_parties(std::string_view name, std::uint64_t kept, std::uint64_t said) {
    if (kept == 0)
        return {errc::bad_option, "'" + std::string(name) +
                                      "' is counting as a latch; use another name for the barrier, "
                                      "or wait until it is at 0."};
    return {errc::bad_option, "The barrier '" + std::string(name) + "' has " +
                                  std::to_string(kept) + " parties, not " + std::to_string(said) +
                                  "; let all say the same, or reset it."};
}

error latch_timed_out(const std::string& name) {
    return {errc::timed_out,
            "The latch '" + name +
                "' was not at 0 in time; wait longer, or ask `inspect` how much is "
                "missing."};
}

bool is_over(const latch_standing& found, std::string_view name, std::uint64_t& generation) {
    if (!found.known) throw unknown_latch(name);
    if (generation == 0) generation = found.generation;
    if (generation < found.first || generation > found.generation) throw unknown_latch(name);
    return generation < found.generation || found.count == 0;
}

latches& engine::counted() {
    refuse_closed();
    auto* found = backend_->counted();
    if (found == nullptr)
        throw error(errc::unsupported,
                    "This service has no latches; see the table in docs/guarantees.md.");
    return *found;
}

asio::awaitable<bool> set_latch(engine::ptr home, std::string name, std::uint32_t count,
                                latch_options options) {
    check_name(name);
    check_positive(count, "The count of a latch");
    check_ttl(options);
    co_return co_await home->counted().try_set(name, count, options.ttl);
}

asio::awaitable<std::uint64_t> count_down(engine::ptr home, std::string name, std::uint32_t steps) {
    check_name(name);
    check_positive(steps, "The number of steps");
    const auto now = co_await home->counted().count_down(name, steps);
    co_return now.count;
}

asio::awaitable<bool> latch_is_open(engine::ptr home, std::string name) {
    check_name(name);
    const auto now = co_await home->counted().inspect(name);
    if (!now.known) throw unknown_latch(name);
    co_return now.count == 0;
}

asio::awaitable<bool> wait_latch(engine::ptr home, std::string name, phase turn, duration wait) {
    check_name(name);
    check_wait(wait);
    const auto until = plus(home->time().now(), wait);
    co_return co_await home->counted().wait(name, static_cast<std::uint64_t>(turn), until);
}

asio::awaitable<phase> arrive(engine::ptr home, std::string name, std::uint32_t parties,
                              latch_options options) {
    check_name(name);
    check_positive(parties, "The number of parties");
    check_ttl(options);
    const auto now = co_await home->counted().arrive(name, parties, options.ttl);
    co_return static_cast<phase>(now.generation);
}

asio::awaitable<bool> step_and_wait(engine::ptr home, std::string name, duration wait) {
    check_name(name);
    check_wait(wait);
    const auto until = plus(home->time().now(), wait);
    auto& at = home->counted();
    const auto mine = co_await at.count_down(name, 1);
    if (mine.count == 0) co_return true;
    co_return co_await at.wait(name, mine.generation, until);
}

asio::awaitable<latch_info> inspect_latch(engine::ptr home, std::string name) {
    check_name(name);
    co_return co_await home->counted().inspect(name);
}

asio::awaitable<bool> reset_latch(engine::ptr home, std::string name) {
    check_name(name);
    co_return co_await home->counted().reset(name);
}

}  // namespace pawl::core
