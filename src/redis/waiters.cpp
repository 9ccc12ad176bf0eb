#include "waiters.hpp"

#include "numbers.hpp"
#include "values.hpp"

#include "../core/clock_token.hpp"

using namespace std::chrono_literals;

namespace pawl::redis {

void waiter_table::add(waiter& one) {
    by_owner_.emplace(one.owner, &one);
    by_name_.emplace(one.name, &one);
}

void waiter_table::remove(waiter& one) {
    by_owner_.erase(one.owner);
    const auto [begin, end] = by_name_.equal_range(one.name);
    for (auto at = begin; at != end; ++at) {
        if (at->second != &one) continue;
        by_name_.erase(at);
        return;
    }
}

waiter* waiter_table::by_owner(std::string_view owner) const {
    const auto found = by_owner_.find(owner);
    return found == by_owner_.end() ? nullptr : found->second;
}

waiter* waiter_table::first_for(std::string_view name) const {
    const auto [begin, end] = by_name_.equal_range(name);
    for (auto at = begin; at != end; ++at) {
        if (at->second->inherits && !at->second->given) return at->second;
    }
    return nullptr;
}

void waiter_table::ring_all() {
    for (const auto& [owner, one] : by_owner_) {
        one->asked_server_ms = -1;
        one->woken.ring();
    }
}

void waiter_table::ring_key(std::string_view lock_key) {
    for (const auto& [owner, one] : by_owner_) {
        if (!one->tracks || (!lock_key.empty() && one->where.lock != lock_key)) continue;
        one->told = true;
        one->woken.ring();
    }
}

namespace {

// Of the server's clock, and of a counter that is ahead of it. More is looked up, and no error.
constexpr auto clock_slack = 1s;

std::uint64_t token_at(std::chrono::milliseconds since_1970) {
    const auto at = core::clock_token(std::chrono::system_clock::time_point(since_1970));
    return static_cast<std::uint64_t>(at);
}

}  // namespace

bool is_plausible(const waiter& to, fencing_token token, std::int64_t server_ms,
                  time_point now) noexcept {
    if (to.asked_server_ms < 0) return false;
    const auto granted = milliseconds_of(server_ms);
    const auto passed = std::chrono::ceil<std::chrono::milliseconds>(now - to.asked);
    const auto latest = milliseconds_of(to.asked_server_ms) + passed + clock_slack;
    if (granted > latest || token.value() > token_at(latest)) return false;
    return to.want == "s" || token.value() >= token_at(granted);
}

grant pushed_grant(const waiter& to, std::string_view token, std::int64_t server_ms,
                   time_point received) {
    grant given;
    given.token = fencing_token(number(token));
    given.proof = value_of(to.prefix, server_ms);
    given.confirm = true;
    // No first byte of ours was sent. The grant was made no earlier than the enqueueing was asked
    // for plus what the server's clock says lay between (one millisecond less for its rounding, and
    // a hundredth where its clock is the faster one), and no later than now: count from the
    // earlier. More between than has passed here means that the server's clock was set: then
    // nothing is known but when we asked.
    const duration between = milliseconds_of(server_ms) - milliseconds_of(to.asked_server_ms) - 1ms;
    const auto passed = received - to.asked;
    const bool known = to.asked_server_ms >= 0 && between <= passed + drift(passed);
    const auto made = known ? std::min(received, to.asked + between - between / 100) : to.asked;
    given.deadline = made + to.window - drift(to.window);
    return given;
}

}  // namespace pawl::redis
