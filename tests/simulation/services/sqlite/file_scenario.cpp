// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One scenario of the SQLite backend: programs that lock in one file, and faults of the file, the
// clocks and the programs. See docs/contributing/testing.md.
#include "../../kernel/process_resources.hpp"
#include "../../world/world.hpp"
#include "../scenarios.hpp"
#include "file_checker.hpp"
#include "host.hpp"

#include <pawl/latch.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// How long a lock may be held by nobody although somebody waits for it, when nothing disturbs them:
// less than a waiter pauses that nobody notifies.
constexpr auto longest_neglect = 900ms;

class file_scenario final : public world {
public:
    file_scenario(std::uint64_t seed, file_bug bug, const trace::line_sink& sink)
        : world({.seed = seed,
                 .users_per_program = 2,
                 .downgrades = 0.2,
                 .longest_hold = 2s,
                 .longest_rare_hold = 15s},
                sink),
          is_gentle_(random_.happens(0.3)),
          holds_(loop_),
          host_(loop_, random_.fork(), bug) {
        start();
    }

    [[nodiscard]] std::uint64_t reported_losses() const noexcept { return reported_losses_; }

private:
    // The file.
    service connect(simulated_process& process) override { return host_.connect(process); }
    time_point clock_start() const override { return host_.clock_start(); }
    void cut_off(simulated_process& process) override { host_.cut_off(process, true); }
    void reconnect(simulated_process& process) override { host_.cut_off(process, false); }
    void stop_faults() override;
    bool recover() override;
    // A row of an earlier boot may count for one ttl from the time that the clock reaches it.
    instant longest_wait() const override { return 3h; }
    std::string message_of(const attempt& failed) const override {
        return host_.without_folder(world::message_of(failed));
    }

    // The users.
    lock_options choose(user& caller, attempt& made) override;
    void begin() override;
    void close() override;
    bool awaits_release(const believed_hold& hold) const override {
        return *hold.ended_at == loop_.now();  // not lost earlier
    }
    void use_latch_later();
    void use_latch(program& by);
    void end_latch_step(const boost::system::error_code& ec, std::uint64_t count);
    [[nodiscard]] program& random_living_program();

    // The faults.
    void disturb() override;
    void inject_fault();
    bool end_program(program& affected);
    void end_all_programs();
    void begin_all_programs();
    void replace_a_program();
    void reboot();
    void restore_copy();
    void remove_file();
    void note_file_replaced();
    void force();
    void expect_all_free();

    // The rules.
    beliefs& holds() noexcept override { return holds_; }
    void check_grant(const attempt&, const believed_hold& granted) override {
        holds_.check_token(granted);
    }
    void check_downgrade(program& by, const believed_hold& hold,
                         const boost::system::error_code& ec) override;
    void check_loss(const believed_hold& lost) override;
    void check_release(program& by, const held_lock& lock, const believed_hold& hold,
                       instant asked_at, release_result result) override;
    void check_failure(const attempt& failed, const boost::system::error_code& ec) override;
    void observe_holds() override;
    void observe_lock(const std::string& name, observation& seen) override;
    [[nodiscard]] static simulated_process& process_of(const believed_hold& hold) {
        return static_cast<program*>(const_cast<void*>(hold.program))->process;
    }
    // A fault may be the cause of a failure.
    [[nodiscard]] bool may_fail(const believed_hold& hold) const {
        return holds_.is_excused(hold) || host_.was_disturbed(process_of(hold), hold.requested_at);
    }

    const bool is_gentle_;
    file_checker holds_;
    host host_;
    const program* latch_user_ = nullptr;  // while its step is under way
    instant latch_used_at_{};
    instant replaced_at_{-1};
    std::uint64_t reported_losses_ = 0;
};

lock_options file_scenario::choose(user& caller, attempt& made) {
    auto& choices = caller.choices;
    const std::array<duration, 4> ttls{2s, 5s, 30s, 1h};
    lock_options options{.ttl = ttls[choices.below(ttls.size())], .wait = 10s};
    choose_mode(caller, made, 0.7, options);
    if (choices.happens(0.25)) options.wait = 1ms * choices.between(0, 600);
    if (is_calm_) options.wait = longest_wait() - 10min;
    made.may_time_out = !is_calm_;
    return options;
}

void file_scenario::begin() {
    world::begin();
    use_latch_later();
}

void file_scenario::check_downgrade(program&, const believed_hold& hold,
                                    const boost::system::error_code& ec) {
    if (ec && !hold.ended_at && !may_fail(hold))
        fail("a live hold of " + hold.name + " could not be downgraded");
}

