#include "waiting_room.hpp"

namespace pawl::core {

waiting_room::place::place(waiting_room& room, const std::string& name)
    : room_(room), line_(*room.lines_.try_emplace(name).first) {
    auto& waiters = line_.second.waiters;
    // Who finds nobody here goes straight on and needs no alarm.
    if (!waiters.empty()) alarm_ = std::make_unique<alarm>(room.time_, room.strand_);
    here_ = waiters.insert(waiters.end(), alarm_.get());
}

waiting_room::place::~place() {
    auto& waiters = line_.second.waiters;
    const bool was_first = here_ == waiters.begin();
    waiters.erase(here_);
    if (waiters.empty()) {
        room_.lines_.erase(room_.lines_.find(line_.first));
    } else if (was_first) {
        waiters.front()->ring();
    }
}

bool waiting_room::place::is_first() const noexcept {
    return here_ == line_.second.waiters.begin();
}

boost::asio::awaitable<bool> waiting_room::place::until_first(time_point give_up_at) {
    for (;;) {
        if (is_first()) co_return true;
        const bool rung = co_await alarm_->wait_until(give_up_at);
        if (!rung) co_return false;
    }
}

}  // namespace pawl::core
