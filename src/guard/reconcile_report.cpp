// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/guard/reconcile_report.hpp>

#include "report_text.hpp"

#include <iomanip>
#include <sstream>

namespace pawl::guard {
namespace {

std::string json_time(std::chrono::system_clock::time_point when) {
    return '"' + utc_text(when) + '"';
}

std::string json_counts(const reconcile_counts& counts) {
    return "\"keys\":" + std::to_string(counts.keys) +
           ",\"repaired\":" + std::to_string(counts.repaired) +
           ",\"agreed\":" + std::to_string(counts.agreed) +
           ",\"failed\":" + std::to_string(counts.failed);
}

std::string json_run(const reconcile_run& run) {
    return "{\"name\":" + json_text(run.name) + ",\"run\":\"" + to_string(run.number) +
           "\",\"token\":\"" + to_string(run.token) + "\",\"after\":" + json_text(run.after) + ',' +
           json_counts(run.counts) + ",\"began\":" + json_time(run.began) +
           ",\"ended\":" + (run.ended ? json_time(*run.ended) : "null") +
           ",\"error\":" + json_text(run.error) + '}';
}

}  // namespace

const char* to_string(reconcile_end end) noexcept {
    switch (end) {
    case reconcile_end::finished: return "finished";
    case reconcile_end::stopped: return "stopped";
    case reconcile_end::lost: return "lost";
    case reconcile_end::led_elsewhere: break;
    }
    return "led_elsewhere";
}

std::string to_table(const reconcile_report& report) {
    std::ostringstream out;
    const auto& counts = report.counts;
    out << (report.dry_run   ? "dry run, "
            : report.resumed ? "resumed, "
                             : "")
        << to_string(report.end) << "; keys " << counts.keys << ", repaired " << counts.repaired
        << ", agreed " << counts.agreed << ", failed " << counts.failed << '\n';
    for (const auto& each : report.failures)
        out << "failed  " << plain_text(each.key)
            << (each.reason.empty() ? "" : ": " + plain_text(each.reason)) << '\n';
    if (counts.failed > report.failures.size())
        out << "… and " << counts.failed - report.failures.size() << " more\n";
    return out.str();
}

std::string to_table(std::span<const reconcile_run> history) {
    std::ostringstream out;
    out << std::left << std::setw(26) << "BEGAN" << std::setw(26) << "ENDED" << std::right
        << std::setw(9) << "KEYS" << std::setw(9) << "REPAIRED" << std::setw(9) << "AGREED"
        << std::setw(9) << "FAILED"
        << "  NAME\n";
    for (const auto& run : history) {
        out << std::left << std::setw(26) << utc_text(run.began) << std::setw(26)
            << (run.ended ? utc_text(*run.ended) : "not yet") << std::right << std::setw(9)
            << run.counts.keys << std::setw(9) << run.counts.repaired << std::setw(9)
            << run.counts.agreed << std::setw(9) << run.counts.failed << "  "
            << plain_text(run.name) << '\n';
        if (!run.error.empty()) out << "    failed: " << plain_text(run.error) << '\n';
    }
    return out.str();
}

std::string to_json(const reconcile_report& report) {
    std::string failures;
    for (const auto& each : report.failures)
        failures += (failures.empty() ? "{\"key\":" : ",{\"key\":") + json_text(each.key) +
                    ",\"reason\":" + json_text(each.reason) + '}';
    const auto word = [](bool is_true) { return is_true ? "true" : "false"; };
    return std::string("{\"end\":\"") + to_string(report.end) +
           "\",\"resumed\":" + word(report.resumed) + ",\"dry_run\":" + word(report.dry_run) +
           ",\"token\":" + (report.token ? '"' + to_string(report.token) + '"' : "null") + ',' +
           json_counts(report.counts) + ",\"failures\":[" + failures + "]}";
}

std::string to_json(std::span<const reconcile_run> history) {
    std::string runs;
    for (const auto& each : history)
        runs += (runs.empty() ? "" : ",") + json_run(each);
    return '[' + runs + ']';
}

}  // namespace pawl::guard
