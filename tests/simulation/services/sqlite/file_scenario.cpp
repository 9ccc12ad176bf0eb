// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "file_scenario.hpp"

#include "file_checker.hpp"
#include "host.hpp"
#include "sqlite/latch_store.hpp"
#include "sqlite/store.hpp"

#include <boost/asio/io_context.hpp>

#include <array>
#include <functional>
#include <memory>
#include <vector>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;
using sqlite::attempt_result;
using sqlite::store;
constexpr std::array<const char*, 3> names{"alone", "room", "pool"};
struct waiting_claim {
    claim requested;
    std::uint64_t newest_when_asked = 0;
    time_point queued_until{};
};

// The part of the core and of `lock_session` that a step needs.
struct simulated_program {
    std::unique_ptr<store> file;
    std::list<waiting_claim> waiters;
    std::set<std::string> notified;
};

class file_scenario {
public:
    file_scenario(std::uint64_t seed, file_bug bug, const trace::line_sink& sink)
        : random_(seed), bug_(bug), sink_(sink), programs_(3) {
        result_ = {.seed = seed, .kind = scenario_kind::sqlite};
        clock_.is_wall_stopped = bug == file_bug::tokens_without_clock;
        clock_.pass(std::chrono::minutes(random_.between(0, 60 * 24 * 30)));
        is_calm_ = random_.happens(0.3);
    }
    ~file_scenario() {
        for (std::size_t i = 0; i < programs_.size(); ++i)
            kill_program(i);
    }

