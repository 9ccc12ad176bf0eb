// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Contests: all users try once, at the same time, to acquire a lock that nobody has. While a
// majority of the nodes answers, one of them wins, or the tries say that there was no quorum.
// "Taken" would be a lie: a job that every host of a fleet starts at the same time would run
// nowhere.
#include "redlock_scenario.hpp"

#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <utility>

using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace pawl::simulation {
namespace {

constexpr int contests = 8;

}  // namespace

void redlock_scenario::hold_contests() {
    for (int i = 0; i < contests && holds_.violation().empty(); ++i)
        hold_contest(random_name());
    // Now and then all of them may split the nodes until their time is over.
    if (contests_without_winner_ > contests / 2)
        fail("most contests for a free lock have no winner");
}

void redlock_scenario::hold_contest(const std::string& name) {
    trace_.write("a contest for " + name);
    const instant longest_delay = random_.happens(0.5) ? 0ms : 3ms;
    std::vector<std::shared_ptr<contender>> contenders;
    for (const auto& by : programs_)
        for (const auto& caller : by->users) {
            auto each = std::make_shared<contender>();
            each->by = by.get();
            each->caller = caller.get();
            each->tried.names = {name};
            contenders.push_back(each);
            loop_.schedule_after(random_time(0ms, longest_delay), [this, each] { try_once(each); });
        }
    wait_until("a try does not end", 20s, [&] {
        return std::ranges::all_of(contenders, [](const auto& each) { return each->has_ended; });
    });
    if (holds_.violation().empty()) judge_contest(contenders);
    for (const auto& each : contenders) {
        for (auto* const hold : each->caller->beliefs)
            holds_.end(*hold);
        each->by->process.post([this, each] { retire(*each->caller); });
    }
    loop_.run_for(1ms);
    wait_until("nobody has a lock, but a node keeps it", instant(plan_.longest_ttl) + 2s,
               [&] { return !nodes_.is_locked_anywhere(name); });
    loop_.run_for(random_time(10ms, 600ms));
}

void redlock_scenario::try_once(const std::shared_ptr<contender>& each) {
    each->tried.requested_at = loop_.now();
    each->by->process.post([this, each] {
        each->by->locks->async_try_acquire(
            each->tried.names.front(), {.ttl = plan_.longest_ttl},
            redirect_diagnostics(
                asio::bind_executor(
                    each->by->process.get_executor(),
                    [this, each](const boost::system::error_code& ec, held_lock lock) {
                        end_try(*each, ec, std::move(lock));
                    }),
                each->tried.messages));
    });
}

void redlock_scenario::end_try(contender& ended, const boost::system::error_code& ec,
                               held_lock lock) {
    ended.has_ended = true;
    ended.failure = ec;
    trace_.write(ended.by->label + (lock ? " wins"
                                    : ec ? " fails: " + std::string(ended.tried.messages.message())
                                         : " is told that it is taken"));
    if (!lock || is_over_) return;
    ended.caller->lock = std::move(lock);
    note_grant(*ended.by, *ended.caller, ended.tried, *ended.caller->lock);
}

void redlock_scenario::judge_contest(const std::vector<std::shared_ptr<contender>>& contenders) {
    const auto has_won = [](const auto& each) { return each->caller->lock.has_value(); };
    if (std::ranges::any_of(contenders, has_won)) return;
    ++contests_without_winner_;
    for (const auto& each : contenders) {
        if (!each->failure) return fail("a lock that nobody has is called taken");
        if (each->failure != make_error_code(errc::no_quorum))
            return fail("an unexpected error: " + each->failure.message() + ": " +
                        std::string(each->tried.messages.message()));
    }
}

}  // namespace pawl::simulation
