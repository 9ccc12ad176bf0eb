// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "screen.hpp"

#include <unistd.h>

#include <cstdio>

namespace shop {
namespace {

using namespace std::chrono_literals;

bool is_terminal() {
    static const bool is_one = ::isatty(STDOUT_FILENO) == 1;
    return is_one;
}

void print_count(const char* words, std::uint64_t count) {
    if (count > 0) std::printf("  %6llu  %s\n", static_cast<unsigned long long>(count), words);
}

std::string title_of(const run_options& options) {
    const auto missing = options.layers.missing();
    return missing.empty() ? "all layers" : "without " + missing;
}

}  // namespace

progress::progress(std::string title, int orders) : title_(std::move(title)), orders_(orders) {}

void progress::show(int finished) {
    const auto now = std::chrono::steady_clock::now();
    if (now - drawn_ < (is_terminal() ? 50ms : 2000ms)) return;
    draw(finished, is_terminal() ? "\r" : "\n");
    drawn_ = now;
}

// On a terminal, the next line stands in its place.
void progress::finish(int finished) {
    if (is_terminal())
        std::printf("\r%78s\r", "");
    else
        draw(finished, "\n");
    std::fflush(stdout);
}

void progress::draw(int finished, const char* end) const {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
    std::string bar;
    constexpr int width = 24;
    for (int i = 0; is_terminal() && i < width; ++i)
        bar += i < finished * width / orders_ ? "█" : "░";
    std::printf("  %-22s %s %d of %d orders  %.1f s%s", title_.c_str(), bar.c_str(), finished,
                orders_, took.count(), end);
    std::fflush(stdout);
}

void print_figures(const run_options& options, const run_figures& figures) {
    const auto& wrong = figures.audited.wrong;
    std::printf("  %d processes killed, %d stopped, the lock server emptied %d times.\n",
                figures.died, figures.stopped, figures.emptied);
    if (figures.passes > 0)
        std::printf("  The night found %llu orders half done, and repaired %llu in %d passes.\n",
                    static_cast<unsigned long long>(figures.half_done),
                    static_cast<unsigned long long>(figures.repaired), figures.passes);
    std::printf("  %llu orders of %d, %llu effects outside; %llu statements.\n",
                static_cast<unsigned long long>(figures.audited.orders), options.orders,
                static_cast<unsigned long long>(figures.audited.effects),
                static_cast<unsigned long long>(figures.statements));
    print_count("twice in the database", wrong.twice_here);
    print_count("twice outside", wrong.twice_outside);
    print_count("not the same outside and here", wrong.differing);
    print_count("unfinished", wrong.unfinished);
    print_count("  of these, charged outside", wrong.unknown_here);
    print_count("items neither sold nor in the stock", wrong.wrong_stock);
    for (std::size_t i = 0; i < wrong.example.size(); ++i)
        std::printf("    %s%s\n", i == 0 ? "for example " : "  ", wrong.example[i].c_str());
}

void print_table_head() {
    std::printf("\n  %-22s %6s %8s %11s  %s\n", "layers", "twice", "charged", "unfinished",
                "what it costs, or");
    std::printf("  %-22s %6s %8s %11s  %s\n", "", "made", "twice", "", "another layer catches");
}

void print_table_row(const run_options& options, const run_figures& figures) {
    const auto& wrong = figures.audited.wrong;
    const auto number = [](std::uint64_t count) { return static_cast<unsigned long long>(count); };
    std::string note = cost_of(options, figures);
    if (wrong.unknown_here > 0)
        note = std::to_string(wrong.unknown_here) + " of these were charged";
    if (const auto judged = judge(options, figures); !judged.is_good) note = judged.sentence;
    std::printf("  %-22s %6llu %8llu %11llu%s\n", title_of(options).c_str(),
                number(wrong.twice_here), number(wrong.twice_outside), number(wrong.unfinished),
                (note.empty() ? note : "  " + note).c_str());
    std::fflush(stdout);
}

}  // namespace shop
