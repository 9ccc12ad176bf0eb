#include "absence.hpp"

#include "chance.hpp"

#include <algorithm>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::core {
namespace {

// The longest delay between the service's return and the next attempt.
constexpr auto longest_pause = 1s;
constexpr auto say_every = 1min;

}  // namespace

bool may_pass(const error& trouble) noexcept {
    return trouble.reason() == errc::unreachable || trouble.reason() == errc::unavailable;
}

asio::awaitable<void> absence::ride_out(error trouble) {
    const auto now = time_.now();
    if (trouble.reason() != errc::unreachable || now >= give_up_at_) throw trouble;
    if (log_ && now >= silent_until_) {
        silent_until_ = now + say_every;
        log_("Waiting for the service: " + std::string(trouble.what()));
    }
    const auto pause = random_between(time_, longest_ / 2, longest_);
    longest_ = std::min<duration>(longest_ * 2, longest_pause);
    co_await timer_.wait_until(std::min(give_up_at_, now + pause));
}

}  // namespace pawl::core
