// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "scenario.hpp"

#include "../server/refusals.hpp"
#include "scenario_names.hpp"
#include "simulated_operator.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

class scenario {
public:
    scenario(std::uint64_t seed, injected_bug bug, const trace::line_sink& sink,
             redis::key_layout layout)
        : plan_(make_plan(seed, layout, bug)),
          trace_(loop_, sink),
          random_(seed),
          network_(loop_, random_.fork(), plan_.network),
          key_spaces_(key_spaces_of(plan_)),
          names_(names_of(plan_)),
          invariants_(loop_, network_, plan_, trace_),
          operator_(network_, invariants_, plan_, key_spaces_, programs_) {
        for (const auto& space : key_spaces_) {
            for (const auto& name : names_)
                invariants_.add_name(space.checker_name(name), keys_in(space, name),
                                     space.options.database, is_semaphore_name(name));
            if (plan_.has_latch_users) add_latches(space);
        }
        network_.set_observer(&invariants_);
    }

    scenario_result run();

private:
    void populate();
    void add_latches(const key_space& space);
    program& add_program(const key_space& space, program::client_kind kind);
    // The programs are assigned to the key spaces in turn.
    const key_space& key_space_of(std::size_t number) const {
        return key_spaces_[number % key_spaces_.size()];
    }
    // `random_choice` is a random number; different divisors make the choices independent.
    const key_space& key_space_of(const fault& fault) const {
        return key_space_of(fault.random_choice / 31);
    }
    void plan_repairs();
    void run_to_horizon();
    void end_faults();
    void plan_stuck_waiter_check();
    void check_at_rest();
    void acquire_everything();
    void close_everything();
    void advance(instant until);
    template <class Done>
    bool advance_until(Done is_done, instant limit);
    [[nodiscard]] bool has_failed() const { return !invariants_.violation().empty(); }

    void inject_fault(const fault& fault);
    void inject_shortage(const shortage& shortage);
    void inject_server_fault(const fault& fault);
    void inject_program_fault(const fault& fault);
    void restart(const fault& fault);
    void roll_back(const fault& fault);
    void fill_memory(const fault& fault);
    void start_server();
    void evict(const fault& fault);
    void lock_as_other_library(const fault& fault);
    void start_refusing(const fault& fault);
    void stop_refusing();
    program& program_of(const fault& fault) {
        return *programs_[fault.random_choice % programs_.size()];
    }
    lock_keys keys_of(const fault& fault) const {
        return keys_in(key_space_of(fault), names_[fault.random_choice % names_.size()]);
    }
    // Times at the server are longer by the time that its clock was set back.
    [[nodiscard]] instant total_set_back() const;
    [[nodiscard]] instant longest_forgotten_hold() const;
    [[nodiscard]] instant longest_java_wait() const;

    const plan plan_;
    scheduler loop_;
    trace trace_;
    prng random_;
    simulated_network network_;
    const std::vector<key_space> key_spaces_;
    const std::vector<std::string> names_;
    checker invariants_;
    simulated_operator::program_list programs_;
    simulated_operator operator_;
    simulated_redis::snapshot backup_, restart_data_;
    std::size_t acquired_locks_ = 0;
    int refusal_number_ = 0;
    bool faults_ended_ = false;
    bool is_closing_ = false;
};

void scenario::add_latches(const key_space& space) {
    const auto add = [&](std::string_view name) {
        std::string key(keys_in(space, name).fence);
        key.back() = 'l';
        invariants_.latches().add(space.checker_name(name), {space.options.database, key, false});
    };
    add(latch_name);
    add(barrier_name);
    invariants_.latches().add(std::string(latch_name) + space.redisson_label(),
                              {space.options.database, std::string(latch_name), true});
}

program& scenario::add_program(const key_space& space, program::client_kind kind) {
    const scenario_context around{loop_, network_, invariants_, trace_, plan_, space, names_};
    const auto label = (kind == program::client_kind::java ? "J" : "P") +
                       std::to_string(programs_.size() + 1) + space.label;
    programs_.push_back(std::make_unique<program>(around, kind, label, random_.fork()));
    return *programs_.back();
}

void scenario::populate() {
    for (std::size_t i = 0; i < plan_.program_count; ++i)
        add_program(key_space_of(i), program::client_kind::pawl).start(plan_.users_per_program);
    for (std::size_t i = 0; i < plan_.java_program_count; ++i)
        add_program(key_space_of(i), program::client_kind::java).start(plan_.users_per_program);
    for (const auto& fault : plan_.faults)
        loop_.schedule_at(fault.time, [this, &fault] {
            if (!is_closing_ && loop_.now() <= plan_.horizon) inject_fault(fault);
        });
    if (plan_.has_fair_lock || plan_.has_plain_semaphore) plan_repairs();
    for (const auto& shortage : plan_.shortages)
        loop_.schedule_at(shortage.time, [this, &shortage] {
            if (!is_closing_ && loop_.now() <= plan_.horizon) inject_shortage(shortage);
        });
}

