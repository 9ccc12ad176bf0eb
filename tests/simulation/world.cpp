#include "world.hpp"

#include "refusals.hpp"

#include <algorithm>
#include <array>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

std::vector<space> spaces_of(const plan& what) {
    redis::options made;
    made.reply_timeout = what.reply_timeout;
    made.connect_timeout =
        300ms;  // of the simulation's programs only a step's limit has to do with it
    if (what.shared_key) made.key = "{name}";
    std::vector<space> all;
    for (std::uint32_t database = 0; database < what.databases; ++database) {
        made.database = database;
        all.push_back({made, database == 0 ? "" : "/" + std::to_string(database)});
    }
    if (what.other_namespace) {
        made.database = 0;
        made.name_space = "other";
        all.push_back({made, "@other"});
    }
    return all;
}

std::vector<std::string> names_of(const plan& what) {
    constexpr std::array plain{"gate", "door", "yard", "attic"};
    std::vector<std::string> made(plain.begin(), plain.begin() + what.names);
    if (what.mixed) made.insert(made.end(), {std::string(room), std::string(pool)});
    return made;
}

class world {
public:
    world(std::uint64_t seed, planted bug, const trace::reader& shown)
        : plan_(make_plan(seed, bug)),
          log_(time_, shown),
          chance_(seed),
          network_(time_, chance_.fork(), plan_.net),
          spaces_(spaces_of(plan_)),
          names_(names_of(plan_)),
          judge_(time_, network_, plan_, log_) {
        for (const auto& at : spaces_) {
            for (const auto& name : names_)
                judge_.add_name(at.known_as(name), scheme_of(at).of(name), at.where.database,
                                name == pool);
            if (plan_.steps) add_latches(at);
        }
        network_.set_witness(&judge_);
    }

    outcome run();

private:
    void populate();
    static redis::key_scheme scheme_of(const space& at) {
        return {at.where.name_space, at.where.key, at.where.database};
    }
    void add_latches(const space& at);
    program& add_program(const space& at);
    // The programs live in them in turn.
    const space& space_of(std::size_t number) const { return spaces_[number % spaces_.size()]; }
    const space& space_of(const disturbance& one) const { return space_of(one.which / 31); }
    void live();
    void heal();
    void wake_sleepers();
    void wind_up();
    void probe();
    void unwind();
    void advance(instant until);
    template <class Done>
    bool advance_until(Done done, instant limit);
    [[nodiscard]] bool broken() const { return !judge_.violation().empty(); }

    void disturb(const disturbance& one);
    void run_short(const scarcity& one);
    void disturb_server(const disturbance& one);
    void disturb_program(const disturbance& one);
    void restart(const disturbance& one);
    void go_back(const disturbance& one);
    void fill_memory(const disturbance& one);
    void come_up();
    void evict(const disturbance& one);
    void intrude(const disturbance& one);
    void refuse(const disturbance& one);
    void accept();
    program& some_program(const disturbance& one) {
        return *programs_[one.which % programs_.size()];
    }
    redis::keys keys_of(const disturbance& one) const {
        return scheme_of(space_of(one)).of(names_[one.which % names_.size()]);
    }
    // What waits for the server's clock waits longer by what it was set back.
    [[nodiscard]] instant set_back() const;
    [[nodiscard]] instant forgotten_releases() const;

    const plan plan_;
    scheduler time_;
    trace log_;
    prng chance_;
    simulated_network network_;
    const std::vector<space> spaces_;
    const std::vector<std::string> names_;
    checker judge_;
    std::vector<std::unique_ptr<program>> programs_;
    simulated_redis::snapshot backup_, comes_up_with_;
    std::size_t probed_ = 0;
    int refusals_ = 0;
    bool healed_ = false;
    bool ending_ = false;
};