void file_scenario::check_release(program&, const held_lock&, const believed_hold& hold, instant,
                                  release_result result) {
    if (result != release_result::released && !may_fail(hold))
        fail("a live hold of " + hold.name + " was gone when it was released");
}

file_scenario::program& file_scenario::random_living_program() {
    std::vector<program*> living;
    for (const auto& each : programs_)
        if (!each->is_dead) living.push_back(each.get());
    return *living[random_.below(living.size())];
}

void file_scenario::use_latch_later() {
    loop_.schedule_after(random_.between(100ms, 1500ms), [this] {
        if (is_finishing_ || is_over_) return;
        use_latch_later();
        if (latch_user_ != nullptr) return;
        auto& by = random_living_program();
        latch_user_ = &by;
        latch_used_at_ = loop_.now();
        by.process.post([this, &by] { use_latch(by); });
    });
}

// Counts down, or sets the latch to 5 if it is at 0. If its count is unknown, the next step tells.
void file_scenario::use_latch(program& by) {
    trace_.write(by.label + " counts");
    const auto gate = std::make_shared<latch>(*by.locks, "gate", latch_options{.ttl = 24h * 300});
    const auto left = holds_.expected_latch();
    const auto end_count = [this, &by, gate](const boost::system::error_code& ec,
                                             std::uint64_t count) {
        if (by.is_dead || is_over_) return;
        if (auto& expected = holds_.expected_latch()) --*expected;
        end_latch_step(ec, count);
    };
    const auto end_set = [this, &by, gate, end_count](const boost::system::error_code& ec,
                                                      bool was_set) {
        if (by.is_dead || is_over_) return;
        holds_.expected_latch().reset();
        if (ec || was_set) return end_latch_step(ec, 5);
        gate->async_count_down(1, by.run_in_process(end_count));
    };
    if (left.value_or(0) == 0)
        gate->async_try_set(5, by.run_in_process(end_set));
    else
        gate->async_count_down(1, by.run_in_process(end_count));
}

void file_scenario::end_latch_step(const boost::system::error_code& ec, std::uint64_t count) {
    latch_user_ = nullptr;
    if (!ec && replaced_at_ < latch_used_at_) return holds_.check_latch(count);
    holds_.expected_latch().reset();
}

void file_scenario::disturb() {
    if (random_.happens(0.3)) force();
    if (is_gentle_) return;
    for (auto left = random_.below(4); left > 0 && !has_failed(); --left) {
        inject_fault();
        loop_.run_for(random_.between(0ms, 2s));
    }
}

void file_scenario::inject_fault() {
    switch (random_.below(13)) {
    case 0: return replace_a_program();
    case 1: return reboot();
    case 2:
        trace_.write("the boot id changes, the clock does not");
        host_.change_boot_id();
        return replace_a_program();
    case 3:
        trace_.write("the wall clock is set forward");
        return host_.move_wall(std::chrono::hours(random_.between(1, 100)));
    case 4:
        trace_.write("the wall clock is set back");
        host_.move_wall(-std::chrono::hours(random_.between(1, 100)));
        return holds_.note_wall_set_back();
    case 5:
    case 6:
        if (host_.copy_file()) trace_.write("the file is copied");
        return;
    case 7: return restore_copy();
    case 8: return remove_file();
    case 9:
        if (host_.begin_busy(random_.between(100ms, 6s)))
            trace_.write("another program keeps the file busy");
        return;
    case 10:
        if (host_.toggle_hard_link())
            trace_.write(host_.is_linked() ? "a hard link is made" : "the hard link is removed");
        return;
    case 11: {
        auto& affected = random_living_program();
        trace_.write(affected.label + " is slow");
        return host_.slow_down(affected.process, loop_.now() + random_.between(1s, 5s));
    }
    default: return cut_off_a_program(200ms, 5s);
    }
}

// Its rows remain, and the other programs are not notified.
bool file_scenario::end_program(program& affected) {
    if (!kill(affected)) return false;
    host_.kill(affected.process);
    holds_.end_force(&affected, false);
    if (std::exchange(latch_user_, latch_user_ == &affected ? nullptr : latch_user_) == &affected)
        holds_.expected_latch().reset();
    return true;
}

void file_scenario::end_all_programs() {
    for (const auto& each : programs_)
        end_program(*each);
}

void file_scenario::begin_all_programs() {
    for (std::size_t i = 0; i < settings_.program_count; ++i)
        begin_program();
}

void file_scenario::replace_a_program() {
    end_program(random_living_program());
    begin_program();
}

void file_scenario::reboot() {
    trace_.write("the machine reboots");
    end_all_programs();
    host_.reboot(std::chrono::seconds(random_.between(1, 7200)));
    holds_.expected_latch().reset();
    begin_all_programs();
}

