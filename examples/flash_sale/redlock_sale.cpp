// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redlock_sale.hpp"

#include "sale.hpp"
#include "screen.hpp"
#include "support/process.hpp"

#include <pawl/blocking/redlock_administration.hpp>
#include <pawl/redlock.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace flash_sale {

#if PAWL_WITH_REDIS
namespace {

using support::private_redis;

constexpr std::size_t node_count = 5;

// The servers, each in a folder of its own. A server is killed after so many sales.
class nodes {
public:
    nodes() {
        for (std::size_t i = 0; i < node_count; ++i)
            servers_.push_back(std::make_unique<node>());
    }

    [[nodiscard]] std::string url() const {
        std::string text = "redlock://";
        for (const auto& each : servers_)
            text += (text.back() == '/' ? "" : ",") + each->name();
        return text;
    }

    // Returns what happened, if anything did.
    std::string on_sales(int sold) {
        if (next_ == schedule.size() || sold < schedule[next_].sales) return {};
        auto& server = servers_[schedule[next_++].server];
        const std::string name = server->name();
        server.reset();
        const auto left = std::ranges::count_if(servers_, [](const auto& each) { return !!each; });
        return "after " + std::to_string(sold) + " sales, the server " + name +
               " is killed: " + std::to_string(left) + " of 5 are left";
    }

    [[nodiscard]] bool all_are_killed() const noexcept { return next_ == schedule.size(); }

private:
    struct node {
        support::temporary_folder folder;
        private_redis server{folder.path()};
        [[nodiscard]] std::string name() const {
            return "127.0.0.1:" + std::to_string(server.port());
        }
    };
    struct kill {
        int sales;
        std::size_t server;
    };
    static constexpr std::array schedule{kill{30, 1}, kill{60, 3}};

    std::vector<std::unique_ptr<node>> servers_;
    std::size_t next_ = 0;
};

}  // namespace

int run_redlock_sale() {
    std::printf(
        "Flash sale: %d items, %d buyers in %d processes. A sale reads the stock, thinks for %d "
        "ms\nand writes the stock back.\n\n",
        items, buyers, processes, think_us / 1000);
    nodes servers;
    std::printf(
        "The lock is in five private Redis servers, which know nothing of each other:\n%s\n",
        servers.url().c_str());
    // Nobody can hold a lock of servers that have just been started. So they need not wait.
    pawl::blocking::redlock_administration(pawl::redlock::parse(servers.url())).begin_set();
    std::vector<outcome> outcomes;
    outcomes.push_back(run({.name = "no lock", .url = ""}));
    outcomes.push_back(run({.name = "Redlock", .url = servers.url()},
                           [&](int sold) { return servers.on_sales(sold); }));
    print_table(outcomes);
    const outcome& locked = outcomes[1];
    std::printf("  Without a lock, %d buyers paid for an item that was not in stock.\n",
                std::max(0, outcomes[0].sold - items));
    if (locked.sold != items || locked.overlaps != 0 || locked.tokens_out_of_order != 0 ||
        !servers.all_are_killed()) {
        std::printf("The sale with the lock failed.\n");
        return 1;
    }
    std::printf(
        "  With Redlock, the sale went on without the two servers: every sale had its item, no "
        "two\n"
        "  sales overlapped, and each had a larger fencing token than the sale before.\n");
    return 0;
}
#else
int run_redlock_sale() {
    std::fprintf(stderr,
                 "This Pawl was built without Redis; build it with -DPAWL_WITH_REDIS=ON.\n");
    return 69;
}
#endif

}  // namespace flash_sale
