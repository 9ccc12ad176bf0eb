// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The scenario of one seed with one server or several: programs, users and servers, from the start
// until all have ended.
#include "../../kernel/process_resources.hpp"
#include "../scenarios.hpp"
#include "program.hpp"
#include "server_faults.hpp"
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
          networks_(make_networks()),
          servers_(servers_of(networks_)),
          key_spaces_(key_spaces_of(plan_)),
          names_(names_of(plan_)),
          invariants_(loop_, servers_, plan_, trace_),
          operator_(*servers_.front(), invariants_, plan_, key_spaces_, programs_) {
        for (const auto& space : key_spaces_) {
            for (const auto& name : names_)
                invariants_.add_name(space.checker_name(name), keys_in(space, name),
                                     space.options.database, is_semaphore_name(name));
            if (plan_.has_latch_users) add_latches(space);
        }
        for (std::size_t i = 0; i < servers_.size(); ++i)
            add_server(i);
    }

    scenario_result run();

private:
    using network_list = std::vector<std::unique_ptr<simulated_network>>;
    [[nodiscard]] network_list make_networks();
    [[nodiscard]] static std::vector<simulated_network*> servers_of(const network_list& networks);
    void add_server(std::size_t number);
    void populate();
    void add_latches(const key_space& space);
    program& add_program(const key_space& space, program::client_kind kind);
    // The programs are assigned to the key spaces in turn.
    const key_space& key_space_of(std::size_t number) const {
        return key_spaces_[number % key_spaces_.size()];
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
    void inject_program_fault(const fault& fault);
    // The servers that a program's fault affects.
    [[nodiscard]] std::vector<simulated_network*> servers_of(const fault& fault) const;
    program& program_of(const fault& fault) {
        return *programs_[fault.random_choice % programs_.size()];
    }
    // Times at the server are longer by the time that its clock was set back.
    [[nodiscard]] instant total_set_back() const;
    [[nodiscard]] instant longest_forgotten_hold() const;
    [[nodiscard]] instant longest_java_wait() const;

    const plan plan_;
    scheduler loop_;
    trace trace_;
    prng random_;
    const network_list networks_;
    const std::vector<simulated_network*> servers_;  // the same
    const std::vector<key_space> key_spaces_;
    const std::vector<std::string> names_;
    checker invariants_;
    std::vector<std::unique_ptr<server_faults>> server_faults_;  // in the order of the servers
    simulated_operator::program_list programs_;
    simulated_operator operator_;
    std::size_t acquired_locks_ = 0;
    bool faults_ended_ = false;
    bool is_closing_ = false;
};

scenario::network_list scenario::make_networks() {
    network_list result;
    for (const auto& each : plan_.servers) {
        const auto letter = static_cast<char>('a' + static_cast<char>(result.size()));
        const auto name = plan_.servers.size() == 1 ? std::string() : std::string(1, letter);
        result.push_back(
            std::make_unique<simulated_network>(loop_, random_.fork(), each.network, name));
        result.back()->jump_clock(each.clock_offset / 1us);
        if (plan_.is_cluster_node) result.back()->server().join_cluster();
    }
    return result;
}

std::vector<simulated_network*> scenario::servers_of(const network_list& networks) {
    std::vector<simulated_network*> result;
    for (const auto& each : networks)
        result.push_back(each.get());
    return result;
}

void scenario::add_server(std::size_t number) {
    servers_[number]->set_observer(&invariants_);
    auto names = names_;
    std::erase_if(names, [&](const auto& name) { return plan_.server_of(name) != number; });
    server_faults_.push_back(std::make_unique<server_faults>(loop_, *servers_[number],
                                                             invariants_.facts(), trace_, plan_,
                                                             key_spaces_, std::move(names)));
}

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
    const scenario_context around{loop_, servers_, invariants_, trace_, plan_, space, names_};
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
    if (plan_.has_fair_lock || plan_.has_plain_semaphore || plan_.has_endless_permits)
        plan_repairs();
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
    const auto where =
        servers_.size() == 1 || !fault.server
            ? std::string()
            : std::string(" ") + static_cast<char>('a' + static_cast<char>(*fault.server));
    trace_.write("FAULT " + std::string(to_string(fault.kind)) + where);
    switch (fault.kind) {
    case fault_kind::cut_off:
    case fault_kind::break_all:
    case fault_kind::pause:
    case fault_kind::crash:
    case fault_kind::force: return inject_program_fault(fault);
    default: return server_faults_[*fault.server]->inject(fault);
    }
}

std::vector<simulated_network*> scenario::servers_of(const fault& fault) const {
    std::vector<simulated_network*> result;
    for (std::size_t i = 0; i < servers_.size(); ++i)
        if (fault.server ? *fault.server == i : !plan_.servers[i].is_calm)
            result.push_back(servers_[i]);
    return result;
}

void scenario::inject_program_fault(const fault& fault) {
    auto& program = program_of(fault);
    if (!program.is_alive()) return;
    switch (fault.kind) {
    case fault_kind::cut_off:
        for (auto* server : servers_of(fault)) {
            server->cut_off(program.process);
            loop_.schedule_after(fault.length,
                                 [server, &program] { server->reconnect(program.process); });
        }
        return;
    case fault_kind::break_all:
        for (auto* server : servers_of(fault))
            server->break_all(program.process);
        return;
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
    default:
        return program.force_release(names_[fault.random_choice / 7 % names_.size()],
                                     fault.random_choice / 100 % 2 == 0);
    }
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
    for (const auto& each : server_faults_)
        each->end_all();
    for (const auto& program : programs_) {
        if (!program->is_alive()) continue;
        for (auto* server : servers_)
            server->reconnect(program->process);
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
    for (const auto& program : programs_)
        if (program->is_alive()) program->check_losses();
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
    for (auto* server : servers_)
        server->set_observer(nullptr);
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
            invariants_.fail("I7", program->label + " left a timer behind");
}

scenario_result scenario::run() {
    populate();
    run_to_horizon();
    if (!has_failed()) end_faults();
    if (!has_failed()) check_at_rest();
    close_everything();
    const auto kind =
        plan_.servers.size() == 1 ? scenario_kind::single_server : scenario_kind::several_servers;
    return {plan_.seed,    invariants_.violation(), trace_.hash(), trace_.events(),
            loop_.steps(), invariants_.grants(),    loop_.now(),   kind};
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