void scenario::plan_repairs() {
    loop_.schedule_after(300ms, [this] {
        if (is_closing_) return;
        operator_.repair(faults_ended_);
        plan_repairs();
    });
}

// The end of one shortage ends all shortages of the program.
void scenario::inject_shortage(const shortage& shortage) {
    auto& program = *programs_[shortage.random_choice % programs_.size()];
    if (!program.is_alive()) return;
    program.run_out_of(shortage.missing);
    loop_.schedule_after(shortage.length, [&program] { program.recover(); });
}

void scenario::advance(instant until) {
    loop_.schedule_at(until, [] {});
    loop_.run_ready();
    while (!has_failed() && loop_.next_event_at() <= until && loop_.step()) {}
}

template <class Done>
bool scenario::advance_until(Done is_done, instant limit) {
    loop_.run_ready();
    while (!has_failed() && !is_done() && loop_.next_event_at() <= limit && loop_.step()) {}
    return is_done();
}

void scenario::inject_fault(const fault& fault) {
    trace_.write("FAULT " + std::string(to_string(fault.kind)));
    switch (fault.kind) {
    case fault_kind::cut_off:
    case fault_kind::break_all:
    case fault_kind::pause:
    case fault_kind::crash:
    case fault_kind::force: return inject_program_fault(fault);
    default: return inject_server_fault(fault);
    }
}

void scenario::inject_program_fault(const fault& fault) {
    auto& program = program_of(fault);
    if (!program.is_alive()) return;
    switch (fault.kind) {
    case fault_kind::cut_off:
        network_.cut_off(program.process());
        loop_.schedule_after(fault.length,
                             [this, &program] { network_.reconnect(program.process()); });
        return;
    case fault_kind::break_all: return network_.break_all(program.process());
    case fault_kind::pause:
        program.pause();
        loop_.schedule_after(fault.length, [&program] { program.resume(); });
        return;
    case fault_kind::crash:
        program.crash();
        // A third of the crashed programs is not replaced.
        if (fault.random_choice % 3 == 0) return;
        add_program(program.context().space,
                    program.is_java() ? program::client_kind::java : program::client_kind::pawl)
            .start(plan_.users_per_program);
        return;
    default: return program.force_release(names_[fault.random_choice / 7 % names_.size()]);
    }
}

void scenario::inject_server_fault(const fault& fault) {
    if (!network_.is_up()) return;
    switch (fault.kind) {
    case fault_kind::freeze:
        network_.freeze();
        loop_.schedule_after(fault.length, [this] { network_.thaw(); });
        return;
    case fault_kind::flush:
        invariants_.note_fault(nullptr);
        return network_.change_data([](simulated_redis& server) { server.flush_all(); });
    case fault_kind::forget_scripts:
        return network_.change_data([](simulated_redis& server) { server.forget_scripts(); });
    case fault_kind::evict: return evict(fault);
    case fault_kind::clock_forward:
        invariants_.note_clock_set();
        return network_.jump_clock(fault.length / 1us);
    case fault_kind::clock_backward: return network_.jump_clock(-(fault.length / 1us));
    case fault_kind::foreign: return lock_as_other_library(fault);
    case fault_kind::refuse: return start_refusing(fault);
    case fault_kind::data_back: return roll_back(fault);
    case fault_kind::out_of_memory: return fill_memory(fault);
    default: return restart(fault);
    }
}

void scenario::restart(const fault& fault) {
    if (!network_.is_up()) return;
    if (fault.kind == fault_kind::restart_old) backup_ = network_.server().take_snapshot();
    const auto age = fault.kind == fault_kind::restart_old ? fault.length : instant{};
    // The crash occurs later than the copy, so that the data are old.
    loop_.schedule_after(age, [this, fault] {
        if (!network_.is_up() || faults_ended_) return;
        network_.stop_server();
        restart_data_ = fault.kind == fault_kind::restart       ? network_.server().take_snapshot()
                        : fault.kind == fault_kind::restart_old ? backup_
                                                                : simulated_redis::snapshot{};
        if (fault.kind == fault_kind::restart_old) invariants_.note_old_data();
        if (fault.kind == fault_kind::restart_empty) invariants_.note_fault(nullptr);
        loop_.schedule_after(std::min<instant>(fault.length, 2s), [this] { start_server(); });
    });
}

void scenario::roll_back(const fault& fault) {
    loop_.schedule_after(fault.length, [this, copy = network_.server().take_snapshot()] {
        if (!network_.is_up() || faults_ended_) return;
        invariants_.note_live_rollback();
        network_.change_data([&](simulated_redis& server) { server.roll_back(copy); });
    });
}

