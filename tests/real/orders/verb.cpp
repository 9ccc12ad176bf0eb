// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "verb.hpp"

#include "report.hpp"
#include "servers.hpp"
#include "settings.hpp"
#include "worker.hpp"

#include <orders/outside.hpp>

#include <real/arguments.hpp>
#include <real/servers/environments.hpp>

#include <fstream>
#include <iostream>

namespace real::orders {

namespace {

constexpr int not_run = 77;
constexpr std::size_t full_run = 5000;  // orders of each program

class director {
public:
    explicit director(const settings& options)
        : settings_(options), page_(open_page(options.html)) {
        report_.seed = options.seed;
    }

    int direct() {
        if (settings_.without.empty() || settings_.without == no_layer) run_all_layers();
        if (settings_.without == no_layer) return finish();
        if (settings_.without.empty()) {
            for (const auto& each : experiments())
                show(each, settings_.orders >= 1000 ? settings_.orders / 4 : settings_.orders);
        } else if (const auto* shown = experiment_of(settings_.without)) {
            show(*shown, settings_.orders);
        } else {
            run_unknown_layers();
        }
        return finish();
    }

private:
    int finish() {
        std::cout << text_of(report_) << std::flush;
        page_ << page_of(report_);
        return report_.complaints.empty() ? 0 : 1;
    }

    run_result run_with_progress(const run_options& options) {
        std::cout << title_of(options) << ", seed " << options.seed << "\n";
        const auto quarter = std::max<std::size_t>(1, options.orders / 4);
        const std::function<void(std::size_t)> progress = [&](std::size_t complete) {
            if (complete % quarter != 0 && complete != options.orders) return;
            const auto filled = complete * 20 / options.orders;
            std::cout << "  [" << std::string(filled, '#') << std::string(20 - filled, '.') << "] "
                      << complete << " of " << options.orders << " orders" << std::endl;
        };
        auto result = run(options, progress);
        std::cout << rules_text(result) << "  in " << result.time.count() << " s" << std::endl;
        return result;
    }

    void complain(const std::vector<std::string>& sentences) {
        report_.complaints.insert(report_.complaints.end(), sentences.begin(), sentences.end());
    }

    void run_all_layers() {
        for (std::size_t i = 0; i < settings_.seeds; ++i) {
            for (const auto each : every_story) {
                report_.all_layers.push_back(run_with_progress(
                    {.story = each, .orders = settings_.orders, .seed = settings_.seed + i}));
                complain(complaints(report_.all_layers.back()));
            }
        }
        complain(missing_faults(report_.all_layers, settings_.orders >= full_run ? 100 : 1));
    }

    void show(const experiment& shown, std::size_t orders) {
        auto result = run_with_progress(options_of(shown, orders, settings_.seed));
        complain(complaints(shown, result, settings_.orders >= full_run ? 10 : 1));
        report_.parts.push_back({&shown, std::move(result)});
    }

    // With layers that no experiment leaves out together, any damage of any program counts.
    void run_unknown_layers() {
        std::size_t damage = 0;
        for (const auto each : every_story) {
            report_.parts.push_back({nullptr, run_with_progress({.story = each,
                                                                 .without = settings_.without,
                                                                 .orders = settings_.orders,
                                                                 .seed = settings_.seed})});
            damage += report_.parts.back().result.damage();
        }
        if (damage == 0)
            complain({"Without " + settings_.without +
                      " there was no damage: other layers replace "
                      "these, or the faults do not bite."});
    }

    const settings settings_;
    std::ofstream page_;
    report report_;
};

}  // namespace

int run_verb(const std::vector<std::string>& arguments) {
    const auto options = parse_settings(arguments);
    if (const auto obstacle = obstacle_of_postgres(); !obstacle.empty()) {
        std::cout << "The experiment with orders is not run: " << obstacle << ".\n";
        return not_run;
    }
    return director(options).direct();
}

std::optional<int> run_helper(const std::vector<std::string>& words) {
    if (const auto worker = read_worker_words(words)) return run_worker(*worker);
    if (words.size() != 2 || words[0] != "orders-outside") return std::nullopt;
    shop::run_outside(0, words[1], outside_faults);
    return 0;
}

}  // namespace real::orders
