// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_groups.hpp"

#include <ostream>

namespace pawl::conformance {

namespace {

class printing_reporter : public reporter {
public:
    explicit printing_reporter(std::ostream& output) : output_(output) {}

    void started(const test_case& test) override { output_ << test.name << " … " << std::flush; }
    void passed(const test_case&) override {
        output_ << "passed\n";
        ++passed_;
    }
    void failed(const test_case& test, std::string_view failure) override {
        output_ << "FAILED: " << failure << '\n';
        failed_.push_back(test.name);
    }
    void summary() {
        output_ << passed_ << " passed, " << failed_.size() << " failed";
        for (std::size_t i = 0; i < failed_.size(); ++i)
            output_ << (i == 0 ? ": " : ", ") << failed_[i];
        output_ << std::endl;
    }

private:
    std::ostream& output_;
    std::size_t passed_ = 0;
    std::vector<std::string_view> failed_;
};

}  // namespace

std::span<const test_case> all_test_cases() noexcept {
    static const std::vector<test_case> tests = [] {
        std::vector<test_case> result;
        for (const auto group :
             {exclusion_tests(),   waiting_tests(),      cancelling_tests(), lease_tests(),
              dead_holder_tests(), token_tests(),        queue_tests(),      lifetime_tests(),
              name_tests(),        inspection_tests(),   mutex_tests(),      contention_tests(),
              work_tests(),        owner_tests(),        lock_set_tests(),   value_tests(),
              election_tests(),    shared_tests(),       permits_tests(),    fair_tests(),
              hold_change_tests(), shared_mutex_tests(), latch_tests(),      durability_tests(),
              queue_rule_tests()})
            result.insert(result.end(), group.begin(), group.end());
        return result;
    }();
    return tests;
}

bool run_all(fixture& service_fixture, reporter& output) {
    bool all_passed = true;
    for (const test_case& each : all_test_cases()) {
        if (!each.applies_to(service_fixture.capabilities())) continue;
        output.started(each);
        std::optional<std::string> failure;
        try {
            each.run(service_fixture);
        } catch (const std::exception& thrown) {
            failure = thrown.what();
        } catch (...) {
            failure = "threw an object that is no std::exception";
        }
        all_passed = all_passed && !failure;
        if (failure)
            output.failed(each, *failure);
        else
            output.passed(each);
    }
    return all_passed;
}

int run_and_print(fixture& service_fixture, std::ostream& output) {
    printing_reporter printed(output);
    const bool all_passed = run_all(service_fixture, printed);
    printed.summary();
    return all_passed ? 0 : 1;
}

}  // namespace pawl::conformance
