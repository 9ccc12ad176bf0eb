// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Tests of the conformance suite itself: it runs on backends with one fault each, must find that
// fault, and must not report others. Its report must be right.
#include "faulty_backend.hpp"

#include <pawl/spi/backend.hpp>
#include <pawl/spi/conformance.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace {

using pawl::conformance::all_test_cases;
using pawl::conformance::test_case;
using pawl::conformance::test_service;
using tested::fault;

const test_case& promise_named(std::string_view name) {
    const auto all = all_test_cases();
    const auto position =
        std::find_if(all.begin(), all.end(), [&](const test_case& it) { return it.name == name; });
    if (position == all.end()) throw std::logic_error("no promise " + std::string(name));
    return *position;
}

class faulty_fixture : public pawl::conformance::fixture {
public:
    explicit faulty_fixture(fault tested_fault) : fault_(tested_fault) {}
    test_service make_test_service() override { return tested::make_faulty_service(fault_); }
    const pawl::spi::capabilities& capabilities() const override {
        return tested::sound_capabilities;
    }

private:
    fault fault_;
};

struct fault_case {
    std::string title;
    fault injected_fault;
    std::vector<std::string_view> must_break;
    std::string_view must_be_kept;
};
void PrintTo(const fault_case& tested, std::ostream* out) { *out << tested.title; }

class Careless : public testing::TestWithParam<fault_case> {};

TEST_P(Careless, IsCaughtAndOnlyThere) {
    faulty_fixture careless(GetParam().injected_fault);
    for (const std::string_view each : GetParam().must_break)
        EXPECT_THROW(promise_named(each).run(careless), std::exception) << each;
    EXPECT_NO_THROW(promise_named(GetParam().must_be_kept).run(careless))
        << GetParam().must_be_kept;
}

const fault_case fault_cases[] = {
    {"GivesItToEverybody",
     fault::gives_it_to_everybody,
     {"threads_never_overlap", "clients_never_overlap", "held_is_busy_for_everybody_else",
      "nobody_releases_anothers_lock", "try_sends_one_request", "wait_of_zero_sends_one_request",
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
     {"bounded_wait_gets_it_in_time", "the_queue_is_served_in_order",
      "a_release_hands_over_to_a_waiter"},
     "try_sends_one_request"},
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
     "try_sends_one_request"},
    {"ExaminesNothing",
     fault::examines_nothing,
     {"examine_reports_the_guarantees"},
     "inspect_tells_the_truth"},
    {"PromisesTooMuch",
     fault::promises_too_much,
     {"its_capabilities_are_the_fixtures"},
     "examine_reports_the_guarantees"},
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

INSTANTIATE_TEST_SUITE_P(Backend, Careless, testing::ValuesIn(fault_cases),
                         [](const auto& each) { return each.param.title; });

class recording_reporter : public pawl::conformance::reporter {
public:
    void started(const test_case& tested_fault) override {
        current_test = tested_fault.name;
        lines.push_back("begins " + current_test);
    }
    void passed(const test_case& tested_fault) override {
        lines.push_back("kept " + std::string(tested_fault.name));
    }
    void failed(const test_case& tested_fault, std::string_view failure) override {
        lines.push_back("broke " + std::string(tested_fault.name) + ": " + std::string(failure));
    }

    std::string current_test;
    std::vector<std::string> lines;
};

// Correct for one test, faulty for another; it throws an object that is no exception for a third,
// and has no service for all the others, so that the run is short.
class selecting_fixture : public pawl::conformance::fixture {
public:
    explicit selecting_fixture(std::function<std::string()> current_test)
        : current_test_(std::move(current_test)) {}
    test_service make_test_service() override {
        const std::string name = current_test_();
        if (name == "another_name_is_another_lock") return tested::make_faulty_service(fault::none);
        if (name == "examine_reports_the_guarantees")
            return tested::make_faulty_service(fault::examines_nothing);
        if (name == "try_sends_one_request") throw 42;
        throw std::runtime_error("no service");
    }
    const pawl::spi::capabilities& capabilities() const override {
        return tested::sound_capabilities;
    }

private:
    std::function<std::string()> current_test_;
};

std::string outcome_of(std::string_view name) {
    if (name == "another_name_is_another_lock") return "";
    if (name == "examine_reports_the_guarantees") return "the guarantee row names no backend";
    if (name == "try_sends_one_request") return "threw an object that is no std::exception";
    return "no service";
}

std::vector<std::string_view> selected_tests() {
    std::vector<std::string_view> names;
    for (const test_case& each : all_test_cases())
        if (each.applies_to(tested::sound_capabilities)) names.push_back(each.name);
    return names;
}

TEST(RunAll, TellsOfEachPromiseInItsTurn) {
    recording_reporter seen;
    selecting_fixture picky([&] { return seen.current_test; });
    EXPECT_FALSE(pawl::conformance::run_all(picky, seen));
    std::vector<std::string> wanted;
    for (const std::string_view each : selected_tests()) {
        const std::string name(each), failure = outcome_of(each);
        wanted.push_back("begins " + name);
        wanted.push_back(failure.empty() ? "kept " + name : "broke " + name + ": " + failure);
    }
    EXPECT_EQ(seen.lines, wanted);
    EXPECT_LT(selected_tests().size(), all_test_cases().size()) << "some are about processes";
}

TEST(RunAll, PrintsProgressCountsAndTheNamesOfTheBroken) {
    std::ostringstream out;
    // The name is printed before the test runs.
    selecting_fixture picky([&] {
        const std::string text = out.str();
        const auto line = text.substr(text.rfind('\n') + 1);
        return line.substr(0, line.find(' '));
    });
    EXPECT_EQ(pawl::conformance::run_and_print(picky, out), 1);
    std::string wanted, names;
    for (const std::string_view each : selected_tests()) {
        const std::string failure = outcome_of(each);
        wanted += std::string(each) + " … " +
                  (failure.empty() ? "passed\n" : "FAILED: " + failure + "\n");
        if (!failure.empty()) names += (names.empty() ? ": " : ", ") + std::string(each);
    }
    wanted += "1 passed, " + std::to_string(selected_tests().size() - 1) + " failed" + names + "\n";
    EXPECT_EQ(out.str(), wanted);
}

TEST(RunAll, ASoundBackendKeepsThemAll) {
    faulty_fixture sound(fault::none);
    std::ostringstream out;
    EXPECT_EQ(pawl::conformance::run_and_print(sound, out), 0);
    EXPECT_TRUE(
        out.str().ends_with("\n" + std::to_string(selected_tests().size()) + " passed, 0 failed\n"))
        << out.str();
}

TEST(RunAll, PromisesHaveNamesOfTheirOwn) {
    std::vector<std::string_view> names;
    for (const test_case& each : all_test_cases()) {
        names.push_back(each.name);
        EXPECT_TRUE(each.applies_to != nullptr && each.run != nullptr) << each.name;
    }
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
    EXPECT_GT(names.size(), 100U);
}

}  // namespace