    scenario_result run() {
        const auto steps = random_.between(30, 120);
        for (std::int64_t i = 0; i < steps && has_no_violation(); ++i)
            run_random_step();
        if (has_no_violation()) release_everything();
        if (has_no_violation()) expect_all_free();
        result_.violation = checker_.violation();
        result_.grants = checker_.grants;
        result_.losses = checker_.losses_reported;
        return result_;
    }

private:
    [[nodiscard]] bool has_no_violation() const { return checker_.violation().empty(); }
    [[nodiscard]] std::string path() const { return folder_.file("locks.db"); }
    // The folder's name differs between runs of a seed.
    [[nodiscard]] std::string without_folder(std::string text) const {
        const auto folder = folder_.file("");
        for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder))
            text.erase(at, folder.size());
        return text;
    }

    void log(const std::string& text) {
        for (const char each : text)
            result_.hash = (result_.hash ^ static_cast<unsigned char>(each)) * 1099511628211U;
        ++result_.events;
        if (sink_) sink_(std::to_string(clock_.now().time_since_epoch() / 1ms) + " ms  " + text);
    }

    void run_loop() { loop_.restart(), loop_.poll(); }
    void start_program(std::size_t index) {
        auto& program = programs_[index];
        store::settings settings{
            path(), "pawl", {"host", static_cast<int>(index), "simulated"}, {}};
        settings.read_boot_id = [this] { return "boot " + std::to_string(boot_number_); };
        store::event_handlers events{
            [this, index](const auto& message) { on_notification(index, message); },
            [this](const std::string& owner) { checker_.note_reported_loss(owner); }};
        program.file = std::make_unique<store>(std::move(settings), clock_, loop_.get_executor(),
                                               std::move(events));
    }

    // The program ends as after SIGKILL: its rows remain, and the other programs are not notified.
    void kill_program(std::size_t index) {
        auto& program = programs_[index];
        if (!program.file) return;
        run_loop();
        program = {};
        // Handles what the socket has received.
        run_loop();
        checker_.note_crash(index);
    }

    void on_notification(std::size_t index, const sqlite::notification& notification) {
        auto& program = programs_[index];
        if (notification.type == sqlite::notification::kind::granted)
            program.notified.insert(notification.owner);
        if (notification.type != sqlite::notification::kind::forced) return;
        try {
            if (program.file->find_grant(notification.name, notification.owner)) return;
        } catch (const error&) {
            return;
        }
        checker_.note_reported_loss(notification.owner);
    }

    // Runs one step of a program. An error must have a cause.
    bool run_step(std::size_t index, const std::function<void(store&)>& act) {
        if (!programs_[index].file) start_program(index);
        if (bug_ == file_bug::other_boots_deleted) delete_other_boots();
        const bool excused = clock_.is_busy || is_linked_ || !unaware_programs_.empty();
        bool succeeded = false;
        try {
            act(*programs_[index].file);
            succeeded = true;
        } catch (const error& failed) {
            log("  error: " + without_folder(failed.what()));
            if (!excused) checker_.fail(std::string("an unexpected error: ") + failed.what());
        }
        run_loop();
        if (succeeded) {
            unaware_programs_.erase(index);
            checker_.check_notified(index);
            inject_bug();
        }
        return succeeded;
    }

    void inject_bug() {
        const auto* trigger = trigger_of(bug_);
        if (trigger == nullptr || is_bug_injected_) return;
        other_program(path()).run(trigger);
        is_bug_injected_ = true;
    }

    void delete_other_boots() {
        try {
            other_program(path()).run("DELETE FROM holders WHERE boot <> 'boot " +
                                      std::to_string(boot_number_) + "'");
        } catch (const std::runtime_error&) {}  // no tables yet
    }

    claim new_claim() {
        claim requested;
        const auto kind = random_.below(names.size());
        requested.name = names[kind];
        requested.owner = std::to_string(++last_owner_) + "-of-the-world";
        const std::array<duration, 4> ttls{2s, 5s, 30s, 1h};
        requested.ttl = ttls[random_.below(ttls.size())];
        if (kind == 1 && random_.happens(0.7)) requested.mode = lock_mode::shared;
        if (kind == 2) {
            requested.mode = lock_mode::permits;
            requested.permits = static_cast<std::uint32_t>(random_.between(1, 2));
            requested.total_permits = file_checker::total_permits;
        }
        return requested;
    }

    void record_grant(std::size_t index, const waiting_claim& waiting,
                      const attempt_result& result) {
        const auto ttl = result.needs_renewal
                             ? std::min(waiting.requested.ttl, sqlite::claim_window)
                             : waiting.requested.ttl;
        log("  " + waiting.requested.owner + " has " + waiting.requested.name + " to " +
            std::to_string(result.token.value()));
        checker_.note_grant(index, waiting.requested, result.token.value(),
                            result.expires - drift(ttl), waiting.newest_when_asked);
    }

    // No later request passes a live waiter, unless the waiter was granted the lock and did not
    // confirm it.
    void expect_no_overtaking(const waiting_claim& granted) {
        for (auto& each : programs_) {
            for (const auto& other : each.waiters) {
                if (!each.file || other.requested.name != granted.requested.name ||
                    other.queued_until <= clock_.now() || !unaware_programs_.empty() ||
                    each.notified.contains(other.requested.owner))
                    continue;
                if (!each.file->find_grant(other.requested.name, other.requested.owner))
                    checker_.fail(granted.requested.owner + " passed " + other.requested.owner +
                                  " in the queue");
            }
        }
    }

    void acquire(std::size_t index) {
        waiting_claim waiting{new_claim(), 0, {}};
        waiting.newest_when_asked = checker_.newest_token(waiting.requested.name);
        const bool wait = random_.happens(0.6);
        log("program " + std::to_string(index) + " requests " + waiting.requested.name);
        run_step(index, [&](store& file) {
            const auto result = file.try_acquire(waiting.requested, wait);
            if (result.outcome == attempt_result::kind::granted) {
                expect_no_overtaking(waiting);
                record_grant(index, waiting, result);
            }
            waiting.queued_until = clock_.now() + sqlite::waiter_lease;
            if (result.outcome == attempt_result::kind::waiting)
                programs_[index].waiters.push_back(waiting);
        });
    }

    void refresh(std::size_t index) {
        auto& waiters = programs_[index].waiters;
        for (auto it = waiters.begin(); it != waiters.end() && has_no_violation();) {
            const auto current = it++;
            const bool gives_up = random_.happens(0.15) && !is_resting_;
            log(std::string("program ") + std::to_string(index) +
                (gives_up ? " leaves " : " refreshes ") + current->requested.owner);
            const bool succeeded = run_step(index, [&](store& file) {
                if (gives_up) {
                    const auto late_grant = file.leave(current->requested, true);
                    if (late_grant) record_grant(index, *current, *late_grant);
                    waiters.erase(current);
                    return;
                }
                const auto result = file.refresh(current->requested);
                current->queued_until = clock_.now() + sqlite::waiter_lease;
                if (result.outcome != attempt_result::kind::granted) return;
                record_grant(index, *current, result);
                waiters.erase(current);
            });
            if (!succeeded && gives_up) waiters.erase(current);
        }
    }

    void renew(std::size_t index) {
        std::vector<hold> holds;
        for (const auto& each : checker_.believed_holds())
            if (each.program == index) holds.push_back({each.requested, {}});
        std::vector<renewal> batch;
        for (const auto& each : holds)
            batch.push_back({.held = &each, .ttl = each.claim.ttl});
        if (batch.empty()) return;
        log("program " + std::to_string(index) + " renews");
        run_step(index, [&](store& file) {
            file.renew(batch);
            for (const auto& each : batch)
                checker_.check_renewal(each.held->claim.owner, each.result, each.deadline);
        });
    }

    void release(std::size_t index) {
        std::vector<claim> held;
        for (const auto& each : checker_.believed_holds())
            if (each.program == index) held.push_back(each.requested);
        if (held.empty()) return;
        if (!is_resting_) held = {held[random_.below(held.size())]};  // at the end: all
        for (const auto& requested : held) {
            log("program " + std::to_string(index) + " releases " + requested.owner);
            run_step(index, [&](store& file) {
                checker_.check_release(requested.owner, file.release(requested));
            });
        }
    }

    void downgrade(std::size_t index) {
        for (const auto& each : checker_.believed_holds()) {
            if (each.program != index || each.requested.mode != lock_mode::exclusive) continue;
            const auto requested = each.requested;
            log("program " + std::to_string(index) + " downgrades " + requested.owner);
            run_step(index, [&](store& file) {
                const auto kept = file.downgrade(requested);
                checker_.check_downgrade(
                    requested.owner, kept.has_value(),
                    kept ? kept->expires - drift(requested.ttl) : time_point{});
            });
            return;
        }
    }

    void force(std::size_t index) {
        const std::string name = names[random_.below(names.size())];
        log("program " + std::to_string(index) + " forces " + name);
        run_step(index, [&](store& file) {
            file.force_release(name);
            checker_.note_forced(name);
        });
    }

    void count_down_latch(std::size_t index) {
        log("program " + std::to_string(index) + " counts");
        run_step(index, [&](store& file) {
            sqlite::latch_store latches(file);
            const auto left = checker_.expected_latch().value_or(0);
            const auto set = [](auto& latch) { return latch.try_set(5, 24h * 300); };
            const auto count_down = [](auto& latch) { return latch.count_down(1).count; };
            if (left == 0) {
                if (latches.run("gate", set)) checker_.expect_latch(5);
            } else {
                const auto count = latches.run("gate", count_down);
                checker_.expect_latch(left - 1);
                checker_.check_latch(count);
            }
        });
    }

    void run_random_step() {
        ++result_.steps;
        const std::array<duration, 6> pauses{0s, 1ms, 200ms, 700ms, 1500ms, 5s};
        clock_.pass(pauses[random_.below(pauses.size())]);
        if (blocking_program_ && random_.happens(0.6)) end_busy();
        if (!is_calm_ && random_.happens(0.06)) return inject_fault();
        const auto index = random_.below(programs_.size());
        const auto dice = random_.below(12);
        if (dice < 4) return acquire(index);
        if (dice < 6) return refresh(index);
        if (dice < 8) return renew(index);
        if (dice < 10) return release(index);
        if (dice == 10) return random_.happens(0.5) ? downgrade(index) : count_down_latch(index);
        return random_.happens(0.3) ? force(index) : count_down_latch(index);
    }

    void inject_fault() {
        switch (random_.below(11)) {
        case 0: log("a program dies"); return kill_program(random_.below(programs_.size()));
        case 1: return reboot();
        case 2:
            log("the boot id changes, the clock does not");
            ++boot_number_;
            return kill_program(random_.below(programs_.size()));
        case 3:
            log("the wall clock is set forward");
            return clock_.move_wall(std::chrono::hours(random_.between(1, 100)));
        case 4:
            log("the wall clock is set back");
            clock_.move_wall(-std::chrono::hours(random_.between(1, 100)));
            return checker_.note_wall_set_back();
        case 5:
        case 6: return copy_file();
        case 7: return restore_copy();
        case 8: return remove_file();
        case 9: return begin_busy();
        default: return toggle_hard_link();
        }
    }

    void reboot() {
        log("the machine reboots");
        for (std::size_t i = 0; i < programs_.size(); ++i)
            kill_program(i);
        end_busy();
        unaware_programs_.clear();
        clock_.reboot(std::chrono::seconds(random_.between(1, 7200)));
        checker_.expect_latch({});
        ++boot_number_;
    }

    void copy_file() {
        if (blocking_program_ || !unaware_programs_.empty() || !std::filesystem::exists(path()))
            return;
        log("the file is copied");
        std::filesystem::remove(folder_.file("old.db"));
        other_program(path()).run("VACUUM INTO '" + folder_.file("old.db") + "'");
        is_copied_ = true;
    }

    // Restores a copy of the file with all programs stopped, as the documentation requires, or
    // under living programs.
    void restore_copy() {
        if (!is_copied_ || is_linked_) return;
        end_busy();
        const bool stops = random_.happens(0.6);
        log(stops ? "the older file is restored"
                  : "the older file is restored under living programs");
        if (stops) {
            for (std::size_t i = 0; i < programs_.size(); ++i)
                kill_program(i);
        }
        for (const auto* suffix : {"-wal", "-shm"})
            std::filesystem::remove(path() + suffix);
        std::filesystem::rename(folder_.file("old.db"), path());
        is_copied_ = false;
        note_file_replaced();
    }

    // Removes one of the three files.
    void remove_file() {
        const std::array<const char*, 3> suffixes{"", "-wal", "-shm"};
        const std::string victim = path() + suffixes[random_.below(3)];
        if (is_linked_ || !std::filesystem::exists(victim)) return;
        end_busy();
        log("removed: " + std::filesystem::path(victim).filename().string());
        std::filesystem::remove(victim);
        note_file_replaced();
    }

    void note_file_replaced() {
        for (std::size_t i = 0; i < programs_.size(); ++i)
            if (programs_[i].file) unaware_programs_.insert(i);
        checker_.note_file_replaced(!unaware_programs_.empty());
        checker_.note_old_counter();
        for (auto& each : programs_)
            for (auto& waiter : each.waiters)
                waiter.queued_until = {};
        is_bug_injected_ = false;
    }

    void begin_busy() {
        if (blocking_program_ || !std::filesystem::exists(path()) || !unaware_programs_.empty())
            return;
        log("another program keeps the file busy");
        blocking_program_ = std::make_unique<other_program>(path());
        blocking_program_->run("BEGIN IMMEDIATE");
        clock_.is_busy = true;
    }
    void end_busy() {
        clock_.is_busy = false;
        blocking_program_.reset();
    }

    void toggle_hard_link() {
        if (!std::filesystem::exists(path())) return;
        const auto other = folder_.file("other.db");
        log(is_linked_ ? "the hard link is removed" : "a hard link is made");
        if (is_linked_)
            std::filesystem::remove(other);
        else
            std::filesystem::create_hard_link(path(), other);
        is_linked_ = !is_linked_;
    }

    // All faults end and all locks are released, so every waiter must get its lock.
    void release_everything() {
        log("all faults end");
        is_resting_ = true;
        end_busy();
        if (is_linked_) toggle_hard_link();
        for (int round = 0; round < 60 && has_no_violation(); ++round) {
            std::size_t left = 0;
            for (std::size_t i = 0; i < programs_.size(); ++i) {
                release(i);
                refresh(i);
                left += programs_[i].waiters.size();
            }
            if (left == 0 && checker_.believed_holds().empty()) return;
            clock_.pass(1200ms);
            if (round == 20) clock_.pass(1h);  // until the leases of dead programs end
        }
        if (has_no_violation()) checker_.fail("a waiter waits for ever");
    }

    void expect_all_free() {
        for (std::size_t i = 0; i < programs_.size(); ++i)
            kill_program(i);
        clock_.pass(1h);
        for (const auto* name : names)
            expect_free(name);
    }

    // A row of an earlier boot may count for one ttl from the time that the clock reaches it.
    void expect_free(const std::string& name) {
        const claim requested{.name = name, .owner = "last " + name, .ttl = 5s};
        bool free = false;
        for (const auto waited : {0h, 1h}) {
            clock_.pass(waited);
            run_step(0, [&](store& file) {
                free = free ||
                       file.try_acquire(requested, false).outcome == attempt_result::kind::granted;
            });
        }
        if (!free) checker_.fail(name + " is never free again");
    }

    prng random_;
    file_bug bug_;
    const trace::line_sink& sink_;
    bool is_calm_ = false, is_resting_ = false, is_copied_ = false, is_linked_ = false,
         is_bug_injected_ = false;
    int boot_number_ = 1, last_owner_ = 0;
    temporary_folder folder_;
    host_clock clock_;
    file_checker checker_{clock_};
    boost::asio::io_context loop_;
    std::unique_ptr<other_program> blocking_program_;
    std::set<std::size_t> unaware_programs_;  // have not noticed yet that the file was replaced
    std::vector<simulated_program> programs_;
    scenario_result result_;
};

}  // namespace

scenario_result run_file_scenario(std::uint64_t seed, file_bug bug, const trace::line_sink& sink) {
    return file_scenario(seed, bug, sink).run();
}

}  // namespace pawl::simulation
