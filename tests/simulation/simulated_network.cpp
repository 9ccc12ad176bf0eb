#include "simulated_network.hpp"

#include <algorithm>

using namespace std::chrono_literals;

namespace pawl::simulation {

struct simulated_network::wire {
    std::uint64_t id = 0;
    std::weak_ptr<endpoint> who;
    process* home = nullptr;
    int run = 0;  // of the server that it leads to
    bool broken = false;
    bool zombies = false;  // what was sent before the break is still carried out
    instant zombie_delay{};
    instant last_up{};
    instant last_down{};
    std::deque<words> held_up;
    std::deque<task> held_down;
};

simulated_network::simulated_network(scheduler& world, prng chance, network_faults faults)
    : world_(world),
      chance_(chance),
      faults_(faults),
      redis_([this](auto to, words what) { pushed_.emplace_back(to, std::move(what)); },
             faults.bug) {}

std::int64_t simulated_network::wall_us() const noexcept {
    constexpr std::int64_t start = 1'900'000'000'000'000;
    return start + std::chrono::duration_cast<std::chrono::microseconds>(world_.now()).count() +
           jumped_us_;
}

simulated_redis& simulated_network::server() {
    redis_.set_clock(wall_us());
    return redis_;
}

instant simulated_network::latency() {
    const auto most = chance_.chance(faults_.slow)
                          ? std::max(faults_.slow_for, faults_.latency_high)
                          : faults_.latency_high;
    return instant(chance_.between(faults_.latency_low.count(), most.count()));
}

simulated_network::wire_ptr simulated_network::find(std::uint64_t id) const {
    const auto it = wires_.find(id);
    return it == wires_.end() ? nullptr : it->second;
}

std::uint64_t simulated_network::connect(const std::weak_ptr<endpoint>& who) {
    auto made = std::make_shared<wire>();
    made->id = ++made_;
    made->who = who;
    made->home = &who.lock()->home();
    made->run = up_ ? run_ : -1;
    wires_.emplace(made->id, made);
    // Refused: nobody listens there.
    if (!up_ || banned_.contains(made->home)) break_off(made, true);
    return made->id;
}

void simulated_network::send(std::uint64_t id, words command) {
    const auto on = find(id);
    if (!on || on->broken) return;
    if (chance_.chance(faults_.break_on_request)) return break_off(on, true);
    if (cut_off_.contains(on->home)) {
        on->held_up.push_back(std::move(command));
        return;
    }
    on->last_up = std::max(on->last_up + 1ns, world_.now() + latency());
    world_.at(on->last_up, [this, on, command = std::move(command)]() mutable {
        arrive(on, std::move(command), false);
    });
}

void simulated_network::arrive(const wire_ptr& on, words command, bool delayed) {
    if (on->broken && !on->zombies) return;
    if (on->broken && !delayed) {
        const auto number = ++late_ever_;
        late_.emplace(number, job{on, std::move(command)});
        const auto after = calm_ ? instant{} : on->zombie_delay;
        world_.after(after, [this, number] { deliver_late(number); });
        return;
    }
    if (!up_ || on->run != run_) return;
    if (faults_.bug == planted::requests_overtake && chance_.chance(0.3))
        queue_.push_front({on, std::move(command)});
    else
        queue_.push_back({on, std::move(command)});
    pump();
}

void simulated_network::deliver_late(std::uint64_t number) {
    auto kept = late_.extract(number);
    if (!kept.empty()) arrive(kept.mapped().on, std::move(kept.mapped().command), true);
}

// One command at a time, each of some 20 µs or more: also what keeps tokens seeded by the clock
// apart.
void simulated_network::pump() {
    if (pumping_ || frozen_ || queue_.empty()) return;
    pumping_ = true;
    world_.after(instant(chance_.between(18'000, 30'000)), [this] {
        pumping_ = false;
        if (!frozen_ && !queue_.empty()) execute_next();
    });
}

void simulated_network::execute_next() {
    const job what = std::move(queue_.front());
    queue_.pop_front();
    carry_out(what);
    plan_expiry();
    pump();
}

void simulated_network::carry_out(const job& what) {
    pushed_.clear();
    auto reply = server().execute(what.on->id, what.command);
    if (witness_) witness_->executed(*what.on->home, what.command, reply);
    const auto pushes = std::exchange(pushed_, {});
    const auto send_pushes = [&](bool own) {
        for (const auto& [to, words_of_it] : pushes)
            if ((to == what.on->id) == own) deliver_push(to, words_of_it);
    };
    send_pushes(false);
    if (!faults_.reply_before_own_push) send_pushes(true);
    if (chance_.chance(faults_.break_on_reply)) {
        break_off(what.on, true);
    } else {
        answer(
            what.on,
            [on = what.on, reply = std::move(reply)]() mutable {
                if (const auto who = on->who.lock()) who->on_reply(on->id, std::move(reply));
            },
            false);
    }
    if (faults_.reply_before_own_push) send_pushes(true);
}

void simulated_network::deliver_push(simulated_redis::connection to, words what) {
    const auto on = find(to);
    if (!on) return;
    answer(
        on,
        [on, what = std::move(what)]() mutable {
            if (const auto who = on->who.lock()) who->on_push(on->id, std::move(what));
        },
        true);
}

void simulated_network::disturb(const std::function<void(simulated_redis&)>& what) {
    pushed_.clear();
    what(server());
    if (witness_) witness_->data_changed();
    for (auto& [to, words_of_it] : std::exchange(pushed_, {}))
        deliver_push(to, std::move(words_of_it));
    plan_expiry();
}

void simulated_network::answer(const wire_ptr& on, task deliver, bool is_push) {
    if (on->broken) return;
    if (cut_off_.contains(on->home)) {
        on->held_down.push_back(std::move(deliver));
        return;
    }
    auto when = std::max(on->last_down + 1ns, world_.now() + latency());
    on->last_down = when;
    // In the program another coroutine sees the pushes than the replies.
    if (is_push && faults_.pushes_overtake) when += instant(chance_.between(0, 200'000));
    world_.at(when, [on, deliver = std::move(deliver)]() mutable {
        const auto who = on->who.lock();
        if (!who || on->broken) return;
        who->run_on_strand([on, deliver = std::move(deliver)]() mutable {
            if (!on->broken) deliver();
        });
    });
}

void simulated_network::break_off(const wire_ptr& on, bool tell) {
    if (on->broken) return;
    on->broken = true;
    on->held_up.clear();
    on->held_down.clear();  // they know the connection, which knows them
    on->zombies = chance_.chance(faults_.zombie);
    if (on->zombies) on->zombie_delay = instant(chance_.between(0, faults_.zombie_for.count()));
    // Until the server notices it goes on to count a subscriber there.
    const auto notices = on->zombie_delay + instant(chance_.between(0, 300'000'000));
    world_.after(notices, [this, on] { forget(on); });
    if (!tell || chance_.chance(faults_.unnoticed)) return;
    world_.after(latency(), [on] {
        if (const auto who = on->who.lock())
            who->run_on_strand([on] {
                if (const auto still = on->who.lock()) still->on_closed(on->id);
            });
    });
}

void simulated_network::forget(const wire_ptr& on) {
    wires_.erase(on->id);
    if (on->run == run_) redis_.disconnect(on->id);
}

void simulated_network::close(std::uint64_t id) {
    if (const auto on = find(id)) break_off(on, false);
}

void simulated_network::break_all(process& who) {
    const auto all = wires_;
    for (const auto& [id, on] : all)
        if (on->home == &who) break_off(on, true);
}

void simulated_network::ban(process& who) {
    banned_.insert(&who);
    cut_off_.erase(&who);
    break_all(who);
}

void simulated_network::reconnect(process& who) {
    cut_off_.erase(&who);
    const auto all = wires_;
    for (const auto& [id, on] : all) {
        if (on->home != &who) continue;
        for (auto& one : std::exchange(on->held_up, {}))
            send(id, std::move(one));
        for (auto& one : std::exchange(on->held_down, {}))
            answer(on, std::move(one), false);
    }
}

void simulated_network::calm() {
    const auto bug = faults_.bug;
    const bool order = faults_.reply_before_own_push;
    faults_ = {};
    faults_.bug = bug;
    faults_.reply_before_own_push = order;
    calm_ = true;
    while (!late_.empty())
        deliver_late(late_.begin()->first);
}

void simulated_network::thaw() {
    frozen_ = false;
    pump();
    plan_expiry();
}

void simulated_network::go_down() {
    up_ = false;
    ++run_;
    queue_.clear();
    const auto all = wires_;
    for (const auto& [id, on] : all) {
        break_off(on, true);
        on->zombies = false;
    }
}

void simulated_network::come_up(simulated_redis::snapshot with) {
    redis_.restart(std::move(with));
    up_ = true;
    if (witness_) witness_->data_changed();
}

// The server looks for expired keys ten times a second.
void simulated_network::plan_expiry() {
    const auto next_ms = redis_.next_cached_expiry();
    if (next_ms < 0 || frozen_ || !up_) return;
    const auto when =
        world_.now() +
        std::max<instant>(0ns, std::chrono::microseconds(next_ms * 1000 - wall_us())) +
        instant(chance_.between(1'000'000, 100'000'000));
    if (expiry_planned_ <= when) return;
    expiry_planned_ = when;
    world_.at(when, [this] {
        expiry_planned_ = instant::max();
        if (!frozen_ && up_) disturb([](simulated_redis& server) { server.expire(); });
    });
}

}  // namespace pawl::simulation
