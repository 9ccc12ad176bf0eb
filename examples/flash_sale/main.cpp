// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A flash sale: 400 buyers in 8 processes want 100 items. A buyer reads the stock from a file,
// thinks, and writes the stock back. The sale runs without a lock, with one lock, and with ten
// stripes: first on a Redis server of its own, then on SQLite, without a server.
#include "screen.hpp"
#include "shop.hpp"
#include "stock.hpp"
#include "support/process.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace flash_sale {

namespace {

using support::child;
using support::private_redis;
using support::temporary_folder;

constexpr int processes = 8;
constexpr int buyers = 400;
constexpr int items = 100;
constexpr int think_us = 20000;

struct plan {
    std::string name;
    std::string url;  // empty: no lock
    int shelves = 1;
};

volatile sig_atomic_t interrupted = 0;

// The output of the shops, line by line.
class shop_outputs {
public:
    explicit shop_outputs(const std::vector<child>& shops) {
        for (const child& each : shops) {
            ends_.push_back({each.output(), POLLIN, 0});
            rests_.emplace_back();
        }
    }

    // Waits for output for up to 50 ms, and calls `on_line` for each whole line. False when every
    // shop has closed its output.
    template <class F>
    bool listen(F on_line) {
        if (::poll(ends_.data(), ends_.size(), 50) < 0 && errno != EINTR) {
            throw std::runtime_error("listening to the shops failed");
        }
        if (interrupted != 0) {
            throw std::runtime_error("interrupted");
        }
        bool open = false;
        for (std::size_t i = 0; i < ends_.size(); ++i) {
            if (ends_[i].revents != 0 && !read_some(i)) {
                ends_[i].fd = -1;  // poll skips it from now on
            }
            ends_[i].revents = 0;
            open = open || ends_[i].fd >= 0;
            for (std::size_t end = 0; (end = rests_[i].find('\n')) != std::string::npos;) {
                on_line(rests_[i].substr(0, end));
                rests_[i].erase(0, end + 1);
            }
        }
        return open;
    }

private:
    bool read_some(std::size_t i) {
        std::array<char, 4096> buffer{};
        const ssize_t got = ::read(ends_[i].fd, buffer.data(), buffer.size());
        rests_[i].append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        return got > 0;
    }

    std::vector<pollfd> ends_;
    std::vector<std::string> rests_;  // of each shop: the begin of its next line
};

std::vector<child> open_shops(const plan& scenario, const std::filesystem::path& folder) {
    for (int i = 0; i < scenario.shelves; ++i) {
        shelf(folder, i).write(items / scenario.shelves);
    }
    std::vector<child> shops;
    for (int i = 0; i < processes; ++i) {
        const shop_options options{.folder = folder.string(),
                                   .url = scenario.url,
                                   .shelves = scenario.shelves,
                                   .first_buyer = i * (buyers / processes),
                                   .buyers = buyers / processes,
                                   .think_us = think_us};
        shops.emplace_back("/proc/self/exe", options.to_arguments());
    }
    return shops;
}

double percentile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    return values.at(static_cast<std::size_t>(share * static_cast<double>(values.size() - 1)));
}

// All numbers come from the files and from the buyers' own clocks.
outcome judge(const plan& scenario, const std::filesystem::path& folder, pawl::time_point opened,
              const std::vector<double>& waits) {
    const std::vector<sale> sales = read_ledger(folder);
    outcome result{.run = scenario.name,
                   .items = items,
                   .sold = static_cast<int>(sales.size()),
                   .overlaps = count_overlaps(sales)};
    if (!scenario.url.empty()) {
        result.wait_p50_ms = percentile(waits, 0.5);
        result.wait_p99_ms = percentile(waits, 0.99);
    }
    auto last = opened;
    for (const sale& each : sales) {
        last = std::max(last, each.ended);
    }
    result.sales_per_second = result.sold / std::chrono::duration<double>(last - opened).count();
    return result;
}

outcome run(const plan& scenario) {
    const temporary_folder folder;
    std::vector<child> shops = open_shops(scenario, folder.path());
    shop_outputs outputs(shops);
    int ready = 0;
    std::vector<double> waits;
    const auto on_line = [&](const std::string& line) {
        if (line == "ready") {
            ++ready;
        } else if (line.starts_with("done ")) {
            waits.push_back(std::stod(line.substr(5)) / 1000);
        } else {
            throw std::runtime_error(line);
        }
    };
    while (ready < processes) {
        if (!outputs.listen(on_line)) {
            throw std::runtime_error("a shop did not open");
        }
    }
    progress bar(scenario.name, buyers);
    const auto opened = pawl::boot_clock::now();
    for (const child& each : shops) {
        each.write_line("go");
    }
    while (outputs.listen(on_line)) {
        bar.show(static_cast<int>(waits.size()));
    }
    bar.finish(static_cast<int>(waits.size()));
    for (child& each : shops) {
        if (const int status = each.wait(); status != 0) {
            throw std::runtime_error("a shop ended with status " + std::to_string(status));
        }
    }
    return judge(scenario, folder.path(), opened, waits);
}

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
        return flash_sale::run_all();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "flash_sale: %s\n", e.what());
        return 1;
    }
}
