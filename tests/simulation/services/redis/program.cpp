// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "program.hpp"

#include "latch_users.hpp"
#include "lock_user.hpp"
#include "set_user.hpp"

#include "../../java/java_client.hpp"
#include "../../java/java_user.hpp"

#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <type_traits>

namespace asio = boost::asio;

namespace pawl::simulation {
namespace {

// As it is after so many choices: arguments are evaluated in any order.
prng after(prng random, int choices) {
    while (choices-- > 0)
        static_cast<void>(random.next());
    return random;
}

time_point random_start(prng random) {
    return time_point(duration(random.between(0, 1'000'000'000'000)));
}

// The most memory of an idle client, of its link to each further server, of each user's request,
// and of each request that may have to be undone.
constexpr std::size_t idle_memory = 16384;
constexpr std::size_t link_memory = 2560;
constexpr std::size_t request_memory = 8192;
constexpr std::size_t undo_memory = 4096;
// The memory of the executor, which outlives its client.
constexpr std::size_t remaining_memory = 1024;

double random_rate(prng random, double most) {
    return 1 + most * static_cast<double>(random.between(-1000, 1000)) / 1000;
}

}  // namespace

program::program(const scenario_context& context, client_kind kind, std::string name,
                 const prng& random)
    : simulated_program(context.loop, std::move(name), random_start(after(random, 1)),
                        random_rate(random, context.scenario_plan.clock_rate_spread),
                        after(random, 2).fork()),
      context_(context),
      random_(after(random, 3)) {
    if (kind == client_kind::java)
        make_java_client();
    else
        make_pawl_clients();
}

void program::make_java_client() {
    const auto& behaviour = context_.scenario_plan.behaviour;
    // The watchdog of a Java reader sets the lease of the whole lock, so it must not be shorter
    // than the ttl of any reader: docs/backends/redisson.md.
    watchdog_timeout_ = std::chrono::ceil<std::chrono::milliseconds>(
        context_.scenario_plan.has_all_modes
            ? behaviour.longest_ttl
            : duration(
                  random_.between(behaviour.shortest_ttl.count(), behaviour.longest_ttl.count())));
    java_ = std::make_unique<java_client>(*context_.servers.front(), process, time,
                                          context_.space.options, context_.scenario_plan.bug);
}

void program::make_pawl_clients() {
    if (context_.scenario_plan.bug == injected_bug::callbacks_on_one_thread) time.use_one_thread();
    if (context_.scenario_plan.bug == injected_bug::wait_without_timer) time.use_lost_timers();
    const allocation_scope the_library(&process.resources().memory());
    make_client(locks, context_.space.options);
    if (context_.scenario_plan.has_redisson_latches)
        make_client(redisson_, context_.space.redisson_options());
    auto read_write = context_.space.options;
    read_write.object = redis::redisson_object::readwrite;
    const bool is_redisson = read_write.layout == redis::key_layout::redisson;
    if (is_redisson && context_.scenario_plan.has_all_modes) make_client(read_write_, read_write);
    auto semaphore = context_.space.options;
    semaphore.object = redis::redisson_object::semaphore;
    if (context_.scenario_plan.has_plain_semaphore) make_client(semaphore_, semaphore);
}

void program::make_client(std::optional<client>& place, const redis::options& options) {
    const auto& scenario_plan = context_.scenario_plan;
    const auto named = client_options_for(label, time);
    place.emplace(process.get_executor(),
                  simulated_service(context_.servers, process, options, scenario_plan.limits,
                                    scenario_plan.bug),
                  named);
}

program::~program() = default;

void program::start(std::size_t users) {
    for (std::size_t i = 0; i < users; ++i) {
        const auto name = label + static_cast<char>('a' + static_cast<char>(i));
        if (is_java()) {
            users_.push_back(std::make_unique<java_user>(*this, name, random_.fork(), i + 1));
            users_.back()->start();
            continue;
        }
        // Without sets no random choice is made, so that such scenarios stay the same.
        const auto share = context_.scenario_plan.behaviour.takes_sets;
        if (share > 0 && random_.happens(share))
            users_.push_back(std::make_unique<set_user>(*this, name, random_.fork()));
        else
            users_.push_back(std::make_unique<lock_user>(*this, name, random_.fork()));
        users_.back()->start();
    }
    if (context_.scenario_plan.has_latch_users && !is_java()) add_latch_users();
}

void program::add_latch_users() {
    const auto add = [this]<class User>(std::type_identity<User>, const char* suffix,
                                        bool redisson) {
        users_.push_back(std::make_unique<User>(*this, label + suffix, random_.fork(), redisson));
        users_.back()->start();
    };
    constexpr std::type_identity<latch_user> user;
    constexpr std::type_identity<latch_waiter> waiter;
    add(user, "steps", false);
    if (!context_.scenario_plan.has_latch_waiters) return;
    add(waiter, "waits", false);
    users_.push_back(std::make_unique<barrier_user>(*this, label + "turns", random_.fork()));
    users_.back()->start();
    if (!context_.scenario_plan.has_redisson_latches) return;
    add(user, "java steps", true);
    add(waiter, "java waits", true);
}

void program::pause() {
    context_.log.write(label + " stopped");
    process.pause();
}

void program::resume() {
    if (!is_alive_ || !process.is_paused()) return;
    context_.log.write(label + " continues");
    process.resume();
}

void program::crash() {
    context_.log.write(label + " killed");
    is_alive_ = false;
    process.pause();
    for (auto* server : context_.servers)
        server->ban(process);
    context_.invariants.note_crash(process);
    for (const auto& user : users_)
        user->abandon();
}

void program::finish() {
    for (const auto& user : users_)
        user->finish();
}

void program::stop_waiting() {
    process.post([this] {
        for (const auto& each : users_)
            each->stop_waiting();
    });
}

bool program::has_finished() const {
    return std::ranges::all_of(users_, [](const auto& user) { return user->has_finished(); });
}

// The operator thinks for a while, and another hold may have begun meanwhile.
void program::force_release(const std::string& name, bool by_token) {
    if (!by_token || is_java()) return send_force_release(name, {});
    auto decide = [this, name](const boost::system::error_code& ec, const lock_info& shown) {
        const uncounted_allocations uncounted;
        if (ec || !shown.held_by || !shown.held_by->token) return;
        const instant pause(random_.between(0, 300'000'000));
        context_.loop.schedule_after(pause, [this, name, token = shown.held_by->token] {
            if (is_alive_) send_force_release(name, token);
        });
    };
    process.post([this, name, decide] {
        if (locks) locks->async_inspect(name, asio::bind_executor(process.get_executor(), decide));
    });
}

void program::send_force_release(const std::string& name, fencing_token expected) {
    if (!is_java())
        context_.invariants.note_force(process, context_.space.checker_name(name),
                                       expected ? expected.value() : any_token);
    auto handler = [this](const boost::system::error_code& ec, bool released) {
        const uncounted_allocations uncounted;
        context_.log.write(label + " force_release: " +
                           (ec         ? ec.message()
                            : released ? "released"
                                       : "no holder"));
    };
    process.post([this, name, expected, handler] {
        if (locks)
            locks->async_force_release(name, expected,
                                       asio::bind_executor(process.get_executor(), handler));
    });
}

void program::check_losses() const {
    for (const auto& [counting, seen] : losses_) {
        const auto counted = counting->statistics();
        if (counted.losses + counted.late_releases < seen)
            context_.invariants.fail(
                "I17", label + " has counted " + std::to_string(counted.losses) + " losses and " +
                           std::to_string(counted.late_releases) +
                           " late releases, and its users have seen " + std::to_string(seen));
    }
}

// The memory of Java programs is not examined.
void program::run_out_of(resource kind) {
    if (is_java()) return;
    context_.log.write(label + " runs out of " + std::string(to_string(kind)));
    process.resources().run_out_of(kind);
}

void program::recover() {
    if (!process.resources().has_ever_run_short()) return;
    context_.log.write(label + " has all resources again");
    process.resources().recover();
}

// While the server is silent, undos accumulate up to the client's limit.
std::size_t program::most_undos() const {
    return std::min(process.hold_requests(), client_count() * context_.servers.size() *
                                                 (2 * context_.scenario_plan.limits.max_undos + 1));
}

std::size_t program::idle_client_memory() const {
    return idle_memory + (context_.servers.size() - 1) * link_memory;
}

void program::check_memory() const {
    if (is_java()) return;
    const auto bytes = process.resources().memory().bytes();
    const auto undos = most_undos();
    const auto most = client_count() * idle_client_memory() + users_.size() * request_memory +
                      undos * undo_memory;
    if (bytes > most)
        context_.invariants.fail("I16", label + " has " + std::to_string(bytes) + " bytes for " +
                                            std::to_string(users_.size()) + " users and at most " +
                                            std::to_string(undos) + " undos");
}

void program::check_idle_memory() const {
    if (is_java()) return;
    const auto bytes = process.resources().memory().bytes();
    // The undo of a Semaphore's request is kept and repeated for a day.
    const auto undo_bytes = semaphore_ ? most_undos() * undo_memory : 0;
    if (bytes > client_count() * idle_client_memory() + undo_bytes)
        context_.invariants.fail("I16",
                                 label + " has no users and " + std::to_string(bytes) + " bytes");
}

void program::check_no_memory() const {
    if (is_java()) return;
    const auto bytes = process.resources().memory().bytes();
    if (bytes > remaining_memory)
        context_.invariants.fail("I16",
                                 label + " has no client and " + std::to_string(bytes) + " bytes");
}

void program::dismiss_users() {
    process.post([this] {
        const uncounted_allocations uncounted;
        for (const auto& user : users_)
            user->abandon();
    });
}

void program::close_clients() {
    process.resume();
    dismiss_users();
    process.post([this] {
        locks.reset();
        redisson_.reset();
        read_write_.reset();
        semaphore_.reset();
        if (is_java()) java_->close();
    });
}

}  // namespace pawl::simulation
