// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "screen.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace flash_sale {

namespace {

using namespace std::chrono_literals;

constexpr int bar_width = 30;

bool on_a_terminal() {
    static const bool yes = ::isatty(STDOUT_FILENO) == 1;
    return yes;
}

std::string bar(int part, int whole) {
    const int full = whole == 0 ? bar_width : bar_width * part / whole;
    std::string text;
    for (int i = 0; i < bar_width; ++i) {
        text += i < full ? "█" : "░";
    }
    return text;
}

std::string milliseconds(const std::optional<double>& value) {
    if (!value) {
        return "-";
    }
    char text[32];
    std::snprintf(text, sizeof text, "%.0f ms", *value);
    return text;
}

}  // namespace

progress::progress(std::string run, int buyers) : run_(std::move(run)), buyers_(buyers) {}

void progress::show(int served) {
    const auto now = std::chrono::steady_clock::now();
    if (now - drawn_ < (on_a_terminal() ? 50ms : 2000ms)) {
        return;
    }
    if (on_a_terminal()) {
        draw(served, "\r");
    } else if (drawn_ != std::chrono::steady_clock::time_point{}) {
        draw(served, "\n");
    }
    drawn_ = now;
}

void progress::finish(int served) { draw(served, "\n"); }

void progress::note(const std::string& text) {
    // Blanks cover the bar, which is drawn again below the line.
    std::printf(on_a_terminal() ? "\r  %-78s\n" : "  %s\n", text.c_str());
    std::fflush(stdout);
}

void progress::draw(int served, const char* end) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
    const std::string picture = on_a_terminal() ? bar(served, buyers_) + "  " : "";
    std::printf("  %-10s  %s%3d of %d buyers served  %5.1f s%s", run_.c_str(), picture.c_str(),
                served, buyers_, took.count(), end);
    std::fflush(stdout);
}

void print_table(const std::vector<outcome>& outcomes) {
    std::printf("\n  %-10s %8s %9s %9s %10s %10s %9s\n", "run", "sold", "oversold", "overlaps",
                "wait p50", "wait p99", "sales/s");
    for (const outcome& each : outcomes) {
        std::printf("  %-10s %8d %9d %9d %10s %10s %9.0f\n", each.run.c_str(), each.sold,
                    each.sold - each.items, each.overlaps, milliseconds(each.wait_p50_ms).c_str(),
                    milliseconds(each.wait_p99_ms).c_str(), each.sales_per_second);
    }
    std::printf("\n");
}

}  // namespace flash_sale
