// The suite itself is tried on backends with one fault each: that one must be caught, and nothing
// else be accused. And what it tells of a run is right.
#include "faulty_backend.hpp"

#include <pawl/backend.hpp>
#include <pawl/conformance.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace {

using pawl::conformance::all_promises;
using pawl::conformance::promise;
using pawl::conformance::world;
using tested::fault;

const promise& named(std::string_view name) {
    const auto all = all_promises();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const promise& it) { return it.name == name; });
    if (found == all.end()) throw std::logic_error("no promise " + std::string(name));
    return *found;
}

class careless_fixture : public pawl::conformance::fixture {
public:
    explicit careless_fixture(fault which) : which_(which) {}
    world fresh() override { return tested::faulty_world(which_); }
    const pawl::promises& promised() const override { return tested::faulty_promises; }

private:
    fault which_;
};

struct trial {
    std::string title;
    fault planted;
    std::vector<std::string_view> must_break;
    std::string_view must_be_kept;
};
void PrintTo(const trial& one, std::ostream* out) { *out << one.title; }

class Careless : public testing::TestWithParam<trial> {};

TEST_P(Careless, IsCaughtAndOnlyThere) {
    careless_fixture careless(GetParam().planted);
    for (const std::string_view each : GetParam().must_break)
        EXPECT_THROW(named(each).run(careless), std::exception) << each;
    EXPECT_NO_THROW(named(GetParam().must_be_kept).run(careless)) << GetParam().must_be_kept;
}

const trial trials[] = {
    {"GivesItToEverybody",
     fault::gives_it_to_everybody,
     {"threads_never_overlap", "clients_never_overlap", "held_is_busy_for_everybody_else",
      "nobody_releases_anothers_lock", "try_asks_once", "wait_of_zero_asks_once",
      "std_lock_backs_off", "a_timed_mutex_waits_for_its_time", "a_mutex_is_lockable",
      "inspect_tells_the_truth"},
     "tokens_grow_over_releases"},
    {"KeepsItAfterARelease",
     fault::keeps_it_after_a_release,
     {"held_is_busy_for_everybody_else", "inspect_tells_the_truth", "list_shows_what_is_held"},
     "another_name_is_another_lock"},
    {"TokensGoBack",
     fault::tokens_go_back,
     {"tokens_grow_over_releases", "tokens_grow_over_expiry_and_force",
      "a_hold_without_a_token_changes_no_order"},
     "held_is_busy_for_everybody_else"},
    {"NoTokens",
     fault::no_tokens,
     {"tokens_grow_over_releases", "tokens_grow_over_hand_offs",
      "one_client_passes_later_tokens_among_its_threads"},
     "release_says_the_same_twice"},
    {"RenewsOnlyInWords",
     fault::renews_only_in_words,
     {"a_lease_is_renewed_while_held"},
     "safe_until_is_within_the_ttl"},
    {"CountsFromTooLate",
     fault::counts_from_too_late,
     {"safe_until_is_within_the_ttl"},
     "release_says_the_same_twice"},
    {"TellsNoVictim",
     fault::tells_no_victim,
     {"forced_release_is_pushed_to_the_victim"},
     "tokens_grow_over_expiry_and_force"},
    {"ForcesWhatNobodyHas",
     fault::forces_what_nobody_has,
     {"force_release_of_a_free_lock_says_so"},
     "forced_release_passes_the_lock_on"},
    {"WaitsTooLittle",
     fault::waits_too_little,
     {"bounded_wait_ends_after_its_time", "threads_never_overlap"},
     "try_asks_once"},
    {"ForgetsNoWaiter",
     fault::forgets_no_waiter,
     {"bounded_wait_ends_after_its_time"},
     "held_is_busy_for_everybody_else"},
    {"ShortensNames",
     fault::shortens_names,
     {"odd_names_do_not_collide"},
     "inspect_changes_nothing"},
    {"ListsEverything",
     fault::lists_everything,
     {"list_shows_what_is_held", "list_takes_the_prefix_literally"},
     "inspect_tells_the_truth"},
    {"NamesTheWrongHolder",
     fault::names_the_wrong_holder,
     {"inspect_names_the_holder"},
     "try_asks_once"},
    {"ExaminesNothing",
     fault::examines_nothing,
     {"examine_says_what_it_is_worth"},
     "inspect_tells_the_truth"},
    {"PromisesTooMuch",
     fault::promises_too_much,
     {"its_promises_are_the_fixtures"},
     "examine_says_what_it_is_worth"},
    {"ReadsAlone",
     fault::reads_alone,
     {"a_shared_timed_mutex_waits_for_its_time", "wrong_permits_leave_nothing_behind"},
     "a_writer_excludes_readers"},
    {"CountsEachAsOne",
     fault::counts_each_as_one,
     {"permits_are_held_together", "never_more_permits_than_there_are"},
     "each_hold_of_permits_has_a_later_token"},
    {"GivesReadersTokensOfTheirOwn",
     fault::gives_readers_tokens_of_their_own,
     {"readers_of_a_phase_have_one_token"},
     "readers_share"},
    {"DowngradesOnlyInWords",
     fault::downgrades_only_in_words,
     {"a_downgraded_hold_is_renewed_and_lost_as_any", "a_shared_mutex_is_downgraded"},
     "readers_share"},
    {"ResizesOnlyInWords",
     fault::resizes_only_in_words,
     {"the_number_of_permits_outlives_the_holders", "a_semaphore_follows_a_resize"},
     "permits_are_held_together"},
    {"BreaksDown", fault::breaks_down, {"inspect_tells_the_truth"}, "release_says_the_same_twice"},
};