void file_scenario::restore_copy() {
    if (!host_.can_restore()) return;
    const bool stops = random_.happens(0.6);
    trace_.write(stops ? "the older file is restored"
                       : "the older file is restored under living programs");
    if (stops) end_all_programs();
    host_.restore_copy();
    note_file_replaced();
    if (stops) begin_all_programs();
}

void file_scenario::remove_file() {
    const std::array<const char*, 3> suffixes{"", "-wal", "-shm"};
    const std::string suffix = suffixes[random_.below(suffixes.size())];
    if (!host_.remove_file(suffix)) return;
    trace_.write("removed: locks.db" + suffix);
    note_file_replaced();
}

void file_scenario::note_file_replaced() {
    replaced_at_ = loop_.now();
    holds_.note_file_replaced(host_.has_unaware_programs());
    holds_.note_old_counter(host_.true_wall());
}

void file_scenario::force() {
    auto& by = random_living_program();
    const auto& name = random_name();
    trace_.write(by.label + " forces " + name);
    holds_.note_force(name, &by);
    const auto began_at = loop_.now();
    by.process.post([this, &by, name, began_at] {
        const auto end = [this, &by, began_at](const boost::system::error_code& ec, bool) {
            const auto& sender = host_.find(by.process);
            const bool is_sent = !sender.is_cut_off && sender.reconnected_at < began_at;
            holds_.end_force(&by, !ec && is_sent);
        };
        by.locks->async_force_release(name, by.run_in_process(end));
    });
}

void file_scenario::stop_faults() {
    host_.end_busy();
    if (host_.is_linked()) host_.toggle_hard_link();
    host_.end_slowness();
}

// Until the leases of the dead programs end.
bool file_scenario::recover() {
    const auto is_dead = [](const auto& each) { return each->is_dead; };
    if (std::ranges::any_of(programs_, is_dead)) loop_.run_for(1h);
    return true;
}

void file_scenario::close() {
    is_over_ = true;
    if (!has_failed()) expect_all_free();
    host_.drop_dead_work();
    world::close();
}

// A row of an earlier boot may count for one ttl, so each lock is tried twice.
void file_scenario::expect_all_free() {
    end_all_programs();
    auto& last = add_program();
    const auto free_names = std::make_shared<std::set<std::string>>();
    for (int i = 0; i < 2; ++i) {
        loop_.run_for(1h);
        for (const auto& name : names())
            last.process.post([&last, &name, free_names] {
                const auto note = [&name, free_names](const boost::system::error_code&,
                                                      const held_lock& lock) {
                    if (lock) free_names->insert(name);
                };
                last.locks->async_try_acquire(name, {.ttl = 5s}, last.run_in_process(note));
            });
        loop_.run_for(5s);
    }
    for (const auto& name : names())
        if (!free_names->contains(name)) fail(name + " is never free again");
}

void file_scenario::check_loss(const believed_hold& lost) {
    if (holds_.is_excused(lost)) ++reported_losses_;
    if (!may_fail(lost)) fail("a live hold of " + lost.name + " was reported as lost");
}

void file_scenario::check_failure(const attempt& failed, const boost::system::error_code& ec) {
    if (ec == make_error_code(errc::timed_out) && failed.may_time_out) return;
    if (is_calm_ || !host_.was_disturbed(failed.by->process, failed.requested_at))
        fail("an unexpected error: " + message_of(failed));
}

void file_scenario::observe_holds() {
    if (host_.violation() != "") return fail(host_.violation());
    for (const auto& each : holds_.all()) {
        if (each->ended_at) continue;
        const auto& holder = host_.find(process_of(*each));
        if (holder.has_noticed_at) holds_.check_noticed(*each, *holder.has_noticed_at);
        const auto undisturbed_since =
            std::max(holder.reconnected_at, host_.undisturbed_since(holder.process));
        if (!holder.is_cut_off) holds_.check_forced(*each, undisturbed_since);
    }
}

void file_scenario::observe_lock(const std::string& name, observation& seen) {
    const bool is_believed = std::ranges::any_of(
        holds_.all(), [&](const auto& each) { return each->name == name && !each->ended_at; });
    const bool is_neglected = is_gentle_ && !is_believed && is_requested(name);
    if (lasts(seen.nobody_gets_it, is_neglected, longest_neglect))
        fail("somebody waits for the lock " + name + ", which is free");
}

}  // namespace

scenario_result run_file_scenario(std::uint64_t seed, file_bug bug, const trace::line_sink& sink) {
    set_current_seed(seed);
    file_scenario scenario(seed, bug, sink);
    auto result = scenario.run(scenario_kind::sqlite);
    result.losses = scenario.reported_losses();
    return result;
}

}  // namespace pawl::simulation
