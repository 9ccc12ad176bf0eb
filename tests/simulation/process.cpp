#include "process.hpp"

#include <cmath>

namespace pawl::simulation {

process::process(scheduler& world, time_point start, double rate)
    : world_(world),
      has_(prng(static_cast<std::uint64_t>(start.time_since_epoch().count()))),
      start_(start),
      rate_(rate) {}

process::~process() = default;

time_point process::now() const noexcept {
    const auto shown = std::floor(static_cast<double>(world_.now().count()) * rate_);
    return start_ + duration(static_cast<duration::rep>(shown));
}

instant process::instant_of(time_point when) const noexcept {
    const auto wanted = static_cast<double>((when - start_).count());
    // Beyond a simulated century nothing is ever looked at; it keeps the arithmetic exact enough.
    if (wanted > 3e18) return instant(static_cast<instant::rep>(3e18));
    auto found = static_cast<instant::rep>(std::ceil(wanted / rate_));
    while (std::floor(static_cast<double>(found) * rate_) < wanted)
        ++found;
    return instant(found);
}

void process::resume() {
    paused_ = false;
    resumed_at_ = world_.now();
    for (auto& waiting : backlog_)
        world_.post(*this, std::move(waiting));
    backlog_.clear();
}

void process::run(task what) {
    if (paused_) {
        backlog_.push_back(std::move(what));
        return;
    }
    const allocating_for the_program(&has_.memory());
    try {
        what();
    } catch (const std::bad_alloc&) {
        // As an event loop that goes on: only this handler is over.
    }
}

}  // namespace pawl::simulation
