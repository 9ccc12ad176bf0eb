#include "file_world.hpp"

#include "file_checker.hpp"

#include "sqlite/latch_book.hpp"
#include "sqlite/store.hpp"

#include <boost/asio/io_context.hpp>

#include <array>
#include <functional>
#include <memory>
#include <vector>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;
using sqlite::standing;
using sqlite::store;

constexpr std::array<const char*, 3> names{"alone", "room", "pool"};

struct waiting {
    claim what;
    std::uint64_t newest_when_asked = 0;
    time_point in_line_until{};
};

// The part of the core and of `desk` that a step needs.
struct program {
    std::unique_ptr<store> file;
    std::list<waiting> line;
    std::set<std::string> rung;
};

class file_world {
public:
    file_world(std::uint64_t seed, file_bug bug, bool trace)
        : chance_(seed), bug_(bug), trace_(trace), programs_(3) {
        clock_.clock_stands = bug == file_bug::tokens_without_clock;
        clock_.pass(std::chrono::minutes(chance_.between(0, 60 * 24 * 30)));
        calm_ = chance_.chance(0.3);
    }
    ~file_world() {
        for (std::size_t i = 0; i < programs_.size(); ++i)
            stop(i);
    }

    file_world_result run() {
        const auto steps = chance_.between(30, 120);
        for (std::int64_t i = 0; i < steps && good(); ++i)
            step();
        if (good()) come_to_rest();
        if (good()) expect_all_free();
        result_.violation = checker_.violation();
        result_.grants = checker_.grants;
        result_.losses_told = checker_.losses_told;
        return result_;
    }

private:
    [[nodiscard]] bool good() const { return checker_.violation().empty(); }
    [[nodiscard]] std::string path() const { return folder_.file("locks.db"); }
    // The folder's name is another one in each run of a seed.
    [[nodiscard]] std::string without_folder(std::string text) const {
        const auto folder = folder_.file("");
        for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder))
            text.erase(at, folder.size());
        return text;
    }

    void note(const std::string& line) {
        for (const char each : line)
            result_.hash = (result_.hash ^ static_cast<unsigned char>(each)) * 1099511628211U;
        if (trace_)
            result_.trace +=
                std::to_string(clock_.now().time_since_epoch() / 1ms) + " ms  " + line + "\n";
    }

    void start(std::size_t at) {
        auto& one = programs_[at];
        store::settings what{path(), "pawl", {"host", static_cast<int>(at), "simulated"}, {}};
        what.boot = [this] { return "boot " + std::to_string(boot_); };
        store::events told{[this, at](const sqlite::ring& news) { heard(at, news); },
                           [this](const std::string& owner) { checker_.told_of_loss(owner); }};
        one.file =
            std::make_unique<store>(std::move(what), clock_, loop_.get_executor(), std::move(told));
    }

    // Without a word to the others, as after SIGKILL: the rows stay.
    void stop(std::size_t at) {
        auto& one = programs_[at];
        if (!one.file) return;
        loop_.restart();
        loop_.poll();
        one = {};
        // What the socket had for it.
        loop_.restart();
        loop_.poll();
        checker_.crashed(at);
    }

    void heard(std::size_t at, const sqlite::ring& news) {
        auto& one = programs_[at];
        if (news.what == sqlite::ring::kind::granted) one.rung.insert(news.owner);
        if (news.what != sqlite::ring::kind::forced) return;
        try {
            if (one.file->granted(news.name, news.owner)) return;
        } catch (const error&) {
            return;
        }
        checker_.told_of_loss(news.owner);
    }

    // One step of a program. An error must have a cause.
    bool attempt(std::size_t at, const std::function<void(store&)>& act) {
        if (!programs_[at].file) start(at);
        if (bug_ == file_bug::other_boots_deleted) delete_other_boots();
        const bool excused = clock_.busy || linked_ || !unsettled_.empty();
        bool done = false;
        try {
            act(*programs_[at].file);
            done = true;
        } catch (const error& failed) {
            note("  error: " + without_folder(failed.what()));
            if (!excused) checker_.fail(std::string("an error out of place: ") + failed.what());
        }
        loop_.restart();
        loop_.poll();
        if (done) {
            unsettled_.erase(at);
            checker_.went_through(at);
            plant();
        }
        return done;
    }

    void plant() {
        const auto* trigger = trigger_of(bug_);
        if (trigger == nullptr || planted_) return;
        other_program(path()).run(trigger);
        planted_ = true;
    }

    void delete_other_boots() {
        try {
            other_program(path()).run("DELETE FROM holders WHERE boot <> 'boot " +
                                      std::to_string(boot_) + "'");
        } catch (const std::runtime_error&) {}  // no tables yet
    }

    claim new_claim() {
        claim what;
        const auto which = chance_.below(names.size());
        what.name = names[which];
        what.owner = std::to_string(++owners_) + "-of-the-world";
        const std::array<duration, 4> ttls{2s, 5s, 30s, 1h};
        what.ttl = ttls[chance_.below(ttls.size())];
        if (which == 1 && chance_.chance(0.7)) what.mode = lock_mode::shared;
        if (which == 2) {
            what.mode = lock_mode::permits;
            what.permits = static_cast<std::uint32_t>(chance_.between(1, 2));
            what.of = file_checker::permits_in_all;
        }
        return what;
    }

    void believe(std::size_t at, const waiting& asked, const standing& given) {
        const auto ttl =
            given.confirm ? std::min(asked.what.ttl, sqlite::claim_window) : asked.what.ttl;
        note("  " + asked.what.owner + " has " + asked.what.name + " to " +
             std::to_string(given.token.value()));
        checker_.granted(at, asked.what, given.token.value(), given.expires - drift(ttl),
                         asked.newest_when_asked);
    }

    // Nobody who asks later passes a live waiter, unless that was let in and did not come.
    void expect_nobody_passed(const waiting& by) {
        for (auto& each : programs_) {
            for (const auto& other : each.line) {
                if (!each.file || other.what.name != by.what.name ||
                    other.in_line_until <= clock_.now() || !unsettled_.empty() ||
                    each.rung.contains(other.what.owner))
                    continue;
                if (!each.file->granted(other.what.name, other.what.owner))
                    checker_.fail(by.what.owner + " passed " + other.what.owner + " in the line");
            }
        }
    }

    void acquire(std::size_t at) {
        waiting asked{new_claim(), 0, {}};
        asked.newest_when_asked = checker_.newest(asked.what.name);
        const bool wait = chance_.chance(0.6);
        note("program " + std::to_string(at) + " asks for " + asked.what.name);
        attempt(at, [&](store& file) {
            const auto answer = file.attempt(asked.what, wait);
            if (answer.what == standing::kind::granted) {
                expect_nobody_passed(asked);
                believe(at, asked, answer);
            }
            asked.in_line_until = clock_.now() + sqlite::waiter_lease;
            if (answer.what == standing::kind::waiting) programs_[at].line.push_back(asked);
        });
    }

    void look(std::size_t at) {
        auto& line = programs_[at].line;
        for (auto one = line.begin(); one != line.end() && good();) {
            const auto now = one++;
            const bool gives_up = chance_.chance(0.15) && !resting_;
            note(std::string("program ") + std::to_string(at) +
                 (gives_up ? " leaves " : " looks ") + now->what.owner);
            const bool done = attempt(at, [&](store& file) {
                if (gives_up) {
                    const auto late = file.leave(now->what, true);
                    if (late) believe(at, *now, *late);
                    line.erase(now);
                    return;
                }
                const auto answer = file.look(now->what);
                now->in_line_until = clock_.now() + sqlite::waiter_lease;
                if (answer.what != standing::kind::granted) return;
                believe(at, *now, answer);
                line.erase(now);
            });
            if (!done && gives_up) line.erase(now);
        }
    }

    void renew(std::size_t at) {
        std::vector<hold> holds;
        for (const auto& each : checker_.beliefs())
            if (each.program == at) holds.push_back({each.what, {}});
        std::vector<renewal> batch;
        for (const auto& each : holds)
            batch.push_back({.what = &each, .ttl = each.claim.ttl});
        if (batch.empty()) return;
        note("program " + std::to_string(at) + " renews");
        attempt(at, [&](store& file) {
            file.renew(batch);
            for (const auto& each : batch)
                checker_.renewed(each.what->claim.owner, each.result, each.deadline);
        });
    }

    void release(std::size_t at, bool all) {
        std::vector<claim> ours;
        for (const auto& each : checker_.beliefs())
            if (each.program == at) ours.push_back(each.what);
        if (ours.empty()) return;
        if (!all) ours = {ours[chance_.below(ours.size())]};
        for (const auto& what : ours) {
            note("program " + std::to_string(at) + " releases " + what.owner);
            attempt(at, [&](store& file) { checker_.released(what.owner, file.release(what)); });
        }
    }

    void downgrade(std::size_t at) {
        for (const auto& each : checker_.beliefs()) {
            if (each.program != at || each.what.mode != lock_mode::exclusive) continue;
            const auto what = each.what;
            note("program " + std::to_string(at) + " downgrades " + what.owner);
            attempt(at, [&](store& file) {
                const auto kept = file.downgrade(what);
                checker_.downgraded(what.owner, kept.has_value(),
                                    kept ? kept->expires - drift(what.ttl) : time_point{});
            });
            return;
        }
    }

    void force(std::size_t at) {
        const std::string name = names[chance_.below(names.size())];
        note("program " + std::to_string(at) + " forces " + name);
        attempt(at, [&](store& file) {
            file.force_release(name);
            checker_.forced(name);
        });
    }

    void count(std::size_t at) {
        note("program " + std::to_string(at) + " counts");
        attempt(at, [&](store& file) {
            sqlite::latch_book book(file);
            if (checker_.latch().value_or(0) == 0) {
                if (book.try_set("gate", 5, 24h * 300)) checker_.latch_is(5);
            } else {
                const auto left = *checker_.latch() - 1;
                const auto answer = book.step("gate", 1, 0, {});
                checker_.latch_is(left);
                checker_.latch_seen(answer.count);
            }
        });
    }

    void step() {
        ++result_.steps;
        const std::array<duration, 6> pauses{0s, 1ms, 200ms, 700ms, 1500ms, 5s};
        clock_.pass(pauses[chance_.below(pauses.size())]);
        if (hog_ && chance_.chance(0.6)) end_busy();
        if (!calm_ && chance_.chance(0.06)) return trouble();
        const auto at = chance_.below(programs_.size());
        switch (chance_.below(12)) {
        case 0:
        case 1:
        case 2:
        case 3: return acquire(at);
        case 4:
        case 5: return look(at);
        case 6:
        case 7: return renew(at);
        case 8:
        case 9: return release(at, false);
        case 10: return chance_.chance(0.5) ? downgrade(at) : count(at);
        default: return chance_.chance(0.3) ? force(at) : count(at);
        }
    }

    void trouble() {
        switch (chance_.below(11)) {
        case 0: note("a program dies"); return stop(chance_.below(programs_.size()));
        case 1: return reboot();
        case 2:
            note("the boot id is another one, the clock is not");
            ++boot_;
            return stop(chance_.below(programs_.size()));
        case 3:
            note("the wall clock is set forward");
            return clock_.set_wall(std::chrono::hours(chance_.between(1, 100)));
        case 4:
            note("the wall clock is set back");
            clock_.set_wall(-std::chrono::hours(chance_.between(1, 100)));
            return checker_.wall_set_back();
        case 5:
        case 6: return copy();
        case 7: return restore();
        case 8: return take_away();
        case 9: return begin_busy();
        default: return link();
        }
    }

    void reboot() {
        note("the machine starts again");
        for (std::size_t i = 0; i < programs_.size(); ++i)
            stop(i);
        end_busy();
        unsettled_.clear();
        clock_.reboot(std::chrono::seconds(chance_.between(1, 7200)));
        checker_.latch_is({});
        ++boot_;
    }

    void copy() {
        if (hog_ || !unsettled_.empty() || !std::filesystem::exists(path())) return;
        note("somebody copies the file");
        std::filesystem::remove(folder_.file("old.db"));
        other_program(path()).run("VACUUM INTO '" + folder_.file("old.db") + "'");
        copied_ = true;
    }

    // Either as the pages say, with all programs stopped, or under living ones.
    void restore() {
        if (!copied_ || linked_) return;
        end_busy();
        const bool stops = chance_.chance(0.6);
        note(stops ? "the older file is put back" : "the older file is put under living programs");
        if (stops) {
            for (std::size_t i = 0; i < programs_.size(); ++i)
                stop(i);
        }
        for (const auto* suffix : {"-wal", "-shm"})
            std::filesystem::remove(path() + suffix);
        std::filesystem::rename(folder_.file("old.db"), path());
        copied_ = false;
        replaced();
    }

    // Of the three files, one.
    void take_away() {
        const std::array<const char*, 3> suffixes{"", "-wal", "-shm"};
        const std::string victim = path() + suffixes[chance_.below(3)];
        if (linked_ || !std::filesystem::exists(victim)) return;
        end_busy();
        note("somebody removes " + std::filesystem::path(victim).filename().string());
        std::filesystem::remove(victim);
        replaced();
    }

    void replaced() {
        for (std::size_t i = 0; i < programs_.size(); ++i)
            if (programs_[i].file) unsettled_.insert(i);
        checker_.file_replaced(!unsettled_.empty());
        checker_.counter_may_be_old();
        for (auto& each : programs_)
            for (auto& one : each.line)
                one.in_line_until = {};
        planted_ = false;
    }

    void begin_busy() {
        if (hog_ || !std::filesystem::exists(path()) || !unsettled_.empty()) return;
        note("another program keeps the file busy");
        hog_ = std::make_unique<other_program>(path());
        hog_->run("BEGIN IMMEDIATE");
        clock_.busy = true;
    }
    void end_busy() {
        clock_.busy = false;
        hog_.reset();
    }

    void link() {
        if (!std::filesystem::exists(path())) return;
        const auto other = folder_.file("other.db");
        note(linked_ ? "the link is removed" : "somebody makes a hard link");
        if (linked_)
            std::filesystem::remove(other);
        else
            std::filesystem::create_hard_link(path(), other);
        linked_ = !linked_;
    }

    // No trouble any more, and all locks are given back: who waits must come in.
    void come_to_rest() {
        note("all is well again");
        resting_ = true;
        end_busy();
        if (linked_) link();
        for (int round = 0; round < 60 && good(); ++round) {
            std::size_t left = 0;
            for (std::size_t i = 0; i < programs_.size(); ++i) {
                release(i, true);
                look(i);
                left += programs_[i].line.size();
            }
            if (left == 0 && checker_.beliefs().empty()) return;
            clock_.pass(1200ms);
            if (round == 20) clock_.pass(1h);  // the leases of those who died
        }
        if (good()) checker_.fail("somebody waits for ever");
    }

    void expect_all_free() {
        for (std::size_t i = 0; i < programs_.size(); ++i)
            stop(i);
        clock_.pass(1h);
        for (const auto* name : names)
            expect_free(name);
    }

    // A row of an earlier boot may be waited out from when the clock has come to it: one ttl.
    void expect_free(const std::string& name) {
        const claim what{.name = name, .owner = "last " + name, .ttl = 5s};
        bool free = false;
        for (const auto waited : {0h, 1h}) {
            clock_.pass(waited);
            attempt(0, [&](store& file) {
                free = free || file.attempt(what, false).what == standing::kind::granted;
            });
        }
        if (!free) checker_.fail(name + " is never free again");
    }

    prng chance_;
    file_bug bug_;
    bool trace_;
    bool calm_ = false, resting_ = false, copied_ = false, linked_ = false, planted_ = false;
    int boot_ = 1;
    int owners_ = 0;
    world_folder folder_;
    host_clock clock_;
    file_checker checker_{clock_};
    boost::asio::io_context loop_;
    std::unique_ptr<other_program> hog_;
    std::set<std::size_t> unsettled_;  // programs that have yet to notice that the file is another
    std::vector<program> programs_;
    file_world_result result_;
};

}  // namespace

file_world_result run_file_world(std::uint64_t seed, file_bug bug, bool trace) {
    return file_world(seed, bug, trace).run();
}

}  // namespace pawl::simulation