void world::add_latches(const space& at) {
    const auto add = [&](std::string_view name) {
        auto key = scheme_of(at).of(name).fence;
        key.back() = 'l';
        judge_.latches().add(at.known_as(name), {at.where.database, key, false});
    };
    add(steps);
    add(turns);
    judge_.latches().add(std::string(steps) + at.redisson_label(),
                         {at.where.database, std::string(steps), true});
}

program& world::add_program(const space& at) {
    const surroundings around{time_, network_, judge_, log_, plan_, at, names_};
    const auto label = "P" + std::to_string(programs_.size() + 1) + at.label;
    programs_.push_back(std::make_unique<program>(around, label, chance_.fork()));
    return *programs_.back();
}

void world::populate() {
    for (std::size_t i = 0; i < plan_.programs; ++i)
        add_program(space_of(i)).start(plan_.users_each);
    for (const auto& one : plan_.troubles)
        time_.at(one.at, [this, &one] {
            if (!ending_ && time_.now() <= plan_.horizon) disturb(one);
        });
    for (const auto& one : plan_.shortages)
        time_.at(one.at, [this, &one] {
            if (!ending_ && time_.now() <= plan_.horizon) run_short(one);
        });
}

// The end of one is the end of all that the program is short of then.
void world::run_short(const scarcity& one) {
    auto& who = *programs_[one.which % programs_.size()];
    if (!who.alive()) return;
    who.run_out_of(one.of);
    time_.after(one.lasts, [&who] { who.recover(); });
}

void world::advance(instant until) {
    time_.at(until, [] {});
    time_.run_ready();
    while (!broken() && time_.next() <= until && time_.step()) {}
}

template <class Done>
bool world::advance_until(Done done, instant limit) {
    time_.run_ready();
    while (!broken() && !done() && time_.next() <= limit && time_.step()) {}
    return done();
}

void world::disturb(const disturbance& one) {
    log_.say("TROUBLE " + std::string(to_string(one.what)));
    switch (one.what) {
    case trouble::cut_off:
    case trouble::break_all:
    case trouble::pause:
    case trouble::crash:
    case trouble::force: return disturb_program(one);
    default: return disturb_server(one);
    }
}

void world::disturb_program(const disturbance& one) {
    auto& who = some_program(one);
    if (!who.alive()) return;
    switch (one.what) {
    case trouble::cut_off:
        network_.cut_off(who.home());
        time_.after(one.lasts, [this, &who] { network_.reconnect(who.home()); });
        return;
    case trouble::break_all: return network_.break_all(who.home());
    case trouble::pause:
        who.pause();
        time_.after(one.lasts, [&who] { who.resume(); });
        return;
    case trouble::crash:
        who.crash();
        if (one.which % 3 == 0) return;
        add_program(who.around().at).start(plan_.users_each);
        return;
    default: return who.force_release(names_[one.which / 7 % names_.size()]);
    }
}

void world::disturb_server(const disturbance& one) {
    if (!network_.up()) return;
    switch (one.what) {
    case trouble::freeze:
        network_.freeze();
        time_.after(one.lasts, [this] { network_.thaw(); });
        return;
    case trouble::flush:
        judge_.disturbed(nullptr);
        return network_.disturb([](simulated_redis& server) { server.flush_all(); });
    case trouble::forget_scripts:
        return network_.disturb([](simulated_redis& server) { server.forget_scripts(); });
    case trouble::evict: return evict(one);
    case trouble::clock_forward: judge_.clock_set(); return network_.jump_clock(one.lasts / 1us);
    case trouble::clock_backward: return network_.jump_clock(-(one.lasts / 1us));
    case trouble::foreign: return intrude(one);
    case trouble::refuse: return refuse(one);
    case trouble::data_back: return go_back(one);
    case trouble::out_of_memory: return fill_memory(one);
    default: return restart(one);
    }
}

