// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "verdict.hpp"

namespace shop {
namespace {

void append(std::string& text, std::uint64_t count, const std::string& words) {
    if (count == 0) return;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + ' ' + words;
}

}  // namespace

std::string cost_of(const run_options& options, const run_figures& figures) {
    const auto lacks = [&](layer each) {
        return has_layer(options.told, each) && !options.layers.has(each);
    };
    const auto answered = figures.calls - figures.audited.effects;
    std::string text;
    if (lacks(layer::lock) && options.told == story::sale) {
        if (figures.most_open > static_cast<std::uint64_t>(stripes))
            append(text, figures.most_open,
                   "transactions at a time in " + std::to_string(stripes) + " rows");
    } else if (lacks(layer::lock)) {
        append(text, figures.waits, "looks in vain");
    }
    if (lacks(layer::look)) append(text, figures.lost_claims, "commits in vain");
    if (lacks(layer::record) && options.told == story::payment)
        append(text, answered, "calls in vain");
    if ((lacks(layer::record) || lacks(layer::token)) && options.told == story::orders)
        append(text, figures.failures.size(), "presses met the constraint");
    if (lacks(layer::unique) && options.told == story::orders)
        append(text, figures.late_results, "late results refused");
    if (lacks(layer::fence)) append(text, answered, "repeats answered by key");
    return text;
}

verdict judge(const run_options& options, const run_figures& figures) {
    const auto wrong = figures.audited.wrong.total();
    const auto missing = options.layers.missing();
    const std::string without = "Without " + missing + ": ";
    if (missing.empty())
        return {wrong == 0, wrong == 0 ? "With all layers: 0 wrong."
                                       : "With all layers something is WRONG. This is a defect."};
    if (does_damage(options.told, options.layers))
        return wrong > 0 ? verdict{true, without + std::to_string(wrong) + " wrong."}
                         : verdict{false, without +
                                              "no damage could be shown; the faults do "
                                              "not bite."};
    if (wrong > 0) return {false, without + "something is WRONG that another layer covers."};
    const auto cost = cost_of(options, figures);
    if (cost.empty()) return {false, without + "nothing could be shown; the faults do not bite."};
    return {true, without + "0 wrong, and " + cost + "."};
}

}  // namespace shop
