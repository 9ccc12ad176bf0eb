// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The faults of a scenario with Redlock, its operators, and its contests.
#include "redlock_scenario.hpp"

#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <utility>

using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace pawl::simulation {

void redlock_scenario::disturb() {
    nodes_.note_backup();
    if (plan_.forgets && random_.happens(0.6)) nodes_.forget_some();
    if (plan_.forgets_in_turn && random_.happens(0.5)) nodes_.forget_in_turn();
    if (plan_.stops_nodes && random_.happens(0.6)) nodes_.freeze_some();
    for (std::size_t i = 0; i < plan_.evictions; ++i)
        nodes_.evict_a_key();
    if (plan_.moves_clocks && random_.happens(0.6)) nodes_.jump_a_clock();
    if (plan_.replaces_servers) replace_a_server();
    if (client_with_other_names_) ask_with_other_names();
    if (plan_.rolls_back) nodes_.roll_back_later();
    if (plan_.partitions && random_.happens(0.6)) cut_off_a_program(50ms, 4s);
    if (plan_.pauses && random_.happens(0.5)) stop_a_program(100ms, 5s);
    if (plan_.forces && random_.happens(0.7)) force_a_release();
    for (int i = 0; plan_.judges_releases && i < 6; ++i) {
        loop_.run_for(random_.between(50ms, 400ms));
        force_a_release();
    }
    if (plan_.restarts_set && random_.happens(0.3)) begin_set_anew();
    if (plan_.dies && random_.happens(0.2)) kill_a_program();
}

// Afterwards some programs change between the servers of a name.
void redlock_scenario::replace_a_server() {
    std::vector<simulated_process*> processes;
    for (const auto& each : programs_)
        processes.push_back(&each->process);
    if (random_.happens(0.6)) nodes_.replace_a_server(processes);
    for (int i = 0; i < 4; ++i)
        loop_.schedule_after(random_.between(0ms, 2s), [this] { nodes_.change_routes(); });
}

// It must get no lock, and take none from those who have it.
void redlock_scenario::ask_with_other_names() {
    const auto& name = random_name();
    client_with_other_names_->process.post([this, &name] {
        const auto ignore = [](const boost::system::error_code&, auto&&) {};
        const auto executor = client_with_other_names_->process.get_executor();
        trace_.write("the client with other names asks for " + name);
        client_with_other_names_->locks->async_inspect(name, asio::bind_executor(executor, ignore));
        client_with_other_names_->locks->async_list("", asio::bind_executor(executor, ignore));
        client_with_other_names_->locks->async_try_acquire(
            name, {.ttl = plan_.shortest_ttl},
            asio::bind_executor(executor, [this](const boost::system::error_code&, held_lock lock) {
                if (lock) fail("a client that names the nodes in another way has a lock");
            }));
    });
}

void redlock_scenario::kill_a_program() {
    auto& affected = *programs_.back();
    if (kill(affected)) nodes_.ban(affected.process);
}

void redlock_scenario::force_a_release() {
    auto& by = *programs_.front();
    if (by.process.is_paused()) return;
    const auto name = random_name();
    if (plan_.forces_by_token && !plan_.judges_releases && random_.happens(0.7))
        return force_a_release_by_token(by, name);
    // The other nodes keep the hold, and its holder hears nothing.
    if (plan_.judges_releases) {
        nodes_.cut_off_from_minority(by.process);
        loop_.schedule_after(600ms, [this, &by] { nodes_.reconnect(by.process); });
    }
    force(by, name, {});
}

// An operator looks at a hold, and decides. A later hold is none of its business.
void redlock_scenario::force_a_release_by_token(program& by, const std::string& name) {
    by.process.post([this, &by, name] {
        if (is_over_) return;
        const auto decide = [this, &by, name](const boost::system::error_code& ec,
                                              const lock_info& shown) {
            if (ec || !shown.held_by || is_over_) return;
            const auto token = shown.held_by->token;
            trace::line(trace_) << by.label << " sees token "
                                << static_cast<std::int64_t>(token.value()) << " of " << name;
            loop_.schedule_after(random_.between(0ms, 800ms),
                                 [this, &by, name, token] { force(by, name, token); });
        };
        by.locks->async_inspect(name, by.run_in_process(decide));
    });
}

void redlock_scenario::force(program& by, const std::string& name, fencing_token expected) {
    if (is_over_ || by.is_dead) return;
    trace_.write(by.label + " forces the release of " + name +
                 (expected ? " with token " + to_string(expected) : ""));
    const auto began_at = loop_.now();
    const auto most = expected ? expected.value() : redlock_checker::any_token;
    holds_.note_interference(name, most);
    const auto note_end = [this, name, began_at, most](const boost::system::error_code& ec,
                                                       bool has_ended) {
        const bool is_certain = most == redlock_checker::any_token || has_ended;
        trace_.write("the release of " + name +
                     (ec           ? " failed: " + ec.message()
                      : is_certain ? " has been forced"
                                   : " found another holder, or none"));
        holds_.end_interference(name);
        if (!ec && is_certain) holds_.note_forced_release(name, began_at, most);
    };
    by.process.post([this, &by, name, expected, note_end] {
        if (is_over_) return;
        by.locks->async_force_release(name, expected, by.run_in_process(note_end));
    });
}

// Nobody should do this while there are holders. Even then no token may go back.
void redlock_scenario::begin_set_anew() {
    if (operator_.is_busy()) return;
    trace_.write("an operator begins the set anew");
    holds_.note_interference("");
    operator_.begin_set(true, [this](bool) { holds_.end_interference(""); });
}

namespace {

// In a contest, all users try once, at the same time, to acquire a lock that nobody has. While a
// majority of the nodes answers, one of them wins, or the tries say that there was no quorum.
// "Taken" would be a lie: a job that every host of a fleet starts at the same time would run
// nowhere.
constexpr int contests = 8;

}  // namespace

void redlock_scenario::hold_contests() {
    for (int i = 0; i < contests && !has_failed(); ++i)
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
            loop_.schedule_after(random_.between(0ms, longest_delay),
                                 [this, each] { try_once(each); });
        }
    wait_until("a try does not end", 20s, [&] {
        return std::ranges::all_of(contenders, [](const auto& each) { return each->has_ended; });
    });
    if (!has_failed()) judge_contest(contenders);
    for (const auto& each : contenders) {
        for (auto* const hold : each->caller->beliefs)
            holds_.end(*hold);
        each->by->process.post([this, each] { retire(*each->caller); });
    }
    loop_.run_for(1ms);
    wait_until("nobody has a lock, but a node keeps it", instant(plan_.longest_ttl) + 2s,
               [&] { return !nodes_.is_locked_anywhere(name); });
    loop_.run_for(random_.between(10ms, 600ms));
}

void redlock_scenario::try_once(const std::shared_ptr<contender>& each) {
    each->tried.requested_at = loop_.now();
    each->by->process.post([this, each] {
        each->by->locks->async_try_acquire(
            each->tried.names.front(), {.ttl = plan_.longest_ttl},
            redirect_diagnostics(
                each->by->run_in_process(
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
