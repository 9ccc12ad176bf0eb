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
        output_ << "kept\n";
        ++kept_;
    }
    void failed(const test_case& test, std::string_view failure) override {
        output_ << "BROKEN: " << failure << '\n';
        broken_.push_back(test.name);
    }
    void summary() {
        output_ << kept_ << " kept, " << broken_.size() << " broken";
        for (std::size_t i = 0; i < broken_.size(); ++i)
            output_ << (i == 0 ? ": " : ", ") << broken_[i];
        output_ << std::endl;
    }

private:
    std::ostream& output_;
    std::size_t kept_ = 0;
    std::vector<std::string_view> broken_;
};

}  // namespace

std::span<const test_case> all_test_cases() noexcept {
    static const std::vector<test_case> tests = [] {
        std::vector<test_case> result;
        for (const auto group :
             {exclusion_promises(),    waiting_promises(),     cancelling_promises(),
              lease_promises(),        dead_holder_promises(), token_promises(),
              queue_promises(),        lifetime_promises(),    name_promises(),
              inspection_promises(),   mutex_promises(),       contention_promises(),
              work_promises(),         owner_promises(),       lock_set_promises(),
              value_promises(),        election_promises(),    shared_promises(),
              permits_promises(),      fair_promises(),        hold_change_promises(),
              shared_mutex_promises(), latch_promises()})
            result.insert(result.end(), group.begin(), group.end());
        return result;
    }();
    return tests;
}

bool run_all(fixture& service_fixture, reporter& output) {
    bool all_kept = true;
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
        all_kept = all_kept && !failure;
        if (failure)
            output.failed(each, *failure);
        else
            output.passed(each);
    }
    return all_kept;
}

int run_and_print(fixture& service_fixture, std::ostream& output) {
    printing_reporter printed(output);
    const bool all_kept = run_all(service_fixture, printed);
    printed.summary();
    return all_kept ? 0 : 1;
}

}  // namespace pawl::conformance