void world::restart(const disturbance& one) {
    if (!network_.up()) return;
    if (one.what == trouble::restart_old) backup_ = network_.server().copy();
    const auto age = one.what == trouble::restart_old ? one.lasts : instant{};
    // The crash comes later, so that the data are of a while ago.
    time_.after(age, [this, one] {
        if (!network_.up() || healed_) return;
        network_.go_down();
        comes_up_with_ = one.what == trouble::restart       ? network_.server().copy()
                         : one.what == trouble::restart_old ? backup_
                                                            : simulated_redis::snapshot{};
        if (one.what == trouble::restart_old) judge_.set_back();
        if (one.what == trouble::restart_empty) judge_.disturbed(nullptr);
        time_.after(std::min<instant>(one.lasts, 2s), [this] { come_up(); });
    });
}

void world::go_back(const disturbance& one) {
    time_.after(one.lasts, [this, copy = network_.server().copy()] {
        if (!network_.up() || healed_) return;
        judge_.data_went_back();
        network_.disturb([&](simulated_redis& server) { server.go_back(copy); });
    });
}

void world::fill_memory(const disturbance& one) {
    network_.disturb([](simulated_redis& server) { server.set_full(true); });
    time_.after(one.lasts, [this] {
        network_.disturb([](simulated_redis& server) { server.set_full(false); });
    });
}

void world::come_up() {
    if (!network_.up()) network_.come_up(comes_up_with_);
}

void world::evict(const disturbance& one) {
    const auto where = keys_of(one);
    const auto name = space_of(one).known_as(names_[one.which % names_.size()]);
    const auto keys = where.all();
    const auto which = one.which / 5 % keys.size();
    const std::string key(keys[which]);
    if (key != where.fence && key != where.queue && key != where.waiters) judge_.disturbed(&name);
    network_.disturb(
        [&](simulated_redis& server) { server.evict(space_of(one).where.database, key); });
}

// SET NX PX, and later its release, as the plain libraries do both.
void world::intrude(const disturbance& one) {
    const auto key = keys_of(one).lock;
    const auto value = "foreign-" + std::to_string(one.at.count());
    const auto ttl = std::max<std::int64_t>(one.lasts / 1ms, 1);
    const auto database = space_of(one).where.database;
    network_.disturb([&](simulated_redis& server) {
        static_cast<void>(server.execute(0, {"SELECT", std::to_string(database)}));
        static_cast<void>(server.execute(0, {"SET", key, value, "NX", "PX", std::to_string(ttl)}));
    });
    time_.after(one.lasts / 2, [this, database, key, value] {
        if (network_.server().data(database).get(key) == value)
            network_.disturb([&](simulated_redis& server) { server.evict(database, key); });
    });
}

// A later one takes the place of the present one.
void world::refuse(const disturbance& one) {
    const auto& how = refusals[one.which % refusals.size()];
    log_.say("refused from now on: " + std::string(how.error.substr(0, how.error.find(' '))));
    network_.refuse(std::string(how.error), how.at_once);
    judge_.refusing(true);
    time_.after(one.lasts, [this, number = ++refusals_] {
        if (number == refusals_) accept();
    });
}

void world::accept() {
    network_.refuse({}, false);
    judge_.refusing(false);
}

instant world::set_back() const {
    instant all{};
    for (const auto& one : plan_.troubles)
        if (one.what == trouble::clock_backward) all += one.lasts;
    return all;
}

// A server that came up with what was true a while ago holds what was given back since then, until
// its lease ends.
instant world::forgotten_releases() const {
    const auto is_old = [](const disturbance& one) {
        return one.what == trouble::restart_old || one.what == trouble::data_back;
    };
    // What a program has no memory to give back ends with its lease, too.
    const bool given_up = !plan_.shortages.empty();
    return given_up || std::ranges::any_of(plan_.troubles, is_old) ? plan_.users.ttl_most
                                                                   : instant{};
}

void world::live() { advance(plan_.horizon); }