void scenario::fill_memory(const fault& fault) {
    network_.change_data([](simulated_redis& server) { server.set_out_of_memory(true); });
    loop_.schedule_after(fault.length, [this] {
        network_.change_data([](simulated_redis& server) { server.set_out_of_memory(false); });
    });
}

void scenario::start_server() {
    if (!network_.is_up()) network_.start_server(restart_data_);
}

void scenario::evict(const fault& fault) {
    const auto lock_keys = keys_of(fault);
    const auto name = key_space_of(fault).checker_name(names_[fault.random_choice % names_.size()]);
    const auto keys = lock_keys.all();
    // The queue of a fair lock consists of several keys, and Java does not expect that only some of
    // them exist. So in Redisson's layout only the lock and the counter are evicted.
    const bool is_redisson = plan_.layout == redis::key_layout::redisson;
    const auto key_count = is_redisson ? 2 : keys.size();
    // Java's release of a permit would begin a new number of free permits.
    const bool keeps_permits = is_redisson && lock_keys.lock == semaphore_name;
    const auto key_index = keeps_permits ? 1 : fault.random_choice / 5 % key_count;
    const std::string key(keys[key_index]);
    if (key != lock_keys.fence && key != lock_keys.queue && key != lock_keys.waiters)
        invariants_.note_fault(&name);
    network_.change_data(
        [&](simulated_redis& server) { server.evict(key_space_of(fault).options.database, key); });
}

// Another library acquires the lock by SET NX PX and releases it later.
void scenario::lock_as_other_library(const fault& fault) {
    const std::string key(keys_of(fault).lock);
    const auto value = "foreign-" + std::to_string(fault.time.count());
    const auto ttl = std::max<std::int64_t>(fault.length / 1ms, 1);
    const auto database = key_space_of(fault).options.database;
    network_.change_data([&](simulated_redis& server) {
        static_cast<void>(server.execute(0, {"SELECT", std::to_string(database)}));
        static_cast<void>(server.execute(0, {"SET", key, value, "NX", "PX", std::to_string(ttl)}));
    });
    loop_.schedule_after(fault.length / 2, [this, database, key, value] {
        if (network_.server().data(database).text_of(key) == value)
            network_.change_data([&](simulated_redis& server) { server.evict(database, key); });
    });
}

// A later refusal replaces the current one.
void scenario::start_refusing(const fault& fault) {
    const auto& refusal = refusals[fault.random_choice % refusals.size()];
    trace_.write("the server refuses scripts: " +
                 std::string(refusal.error.substr(0, refusal.error.find(' '))));
    network_.refuse(std::string(refusal.error), refusal.at_once);
    invariants_.set_refusing(true);
    loop_.schedule_after(fault.length, [this, number = ++refusal_number_] {
        if (number == refusal_number_) stop_refusing();
    });
}

void scenario::stop_refusing() {
    network_.refuse({}, false);
    invariants_.set_refusing(false);
}

instant scenario::total_set_back() const {
    instant all{};
    for (const auto& fault : plan_.faults)
        if (fault.kind == fault_kind::clock_backward) all += fault.length;
    return all;
}

// A server with older data keeps released locks until their leases end.
instant scenario::longest_forgotten_hold() const {
    const auto is_old = [](const fault& fault) {
        return fault.kind == fault_kind::restart_old || fault.kind == fault_kind::data_back;
    };
    // A lock that a program has no memory to release also ends with its lease.
    // So does a lock that Java was granted without a reply.
    const bool given_up = !plan_.shortages.empty() || plan_.java_program_count > 0;
    return given_up || std::ranges::any_of(plan_.faults, is_old) ? plan_.behaviour.longest_ttl
                                                                 : instant{};
}

// A Java thread in a fair lock's queue that misses its message sleeps for five minutes for each
// thread before it, and the waiters behind it wait as long.
instant scenario::longest_java_wait() const {
    if (!plan_.has_fair_lock) return {};
    return 301s * static_cast<int>(programs_.size() * plan_.users_per_program);
}

void scenario::run_to_horizon() { advance(plan_.horizon); }

// All faults end. Then every waiter must be served in time (I6: no user waits for ever).
void scenario::end_faults() {
    trace_.write("all faults end");
    faults_ended_ = true;
    network_.stop_faults();
    network_.thaw();
    network_.change_data([](simulated_redis& server) { server.set_out_of_memory(false); });
    start_server();
    stop_refusing();
    for (const auto& program : programs_) {
        if (!program->is_alive()) continue;
        network_.reconnect(program->process());
        program->recover();
        program->resume();
        program->finish();
    }
    if (plan_.has_latch_waiters) plan_stuck_waiter_check();
    const auto users = static_cast<int>(programs_.size() * plan_.users_per_program);
    const auto limit = loop_.now() + 20s + 2 * instant(plan_.reply_timeout) + total_set_back() +
                       2 * instant(plan_.behaviour.longest_ttl) + users * 4s + longest_java_wait();
    const bool all_finished = advance_until(
        [this] {
            return std::ranges::all_of(programs_,
                                       [](const auto& program) { return program->has_finished(); });
        },
        limit);
    if (!all_finished && !has_failed()) invariants_.fail("I6", "a user waits for ever");
}

