// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The proof: see `usage`.
#include "report.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>

namespace real::proofs {

namespace {

constexpr int not_run = 77;

class reporter {
public:
    explicit reporter(const settings& options)
        : settings_(options), page_(open_page(options.html)) {}

    void add(const std::vector<run_result>& runs) {
        std::cout << "\n" << text_table(runs) << std::endl;
        html_ += html_section(runs);
        for (const auto& each : runs) {
            for (const auto& remark : remarks(each))
                std::cout << remark << "\n";
            any_fault_ = any_fault_ || !each.faults.empty();
            for (const auto& complaint : complaints(each)) {
                std::cout << complaint << "\n";
                is_proved_ = false;
            }
        }
    }

    [[nodiscard]] int finish() {
        page_ << html_page(html_);
        std::cout << "The faults of a run can be repeated with --seed " << settings_.seed << ".\n";
        if (!any_fault_) return not_run;
        return is_proved_ ? 0 : 1;
    }

private:
    const settings& settings_;
    std::ofstream page_;
    std::string html_;
    bool any_fault_ = false;
    bool is_proved_ = true;
};

}  // namespace

int run_verb(const std::vector<std::string>& arguments) {
    const auto options = parse_settings(arguments);
    reporter report(options);
    for (const auto& entry : environments()) {
        if (!options.has_environment(entry.name)) continue;
        if (std::ranges::none_of(entry.faults,
                                 [&](const auto& each) { return options.has_fault(each); })) {
            std::cout << entry.name << " has none of the chosen faults.\n";
            continue;
        }
        if (const auto obstacle = obstacle_of(entry); !obstacle.empty()) {
            std::cout << entry.name << " is not run: " << obstacle << ".\n";
            continue;
        }
        std::vector<run_result> runs;
        for (const auto mode : options.modes)
            runs.push_back(run(entry, options, mode));
        report.add(runs);
    }
    return report.finish();
}

}  // namespace real::proofs
