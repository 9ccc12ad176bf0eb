// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A flash sale: 400 buyers in 8 processes want 100 items. A buyer reads the stock from a file,
// thinks, and writes the stock back. The sale runs without a lock, with one lock, and with ten
// stripes: first on a Redis server of its own, then on SQLite, without a server. With --redlock, it
// runs on five Redis servers, of which two are killed during the sale.
#include "redlock_sale.hpp"
#include "sale.hpp"
#include "screen.hpp"
#include "shop.hpp"
#include "support/process.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace flash_sale {

namespace {

using support::private_redis;
using support::temporary_folder;

// True if, with locks, all items were sold once and no two sales overlapped.
bool hold_sale(const std::string& title, const std::string& url) {
    std::printf("%s\n", title.c_str());
    std::vector<outcome> outcomes;
    outcomes.push_back(run({.name = "no lock", .url = ""}));
    outcomes.push_back(run({.name = "one lock", .url = url}));
    outcomes.push_back(run({.name = "10 stripes", .url = url, .shelves = 10}));
    print_table(outcomes);
    std::printf("  Without a lock, %d buyers paid for an item that was not in stock.\n\n",
                std::max(0, outcomes[0].sold - items));
    return std::all_of(outcomes.begin() + 1, outcomes.end(), [](const outcome& each) {
        return each.sold == items && each.overlaps == 0;
    });
}

int run_all() {
    std::printf(
        "Flash sale: %d items, %d buyers in %d processes. A sale reads the stock, thinks for %d "
        "ms\n"
        "and writes the stock back.\n\n",
        items, buyers, processes, think_us / 1000);
    const temporary_folder folder;
    bool good = true;
    try {
        const private_redis redis(folder.path());
        good = hold_sale("Locks in a private Redis server at " + redis.url(), redis.url());
    } catch (const std::exception& e) {
        if (interrupted != 0) {
            throw;
        }
        std::printf("  %s\n\n", e.what());  // continue: SQLite needs no server
        good = false;
    }
    const std::string file = (folder.path() / "locks.db").string();
    good = hold_sale("Locks in a SQLite file, no server at all", "sqlite:" + file) && good;
    std::printf(
        "%s\n",
        good ? "With the locks, every sale had its item, and no two sales of a shelf overlapped."
             : "A sale above failed.");
    return good ? 0 : 1;
}

void on_signal(int) { interrupted = 1; }

}  // namespace

}  // namespace flash_sale

int main(int argc, char** argv) {
    try {
        if (argc > 1 && std::string(argv[1]) == "shop") {
            return flash_sale::run_shop(
                flash_sale::shop_options::from_arguments(argc - 1, argv + 1));
        }
        struct sigaction action {};
        action.sa_handler = flash_sale::on_signal;
        ::sigaction(SIGINT, &action, nullptr);
        ::sigaction(SIGTERM, &action, nullptr);
        ::signal(SIGPIPE, SIG_IGN);
        const std::string_view option = argc > 1 ? argv[1] : "";
        if (argc > 2 || (!option.empty() && option != "--redlock")) {
            std::fprintf(stderr,
                         "Usage: flash_sale [--redlock]\n"
                         "  --redlock  locks in five Redis servers, of which two are killed\n");
            return option == "--help" ? 0 : 64;
        }
        return option.empty() ? flash_sale::run_all() : flash_sale::run_redlock_sale();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "flash_sale: %s\n", e.what());
        return 1;
    }
}
