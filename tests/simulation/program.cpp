#include "program.hpp"

#include "barrier_user.hpp"
#include "dwelling.hpp"
#include "latch_user.hpp"
#include "latch_waiter.hpp"
#include "set_user.hpp"
#include "user.hpp"

#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <type_traits>

namespace asio = boost::asio;

namespace pawl::simulation {
namespace {

time_point some_start(prng& chance) {
    return time_point(duration(chance.between(0, 1'000'000'000'000)));
}

// What an idle client has at most, each user's question beside it, and each request that is to be
// undone.
constexpr std::size_t idle_memory = 12288;
constexpr std::size_t question_memory = 8192;
constexpr std::size_t undo_memory = 4096;
// Of the executor, which outlives its client.
constexpr std::size_t left_memory = 1024;

double some_rate(prng& chance, double most) {
    return 1 + most * static_cast<double>(chance.between(-1000, 1000)) / 1000;
}

}  // namespace

program::program(const surroundings& around, std::string label, prng chance)
    : around_(around),
      label_(std::move(label)),
      chance_(chance),
      process_(around.world, some_start(chance_), some_rate(chance_, around.what.clocks_differ)),
      time_(process_, chance_.fork()) {
    if (around.what.net.bug == planted::callbacks_on_one_thread) time_.use_one_thread();
    if (around.what.net.bug == planted::waits_without_timer) time_.lose_timers();
    const auto named = identity_of(label_, time_);
    const allocating_for the_library(&process_.has().memory());
    client_.emplace(process_.get_executor(),
                    simulated_service(around.network, process_, around.at.where, around.what.bounds,
                                      around.what.net.bug),
                    named);
    if (!around.what.redisson) return;
    redisson_.emplace(process_.get_executor(),
                      simulated_service(around.network, process_, around.at.redisson(),
                                        around.what.bounds, around.what.net.bug),
                      named);
}

program::~program() = default;

void program::start(std::size_t users) {
    for (std::size_t i = 0; i < users; ++i) {
        const auto name = label_ + static_cast<char>('a' + static_cast<char>(i));
        // Where nobody does, chance is not asked: those worlds stay as they were.
        const auto share = around_.what.users.sets;
        if (share > 0 && chance_.chance(share))
            users_.push_back(std::make_unique<set_user>(*this, name, chance_.fork()));
        else
            users_.push_back(std::make_unique<user>(*this, name, chance_.fork()));
        users_.back()->start();
    }
    if (around_.what.steps) add_latch_users();
}

void program::add_latch_users() {
    const auto add = [this]<class User>(std::type_identity<User>, const char* label,
                                        bool redisson) {
        users_.push_back(std::make_unique<User>(*this, label_ + label, chance_.fork(), redisson));
        users_.back()->start();
    };
    constexpr std::type_identity<latch_user> user;
    constexpr std::type_identity<latch_waiter> waiter;
    add(user, "steps", false);
    if (!around_.what.waits) return;
    add(waiter, "waits", false);
    users_.push_back(std::make_unique<barrier_user>(*this, label_ + "turns", chance_.fork()));
    users_.back()->start();
    if (!around_.what.redisson) return;
    add(user, "java steps", true);
    add(waiter, "java waits", true);
}

void program::pause() {
    around_.log.say(label_ + " stopped");
    process_.pause();
}

void program::resume() {
    if (!alive_ || !process_.paused()) return;
    around_.log.say(label_ + " goes on");
    process_.resume();
}

void program::crash() {
    around_.log.say(label_ + " killed");
    alive_ = false;
    process_.pause();
    around_.network.ban(process_);
    around_.judge.died(process_);
    for (const auto& one : users_)
        one->die();
}

void program::finish() {
    for (const auto& one : users_)
        one->finish();
}

void program::stop_waiting() {
    process_.post([this] {
        for (const auto& each : users_)
            each->stop_waiting();
    });
}

bool program::finished() const {
    return std::ranges::all_of(users_, [](const auto& one) { return one->finished(); });
}

void program::force_release(const std::string& name) {
    auto done = [this](const boost::system::error_code& ec, bool found) {
        const own_bookkeeping uncounted;
        around_.log.say(label_ + " forced: " + (ec ? ec.message() : found ? "yes" : "nobody"));
    };
    process_.post([this, name, done] {
        if (client_)
            client_->async_force_release(name, asio::bind_executor(process_.get_executor(), done));
    });
}

void program::run_out_of(resource which) {
    around_.log.say(label_ + " runs out of " + std::string(to_string(which)));
    process_.has().run_out_of(which);
}

void program::recover() {
    if (!process_.has().ever_short()) return;
    around_.log.say(label_ + " has all that it needs");
    process_.has().recover();
}

// A server that says nothing leaves undone what may have to be undone, up to the client's bound.
void program::check_memory() const {
    const auto bytes = process_.has().memory().bytes();
    const auto undos =
        std::min(process_.hold_requests(), clients() * (2 * around_.what.bounds.undos + 1));
    const auto most =
        clients() * idle_memory + users_.size() * question_memory + undos * undo_memory;
    if (bytes > most)
        around_.judge.fail("I16", label_ + " has " + std::to_string(bytes) + " bytes for " +
                                      std::to_string(users_.size()) + " users and at most " +
                                      std::to_string(undos) + " undos");
}

void program::check_idle_memory() const {
    const auto bytes = process_.has().memory().bytes();
    if (bytes > clients() * idle_memory)
        around_.judge.fail("I16", label_ + " holds nothing, waits for nothing, and has " +
                                      std::to_string(bytes) + " bytes");
}

void program::check_no_memory() const {
    const auto bytes = process_.has().memory().bytes();
    if (bytes > left_memory)
        around_.judge.fail(
            "I16", label_ + " has no client any more, and " + std::to_string(bytes) + " bytes");
}

void program::dismiss_users() {
    process_.post([this] {
        const own_bookkeeping uncounted;
        for (const auto& one : users_)
            one->die();
    });
}

void program::end() {
    process_.resume();
    dismiss_users();
    process_.post([this] {
        client_.reset();
        redisson_.reset();
    });
}

}  // namespace pawl::simulation
