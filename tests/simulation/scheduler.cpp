#include "scheduler.hpp"

#include "process.hpp"

#include <algorithm>

namespace pawl::simulation {

scheduler::event scheduler::at(instant when, task what) {
    const event key{std::max(when, now_), made_++};
    events_.emplace(key, std::move(what));
    return key;
}

void scheduler::post(process& on, task what) { ready_.emplace_back(&on, std::move(what)); }

void scheduler::run_ready() {
    while (!ready_.empty()) {
        auto [on, what] = std::move(ready_.front());
        ready_.pop_front();
        ++steps_;
        on->run(std::move(what));
    }
}

bool scheduler::step() {
    run_ready();
    if (events_.empty()) return false;
    auto first = events_.extract(events_.begin());
    now_ = first.key().first;
    ++steps_;
    first.mapped()();
    run_ready();
    return true;
}

instant scheduler::next() const noexcept {
    return events_.empty() ? instant::max() : events_.begin()->first.first;
}

}  // namespace pawl::simulation
