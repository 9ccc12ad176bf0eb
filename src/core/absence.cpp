#include "absence.hpp"

#include "chance.hpp"

#include <algorithm>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::core {
namespace {

// The longest delay between the service's return and the next attempt.
constexpr auto longest_pause = 1s;

}  // namespace

bool may_pass(const error& trouble) noexcept {
    return trouble.reason() == errc::unreachable || trouble.reason() == errc::unavailable;
}

asio::awaitable<void> absence::ride_out(error trouble) {
    const auto now = time_.now();
    if (trouble.reason() != errc::unreachable || now >= give_up_at_) throw trouble;
    notice_.say(trouble.what());
    const auto pause = random_between(time_, longest_ / 2, longest_);
    longest_ = std::min<duration>(longest_ * 2, longest_pause);
    co_await timer_.wait_until(std::min(give_up_at_, now + pause));
}

}  // namespace pawl::core