// A stuck waiter is a user that still waits for a latch that is at 0. A waiter checks its latch
// every 4 to 6 s, and may first have to reconnect, or to pause after a failure.
void scenario::plan_stuck_waiter_check() {
    invariants_.latches().note_faults_ended();
    const auto slept = 6s + 4s + 2 * instant(plan_.reply_timeout);
    loop_.schedule_after(slept, [this] {
        if (is_closing_) return;
        invariants_.latches().expect_no_stuck_waiters();
        for (const auto& each : programs_)
            if (each->is_alive()) each->stop_waiting();
    });
}

// All users have finished, so no lock may remain. A hold that could not be released ends with its
// lease, which is longer if the clock was set back.
void scenario::check_at_rest() {
    advance(loop_.now() + 4s + 2 * instant(plan_.reply_timeout) + longest_forgotten_hold() +
            total_set_back());
    if (has_failed()) return;
    invariants_.expect_no_locks();
    acquire_everything();
    // The queue of dead waiters expires after 12 s.
    advance(loop_.now() + 12s + 2 * instant(plan_.reply_timeout) + total_set_back());
    if (has_failed()) return;
    invariants_.expect_no_waiters();
    for (const auto& program : programs_)
        if (program->is_alive()) program->dismiss_users();
    loop_.run_ready();
    for (const auto& program : programs_)
        if (program->is_alive()) program->check_idle_memory();
}

// The locks of dead programs are free after one ttl.
void scenario::acquire_everything() {
    for (const auto& space : key_spaces_) {
        auto& last = add_program(space, program::client_kind::pawl);
        for (const auto& name : names_) {
            auto handler = [this](const boost::system::error_code& ec, const held_lock& lock) {
                if (!ec && lock) ++acquired_locks_;
            };
            lock_options options;
            options.fair = name == fair_name;
            if (is_semaphore_name(name) && plan_.layout == redis::key_layout::redisson) {
                options.mode = lock_mode::permits;
                options.permits = options.total_permits = semaphore_permits;
            }
            last.locks_for(name).async_acquire(name, options, handler);
        }
    }
    const auto limit = loop_.now() + instant(plan_.behaviour.longest_ttl) + 2s + total_set_back();
    const bool all =
        advance_until([&] { return acquired_locks_ == names_.size() * key_spaces_.size(); }, limit);
    if (!all && !has_failed())
        invariants_.fail("I6", "a lock of a dead program stays locked beyond its ttl");
}

// Destroys all clients, also those of dead programs. Then no event and no timer may remain (I7).
void scenario::close_everything() {
    is_closing_ = true;
    network_.set_observer(nullptr);
    for (const auto& program : programs_)
        program->close_clients();
    loop_.run_ready();
    // The server may still track a lock's counter for a client's cache. The counter expires after a
    // day, which is an event.
    const auto limit = loop_.now() + 48h;
    auto steps_left = 1'000'000;  // far more than necessary
    while (--steps_left > 0 && loop_.next_event_at() <= limit && loop_.step()) {}
    if (!loop_.is_idle()) invariants_.fail("I7", "an event remains after the end of all clients");
    if (plan_.layout == redis::key_layout::redisson && !has_failed()) {
        loop_.run_for(total_set_back() + instant(plan_.behaviour.longest_ttl) + 1min);
        invariants_.expect_no_redisson_keys();
    }
    for (const auto& program : programs_)
        program->check_no_memory();
    for (const auto& program : programs_)
        if (program->pending_timers() != 0)
            invariants_.fail("I7", program->label() + " left a timer behind");
}

scenario_result scenario::run() {
    populate();
    run_to_horizon();
    if (!has_failed()) end_faults();
    if (!has_failed()) check_at_rest();
    close_everything();
    return {plan_.seed,    invariants_.violation(), trace_.hash(), trace_.events(),
            loop_.steps(), invariants_.grants(),    loop_.now()};
}

}  // namespace

scenario_result run_scenario(std::uint64_t seed, injected_bug bug, const trace::line_sink& sink,
                             redis::key_layout layout) {
    set_current_seed(seed);
    // Asio uses the blocks of finished operations again only on a thread that runs an io_context.
    boost::asio::io_context context;
    scenario_result result;
    boost::asio::post(context, [&] { result = scenario(seed, bug, sink, layout).run(); });
    context.run();
    return result;
}

}  // namespace pawl::simulation
