// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "sale.hpp"

#include "shop.hpp"
#include "stock.hpp"
#include "support/process.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace flash_sale {

volatile sig_atomic_t interrupted = 0;

namespace {

using support::child;
using support::temporary_folder;

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
    if (!scenario.url.empty()) result.tokens_out_of_order = count_late_tokens(sales);
    result.sales_per_second = result.sold / std::chrono::duration<double>(last - opened).count();
    return result;
}

}  // namespace

outcome run(const plan& scenario, const std::function<std::string(int)>& on_sales) {
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
    const auto report_sales = [&] {
        if (!on_sales) return;
        const auto sold = read_ledger(folder.path()).size();
        const std::string event = on_sales(static_cast<int>(sold));
        if (!event.empty()) bar.note(event);
    };
    const auto opened = pawl::boot_clock::now();
    for (const child& each : shops) {
        each.write_line("go");
    }
    while (outputs.listen(on_line)) {
        report_sales();
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

}  // namespace flash_sale