// Every trouble is over; who waits is served, in time.
void world::heal() {
    log_.say("all is well again");
    healed_ = true;
    network_.calm();
    network_.thaw();
    network_.disturb([](simulated_redis& server) { server.set_full(false); });
    come_up();
    accept();
    for (const auto& one : programs_) {
        if (!one->alive()) continue;
        network_.reconnect(one->home());
        one->recover();
        one->resume();
        one->finish();
    }
    if (plan_.waits) wake_sleepers();
    const auto users = static_cast<int>(programs_.size() * plan_.users_each);
    const auto limit = time_.now() + 20s + 2 * instant(plan_.reply_timeout) + set_back() +
                       2 * instant(plan_.users.ttl_most) + users * 4s;
    const bool done = advance_until(
        [this] {
            return std::ranges::all_of(programs_, [](const auto& one) { return one->finished(); });
        },
        limit);
    if (!done && !broken()) judge_.fail("I6", "somebody waits for ever");
}

// A waiter looks every 4 to 6 s; before that it may have to connect again, or rest after a failure.
void world::wake_sleepers() {
    judge_.latches().healed();
    const auto slept = 6s + 4s + 2 * instant(plan_.reply_timeout);
    time_.after(slept, [this] {
        if (ending_) return;
        judge_.latches().expect_no_sleepers();
        for (const auto& each : programs_)
            if (each->alive()) each->stop_waiting();
    });
}

// Nobody wants anything: then there must be nothing. What could not be given back ends with its
// lease, which a clock that was set back makes longer.
void world::wind_up() {
    advance(time_.now() + 4s + 2 * instant(plan_.reply_timeout) + forgotten_releases() +
            set_back());
    if (broken()) return;
    judge_.expect_no_locks();
    probe();
    advance(time_.now() + 8s + 2 * instant(plan_.reply_timeout) + set_back());
    if (broken()) return;
    judge_.expect_no_waiters();
    for (const auto& one : programs_)
        if (one->alive()) one->dismiss_users();
    time_.run_ready();
    for (const auto& one : programs_)
        if (one->alive()) one->check_idle_memory();
}

// What the dead held is free after its ttl.
void world::probe() {
    for (const auto& at : spaces_) {
        auto& last = add_program(at);
        for (const auto& name : names_) {
            auto done = [this](const boost::system::error_code& ec, const held_lock& lock) {
                if (!ec && lock) ++probed_;
            };
            last.locks().async_acquire(name, {}, done);
        }
    }
    const auto limit = time_.now() + instant(plan_.users.ttl_most) + 2s + set_back();
    const bool all =
        advance_until([&] { return probed_ == names_.size() * spaces_.size(); }, limit);
    if (!all && !broken()) judge_.fail("I6", "a lock of the dead stays locked beyond its ttl");
}

// Every client goes, the dead ones' too; then nothing may be left to happen.
void world::unwind() {
    ending_ = true;
    network_.set_witness(nullptr);
    for (const auto& one : programs_)
        one->end();
    time_.run_ready();
    // The counter, which a client may have cached, lives for a day.
    const auto limit = time_.now() + 48h;
    auto steps_left = 1'000'000;  // many more than are needed
    while (--steps_left > 0 && time_.next() <= limit && time_.step()) {}
    if (!time_.idle()) judge_.fail("I7", "something goes on after the end of every client");
    for (const auto& one : programs_)
        one->check_no_memory();
    for (const auto& one : programs_)
        if (one->timers() != 0) judge_.fail("I7", one->label() + " left a timer behind");
}

outcome world::run() {
    populate();
    live();
    if (!broken()) heal();
    if (!broken()) wind_up();
    unwind();
    return {plan_.seed,    judge_.violation(), log_.hash(), log_.events(),
            time_.steps(), judge_.grants(),    time_.now()};
}

}  // namespace

outcome run_world(std::uint64_t seed, planted bug, const trace::reader& shown) {
    now_in_world(seed);
    return world(seed, bug, shown).run();
}

}  // namespace pawl::simulation
