// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Three stories of a shop under faults, with all layers behind the lock and without some of them:
// see ../README.md.
#include "screen.hpp"
#include "worker.hpp"

#include <orders/outside.hpp>

#include <signal.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace shop {
namespace {

constexpr int exit_usage = 64;
constexpr std::string_view usage_text =
    "Usage: orders [payment|sale|orders] [--without LAYER[,LAYER]] [--orders N] [--lanes N]\n"
    "              [--sqlite]\n"
    "       orders --table [--sqlite]\n"
    "  payment    a payment is verified by three triggers at once\n"
    "  sale       thousands of buyers, each pressing twice\n"
    "  orders     orders are created and charged, and repaired at night\n"
    "  --without  takes a layer away, and shows the damage; the layers are lock, record, look,\n"
    "             token, unique, key, fence, reconciliation\n"
    "  --orders   orders, payments or buyers; 40, in the sale 2000\n"
    "  --lanes    orders at the same time; 4\n"
    "  --sqlite   the records in a SQLite file, also if PostgreSQL is here\n"
    "  --table    the story `orders` with each layer taken away\n"
    "Exit status: 0 if nothing is wrong with all layers, or if the damage without them was shown;\n"
    "1 otherwise; 64 for wrong arguments.\n";

struct arguments {
    std::optional<story> told;
    layer_set layers;
    int orders = 0, lanes = 4;
    bool wants_sqlite = false, wants_table = false, wants_help = false;
};

int number_of(std::string_view option, const char* text, int most) {
    const int number = text == nullptr ? 0 : std::atoi(text);
    if (number < 1 || number > most)
        throw std::invalid_argument(std::string(option) + " needs a number from 1 to " +
                                    std::to_string(most) + ".");
    return number;
}

arguments parse(int argc, char** argv) {
    arguments parsed;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--sqlite")
            parsed.wants_sqlite = true;
        else if (word == "--table")
            parsed.wants_table = true;
        else if (word == "--help")
            parsed.wants_help = true;
        else if (word == "--orders")
            parsed.orders = number_of(word, argv[++i], 99'999);
        else if (word == "--lanes")
            parsed.lanes = number_of(word, argv[++i], 16);
        else if (word == "--without" && i + 1 < argc)
            parsed.layers = all_without(argv[++i]);
        else if (word == "payment")
            parsed.told = story::payment;
        else if (word == "sale")
            parsed.told = story::sale;
        else if (word == "orders")
            parsed.told = story::orders;
        else
            throw std::invalid_argument("\"" + std::string(word) +
                                        "\" is no argument; see --help.");
    }
    if (parsed.wants_table && (parsed.told || parsed.layers != layer_set()))
        throw std::invalid_argument(
            "--table takes away each layer of the story orders by itself; "
            "leave out the story and --without.");
    return parsed;
}

void check_layers(story told, const layer_set& layers) {
    std::string possible;
    bool is_possible = true;
    for (const auto each : every_layer) {
        if (has_layer(told, each))
            possible += (possible.empty() ? "" : ", ") + std::string(name_of(each));
        else
            is_possible = is_possible && layers.has(each);
    }
    if (!is_possible)
        throw std::invalid_argument("The story " + std::string(name_of(told)) +
                                    " has only these layers: " + possible + ".");
}

run_figures run_with_progress(servers& started, const run_options& options,
                              const std::string& title) {
    progress bar(title, options.orders);
    auto figures = run_story(started, options, [&](int finished) { bar.show(finished); });
    bar.finish(options.orders);
    return figures;
}

bool tell(servers& started, const run_options& options) {
    const auto missing = options.layers.missing();
    const std::string name(name_of(options.told));
    std::printf("%s, %s\n", name.c_str(),
                missing.empty() ? "with all layers" : ("without " + missing).c_str());
    const auto figures = run_with_progress(started, options, name);
    print_figures(options, figures);
    const auto judged = judge(options, figures);
    std::printf("  %s\n\n", judged.sentence.c_str());
    return judged.is_good;
}

int run_table(servers& started, const arguments& parsed) {
    constexpr std::array rows{
        "",      "lock",         "look",          "record", "token",     "unique",
        "fence", "token,unique", "record,unique", "key",    "key,fence", "reconciliation"};
    std::printf(
        "Each row: orders are created and charged by processes of which some are killed or "
        "stopped, and\nrepaired at night.\n");
    print_table_head();
    bool is_good = true;
    for (const char* each : rows) {
        const run_options options{.layers = all_without(each),
                                  .orders = parsed.orders > 0 ? parsed.orders : 40,
                                  .lanes = parsed.lanes};
        const auto title = *each == 0 ? std::string("all layers") : "without " + std::string(each);
        const auto figures = run_with_progress(started, options, title);
        print_table_row(options, figures);
        is_good = is_good && judge(options, figures).is_good;
    }
    std::printf("\n%s\n", is_good ? "With all layers 0 orders are wrong, and each layer that is "
                                    "taken away is missed."
                                  : "A row above is NOT as it should be.");
    return is_good ? 0 : 1;
}

int run_all(const arguments& parsed) {
    for (const auto told : {story::payment, story::sale, story::orders})
        if (!parsed.told || *parsed.told == told) check_layers(told, parsed.layers);
    servers started(parsed.wants_sqlite);
    std::printf("%s.\n\n", started.text().c_str());
    if (parsed.wants_table) return run_table(started, parsed);
    bool is_good = true;
    for (const auto told : {story::payment, story::sale, story::orders}) {
        if (parsed.told && *parsed.told != told) continue;
        const int usual = told == story::sale ? 2000 : 40;
        is_good = tell(started, {told, parsed.layers, parsed.orders > 0 ? parsed.orders : usual,
                                 parsed.lanes}) &&
                  is_good;
    }
    return is_good ? 0 : 1;
}

void on_interrupt(int) { interrupted = 1; }

void handle_signals() {
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
}

int run_program(int argc, char** argv) {
    const std::string_view first = argc > 1 ? argv[1] : "";
    if (first == "worker") return run_worker(worker_options::from_arguments(argc, argv));
    if (first == "outside" && argc == 3) {
        run_outside(0, argv[2], {.unanswered_of_1000 = 120});
        return 0;
    }
    handle_signals();
    const auto parsed = parse(argc, argv);
    if (parsed.wants_help) return std::fputs(usage_text.data(), stdout), 0;
    return run_all(parsed);
}

}  // namespace
}  // namespace shop

int main(int argc, char** argv) {
    try {
        return shop::run_program(argc, argv);
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "orders: %s\n", error.what());
        return shop::exit_usage;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "orders: %s\n", shop::interrupted != 0 ? "interrupted" : error.what());
        return 1;
    }
}