INSTANTIATE_TEST_SUITE_P(Backend, Careless, testing::ValuesIn(trials),
                         [](const auto& each) { return each.param.title; });

class diary : public pawl::conformance::reporter {
public:
    void begins(const promise& which) override {
        now = which.name;
        lines.push_back("begins " + now);
    }
    void kept(const promise& which) override { lines.push_back("kept " + std::string(which.name)); }
    void broke(const promise& which, std::string_view how) override {
        lines.push_back("broke " + std::string(which.name) + ": " + std::string(how));
    }

    std::string now;
    std::vector<std::string> lines;
};

// Sound for one promise, careless for another; throws what is no exception for a third, and has no
// world for all the others, so that the run is short.
class picky_fixture : public pawl::conformance::fixture {
public:
    explicit picky_fixture(std::function<std::string()> now) : now_(std::move(now)) {}
    world fresh() override {
        const std::string name = now_();
        if (name == "another_name_is_another_lock") return tested::faulty_world(fault::none);
        if (name == "examine_says_what_it_is_worth")
            return tested::faulty_world(fault::examines_nothing);
        if (name == "try_asks_once") throw 42;
        throw std::runtime_error("no world");
    }
    const pawl::promises& promised() const override { return tested::faulty_promises; }

private:
    std::function<std::string()> now_;
};

std::string outcome_of(std::string_view name) {
    if (name == "another_name_is_another_lock") return "";
    if (name == "examine_says_what_it_is_worth") return "the guarantee row names no backend";
    if (name == "try_asks_once") return "threw something that is no std::exception";
    return "no world";
}

std::vector<std::string_view> asked() {
    std::vector<std::string_view> names;
    for (const promise& each : all_promises())
        if (each.asked_of(tested::faulty_promises)) names.push_back(each.name);
    return names;
}

TEST(RunAll, TellsOfEachPromiseInItsTurn) {
    diary seen;
    picky_fixture picky([&] { return seen.now; });
    EXPECT_FALSE(pawl::conformance::run_all(picky, seen));
    std::vector<std::string> wanted;
    for (const std::string_view each : asked()) {
        const std::string name(each), how = outcome_of(each);
        wanted.push_back("begins " + name);
        wanted.push_back(how.empty() ? "kept " + name : "broke " + name + ": " + how);
    }
    EXPECT_EQ(seen.lines, wanted);
    EXPECT_LT(asked().size(), all_promises().size()) << "some are about processes";
}

TEST(RunAll, PrintsProgressCountsAndTheNamesOfTheBroken) {
    std::ostringstream out;
    // The name is there before the promise is run.
    picky_fixture picky([&] {
        const std::string text = out.str();
        const auto line = text.substr(text.rfind('\n') + 1);
        return line.substr(0, line.find(' '));
    });
    EXPECT_EQ(pawl::conformance::run_and_print(picky, out), 1);
    std::string wanted, names;
    for (const std::string_view each : asked()) {
        const std::string how = outcome_of(each);
        wanted += std::string(each) + " … " + (how.empty() ? "kept\n" : "BROKEN: " + how + "\n");
        if (!how.empty()) names += (names.empty() ? ": " : ", ") + std::string(each);
    }
    wanted += "1 kept, " + std::to_string(asked().size() - 1) + " broken" + names + "\n";
    EXPECT_EQ(out.str(), wanted);
}

TEST(RunAll, ASoundBackendKeepsThemAll) {
    careless_fixture sound(fault::none);
    std::ostringstream out;
    EXPECT_EQ(pawl::conformance::run_and_print(sound, out), 0);
    EXPECT_TRUE(out.str().ends_with("\n" + std::to_string(asked().size()) + " kept, 0 broken\n"))
        << out.str();
}

TEST(RunAll, PromisesHaveNamesOfTheirOwn) {
    std::vector<std::string_view> names;
    for (const promise& each : all_promises()) {
        names.push_back(each.name);
        EXPECT_TRUE(each.asked_of != nullptr && each.run != nullptr) << each.name;
    }
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
    EXPECT_GT(names.size(), 100U);
}

}  // namespace
